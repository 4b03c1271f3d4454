-- One row a call, written by the ledger that charged it. Money is nano-USD, instants epoch milliseconds.
CREATE TABLE generations (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  key_hash TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  model TEXT NOT NULL,
  upstream_id TEXT,
  cost_nano INTEGER NOT NULL,
  byok_cost_nano INTEGER NOT NULL,
  -- JSON of Generation in src/generations/generation.ts: the whole record.
  record TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX generations_upstream ON generations (upstream_id) WHERE upstream_id IS NOT NULL;
CREATE INDEX generations_workspace ON generations (organization_id, workspace_id, created_at);
CREATE INDEX generations_key ON generations (key_hash, created_at);
