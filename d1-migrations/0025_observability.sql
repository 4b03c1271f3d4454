-- Where a workspace's calls are told of. Instants are epoch milliseconds.
CREATE TABLE destinations (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  workspace_id TEXT NOT NULL REFERENCES workspaces (id),
  type TEXT NOT NULL,
  name TEXT NOT NULL,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  -- JSON of what is no secret in its configuration.
  config TEXT NOT NULL,
  -- JSON of the rest, under the data key of the workspace. Emptied when the destination is deleted.
  sealed TEXT NOT NULL,
  -- New with every secret that is put here.
  version TEXT NOT NULL,
  -- JSON array of strings; NULL for all keys.
  api_key_hashes TEXT,
  -- JSON; NULL for none.
  filter_rules TEXT,
  -- JSON array of strings.
  regions TEXT NOT NULL,
  sampling_rate REAL NOT NULL,
  privacy_mode INTEGER NOT NULL CHECK (privacy_mode IN (0, 1)),
  broadcast_generation_cost INTEGER NOT NULL CHECK (broadcast_generation_cost IN (0, 1)),
  broadcast_generation_identity INTEGER NOT NULL CHECK (broadcast_generation_identity IN (0, 1)),
  broadcast_generation_request_context INTEGER NOT NULL CHECK (broadcast_generation_request_context IN (0, 1)),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted_at INTEGER,
  -- How deliveries go. paused_until: nothing is tried before. failures: since the last that went well.
  last_success_at INTEGER,
  last_error_at INTEGER,
  last_error TEXT,
  failures INTEGER NOT NULL DEFAULT 0,
  paused_until INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX destinations_workspace ON destinations (workspace_id, created_at) WHERE deleted_at IS NULL;

-- Calls that a destination has not taken yet. What was said in them is in R2, under the id of the batch.
CREATE TABLE broadcast_batches (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  destination_id TEXT NOT NULL,
  -- JSON array of ids of generations, and how many they are.
  generation_ids TEXT NOT NULL,
  calls INTEGER NOT NULL,
  -- pending: tried again at due_at. dead: given up, until somebody asks for it again.
  state TEXT NOT NULL CHECK (state IN ('pending', 'dead')),
  attempts INTEGER NOT NULL,
  -- How many of them were refused for what they say.
  rejections INTEGER NOT NULL,
  -- From when on it is tried, or was given up.
  since INTEGER NOT NULL,
  due_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX broadcast_batches_destination ON broadcast_batches (destination_id, state);
CREATE INDEX broadcast_batches_due ON broadcast_batches (state, due_at);
