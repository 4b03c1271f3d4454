-- The former token of a directory, valid until the time in milliseconds, while the directory changes to the new one.
ALTER TABLE scim_directories ADD COLUMN previous_token_hash TEXT;
ALTER TABLE scim_directories ADD COLUMN previous_token_expires_at INTEGER;
CREATE INDEX scim_directories_previous_token ON scim_directories (previous_token_hash)
  WHERE previous_token_hash IS NOT NULL;
