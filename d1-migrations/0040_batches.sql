-- Batches of requests, which run in the background (durable-objects/batch). Instants are epoch milliseconds.
CREATE TABLE batches (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  workspace_id TEXT NOT NULL REFERENCES workspaces (id),
  -- The key that created it, which every request runs with.
  key_hash TEXT NOT NULL,
  intern_id TEXT,
  status TEXT NOT NULL CHECK (status IN ('validating', 'failed', 'in_progress', 'finalizing', 'completed', 'expired',
    'cancelling', 'cancelled')),
  endpoint TEXT NOT NULL,
  input_file_id TEXT NOT NULL,
  output_file_id TEXT,
  error_file_id TEXT,
  -- JSON: the client's own pairs; null for none.
  metadata TEXT,
  -- JSON: where and by which program it was created.
  origin TEXT NOT NULL,
  -- JSON: what is wrong with the input file, or with the output.
  errors TEXT NOT NULL DEFAULT '[]',
  -- JSON: counts of requests and tokens.
  progress TEXT NOT NULL DEFAULT '{}',
  -- JSON: when it reached each status.
  reached TEXT NOT NULL DEFAULT '{}',
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX batches_workspace ON batches (organization_id, workspace_id, id);
CREATE INDEX batches_unfinished ON batches (updated_at)
  WHERE status IN ('validating', 'in_progress', 'finalizing', 'cancelling');
-- Of a file that a batch wrote, which is given back although its source is 'upload': no CHECK can be widened.
ALTER TABLE files ADD COLUMN batch_id TEXT;
