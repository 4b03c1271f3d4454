-- Files whose bytes are in R2, under organization/workspace/id. Instants are epoch milliseconds.
CREATE TABLE files (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  workspace_id TEXT NOT NULL REFERENCES workspaces (id),
  filename TEXT NOT NULL,
  mime_type TEXT NOT NULL,
  -- 0 while its bytes are on their way.
  size_bytes INTEGER NOT NULL,
  -- upload: brought by a caller, and never given back. export: made here, for management keys.
  source TEXT NOT NULL CHECK (source IN ('upload', 'export')),
  is_ready INTEGER NOT NULL CHECK (is_ready IN (0, 1)),
  created_at INTEGER NOT NULL,
  deleted_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX files_workspace ON files (organization_id, workspace_id, id) WHERE deleted_at IS NULL AND is_ready = 1;
-- What is to be cleared away.
CREATE INDEX files_stale ON files (created_at) WHERE deleted_at IS NOT NULL OR is_ready = 0;
