-- Secrets that agents use and nobody reads: of an intern (its vault_id), or of a workspace. Instants are epoch milliseconds.
CREATE TABLE vault_secrets (
  -- The id of the vault, and of the data key that seals all of it.
  vault_id TEXT NOT NULL,
  name TEXT NOT NULL,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  workspace_id TEXT NOT NULL REFERENCES workspaces (id),
  -- JSON array of hostnames. NULL, as fingerprint is, only where a secret was brought from before there were hosts: it is released to nobody.
  hosts TEXT,
  fingerprint TEXT,
  sealed TEXT NOT NULL,
  -- New with every value that is put here.
  version TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (vault_id, name)
) STRICT;
CREATE INDEX vault_secrets_workspace ON vault_secrets (workspace_id);
