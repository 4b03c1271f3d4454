-- Keys that seal the secrets of a workspace or a vault, themselves sealed under the master key. Instants are epoch milliseconds.
CREATE TABLE data_keys (
  -- The id of what it belongs to.
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  workspace_id TEXT NOT NULL REFERENCES workspaces (id),
  -- Which master key it is sealed under: a digest, no part of the key.
  master_id TEXT NOT NULL,
  wrapped TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  rewrapped_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX data_keys_master ON data_keys (master_id, id);

-- An organization's own keys for providers. sealed holds the key, under the data key of the workspace.
CREATE TABLE byok_credentials (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  workspace_id TEXT NOT NULL REFERENCES workspaces (id),
  provider TEXT NOT NULL,
  name TEXT,
  label TEXT NOT NULL,
  -- Emptied when the credential is deleted.
  sealed TEXT NOT NULL,
  -- New with every key that is put here.
  version TEXT NOT NULL,
  sort_order INTEGER NOT NULL,
  disabled INTEGER NOT NULL CHECK (disabled IN (0, 1)),
  is_byok_only INTEGER NOT NULL CHECK (is_byok_only IN (0, 1)),
  is_fallback INTEGER NOT NULL CHECK (is_fallback IN (0, 1)),
  is_required INTEGER NOT NULL CHECK (is_required IN (0, 1)),
  declared_zdr INTEGER CHECK (declared_zdr IN (0, 1)),
  -- JSON arrays of strings; NULL for no restriction.
  allowed_api_key_hashes TEXT,
  allowed_models TEXT,
  allowed_user_ids TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER,
  deleted_at INTEGER,
  CHECK (is_byok_only = 0 OR is_fallback = 0)
) STRICT, WITHOUT ROWID;
CREATE INDEX byok_credentials_workspace ON byok_credentials (workspace_id, provider, sort_order) WHERE deleted_at IS NULL;
