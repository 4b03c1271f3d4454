-- What calls of a workspace can name in place of saying it. Instants are epoch milliseconds.
CREATE TABLE presets (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  workspace_id TEXT NOT NULL REFERENCES workspaces (id),
  slug TEXT NOT NULL,
  name TEXT NOT NULL,
  description TEXT,
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'disabled', 'archived')),
  status_updated_at INTEGER,
  -- The version that calls get.
  designated_version_id TEXT,
  creator_user_id TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (workspace_id, slug)
) STRICT, WITHOUT ROWID;
CREATE INDEX presets_workspace ON presets (organization_id, workspace_id, updated_at DESC, id);

CREATE TABLE preset_versions (
  id TEXT PRIMARY KEY,
  preset_id TEXT NOT NULL REFERENCES presets (id) ON DELETE CASCADE,
  version INTEGER NOT NULL CHECK (version > 0),
  -- JSON of PresetConfig in src/presets/config.ts.
  config TEXT NOT NULL,
  system_prompt TEXT,
  creator_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  UNIQUE (preset_id, version)
) STRICT, WITHOUT ROWID;
