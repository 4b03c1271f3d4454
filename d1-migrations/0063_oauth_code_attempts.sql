-- How often an exchange of the code was tried.
ALTER TABLE oauth_codes ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;
