-- Lists of calls: those of a key and those of a session, newest first.
CREATE INDEX generations_by_key ON generations (organization_id, key_hash, settled_at);
CREATE INDEX generations_session ON generations (organization_id, record ->> 'sessionId', settled_at)
  WHERE record ->> 'sessionId' IS NOT NULL;

-- Calls that were rejected before anything was held: no generation exists for them. A sample where a key is rejected
-- often (src/inference/rejections.ts). Instants are epoch milliseconds.
CREATE TABLE rejected_calls (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  key_hash TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  model TEXT NOT NULL,
  -- JSON of Generation in src/ledger/generation.ts, with nothing charged.
  record TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX rejected_calls_organization ON rejected_calls (organization_id, created_at);
CREATE INDEX rejected_calls_age ON rejected_calls (created_at);
