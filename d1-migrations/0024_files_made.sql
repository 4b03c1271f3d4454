-- Files that interns make: source 'intern'. A CHECK is changed with its table alone.
CREATE TABLE files_made (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  workspace_id TEXT NOT NULL REFERENCES workspaces (id),
  filename TEXT NOT NULL,
  mime_type TEXT NOT NULL,
  -- 0 while its bytes are on their way.
  size_bytes INTEGER NOT NULL,
  -- upload: brought by a caller, and never given back. export: made here, for management keys. intern: made by one.
  source TEXT NOT NULL CHECK (source IN ('upload', 'export', 'intern')),
  is_ready INTEGER NOT NULL CHECK (is_ready IN (0, 1)),
  created_at INTEGER NOT NULL,
  deleted_at INTEGER
) STRICT, WITHOUT ROWID;
INSERT INTO files_made SELECT id, organization_id, workspace_id, filename, mime_type, size_bytes, source, is_ready,
  created_at, deleted_at FROM files;
DROP TABLE files;
ALTER TABLE files_made RENAME TO files;
CREATE INDEX files_workspace ON files (organization_id, workspace_id, id) WHERE deleted_at IS NULL AND is_ready = 1;
CREATE INDEX files_stale ON files (created_at) WHERE deleted_at IS NOT NULL OR is_ready = 0;
