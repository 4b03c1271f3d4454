-- People who signed in to the console with the identity provider, and the key that their sessions act with.
CREATE TABLE console_people (
  organization_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  key_hash TEXT NOT NULL,
  PRIMARY KEY (organization_id, user_id)
) STRICT, WITHOUT ROWID;

-- The provider names a person by email, in whichever organization.
CREATE INDEX members_by_email ON members (email) WHERE email IS NOT NULL;
