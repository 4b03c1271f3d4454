-- Counters for GET /metrics, added up from generations. They only grow. Milliseconds and nano-USD.
CREATE TABLE metric_series (
  organization_id TEXT NOT NULL,
  model TEXT NOT NULL,
  provider TEXT NOT NULL,
  status INTEGER NOT NULL,
  calls INTEGER NOT NULL,
  errors INTEGER NOT NULL,
  prompt_tokens INTEGER NOT NULL,
  completion_tokens INTEGER NOT NULL,
  cached_tokens INTEGER NOT NULL,
  cost_nano INTEGER NOT NULL,
  byok_cost_nano INTEGER NOT NULL,
  duration_ms INTEGER NOT NULL,
  first_token_ms INTEGER NOT NULL,
  first_token_count INTEGER NOT NULL,
  -- JSON arrays: calls in each bucket of src/observability/exposition.ts, not cumulative.
  duration_buckets TEXT NOT NULL,
  first_token_buckets TEXT NOT NULL,
  PRIMARY KEY (organization_id, model, provider, status)
) STRICT, WITHOUT ROWID;

-- Generations of an organization that were settled up to here are in metric_series.
CREATE TABLE metric_watermarks (
  organization_id TEXT PRIMARY KEY,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
