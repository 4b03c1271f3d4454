-- What was used, by day, for good. Days are those of UTC in which calls were charged, as YYYY-MM-DD; money is nano-USD.
ALTER TABLE generations ADD COLUMN settled_at INTEGER NOT NULL DEFAULT 0;
UPDATE generations SET settled_at = created_at;
DROP INDEX generations_workspace;
DROP INDEX generations_key;
CREATE INDEX generations_settled ON generations (organization_id, settled_at);

-- Days with generations that are not in usage_days yet, written with them.
CREATE TABLE unsummed_days (
  organization_id TEXT NOT NULL,
  day TEXT NOT NULL,
  PRIMARY KEY (organization_id, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE usage_days (
  organization_id TEXT NOT NULL,
  day TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  key_hash TEXT NOT NULL,
  model TEXT NOT NULL,
  provider TEXT NOT NULL,
  app TEXT NOT NULL,
  api_type TEXT NOT NULL,
  -- Calls that were answered, and those that were not.
  requests INTEGER NOT NULL,
  refused INTEGER NOT NULL,
  cost_nano INTEGER NOT NULL,
  byok_cost_nano INTEGER NOT NULL,
  prompt_tokens INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL,
  reasoning_tokens INTEGER NOT NULL,
  cached_tokens INTEGER NOT NULL,
  cache_write_tokens INTEGER NOT NULL,
  -- Milliseconds and how many calls they are of.
  latency_ms INTEGER NOT NULL,
  latency_count INTEGER NOT NULL,
  generation_ms INTEGER NOT NULL,
  generation_count INTEGER NOT NULL,
  PRIMARY KEY (organization_id, day, workspace_id, key_hash, model, provider, app, api_type)
) STRICT, WITHOUT ROWID;
CREATE INDEX usage_days_day ON usage_days (day);

-- What the daily comparison of a ledger with its generations found: JSON of Reconciliation in src/reconciliation.
CREATE TABLE reconciliations (
  organization_id TEXT PRIMARY KEY,
  at INTEGER NOT NULL,
  report TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO unsummed_days (organization_id, day)
SELECT DISTINCT organization_id, date(settled_at / 1000, 'unixepoch') FROM generations;
