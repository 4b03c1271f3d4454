-- Money is integer nano-USD, instants are epoch milliseconds.
CREATE TABLE organizations (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE members (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  user_id TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member')),
  created_at INTEGER NOT NULL,
  PRIMARY KEY (organization_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE workspaces (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  slug TEXT NOT NULL,
  name TEXT NOT NULL,
  is_default INTEGER NOT NULL DEFAULT 0 CHECK (is_default IN (0, 1)),
  created_at INTEGER NOT NULL,
  UNIQUE (organization_id, slug)
) STRICT;
CREATE UNIQUE INDEX workspaces_default ON workspaces (organization_id) WHERE is_default = 1;

-- hash is the SHA-256 of the key in hex: the key itself is nowhere.
CREATE TABLE api_keys (
  hash TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  workspace_id TEXT NOT NULL REFERENCES workspaces (id),
  kind TEXT NOT NULL CHECK (kind IN ('normal', 'management', 'provisioning', 'free_tier')),
  name TEXT NOT NULL,
  label TEXT NOT NULL,
  creator_user_id TEXT,
  external_user TEXT,
  limit_nano INTEGER,
  limit_reset TEXT CHECK (limit_reset IN ('daily', 'weekly', 'monthly')),
  include_byok_in_limit INTEGER NOT NULL DEFAULT 0 CHECK (include_byok_in_limit IN (0, 1)),
  disabled INTEGER NOT NULL DEFAULT 0 CHECK (disabled IN (0, 1)),
  expires_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER,
  deleted_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX api_keys_workspace ON api_keys (organization_id, workspace_id, created_at DESC, hash);
