-- The catalogue: what could be called if its provider were configured. KV holds the compiled copy.
CREATE TABLE models (
  id TEXT PRIMARY KEY,
  source TEXT NOT NULL CHECK (source IN ('seed', 'operator')),
  -- JSON of Model in src/models/catalogue.ts, without endpoints.
  facts TEXT NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE endpoints (
  model_id TEXT NOT NULL REFERENCES models (id) ON DELETE CASCADE,
  provider TEXT NOT NULL,
  source TEXT NOT NULL CHECK (source IN ('seed', 'operator')),
  -- JSON of Endpoint in src/models/catalogue.ts, without model and provider.
  facts TEXT NOT NULL,
  -- JSON of Pricing: the operator's own price, which wins over the seeded one and outlives a new seed.
  price_override TEXT,
  disabled INTEGER NOT NULL DEFAULT 0 CHECK (disabled IN (0, 1)),
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (model_id, provider)
) STRICT, WITHOUT ROWID;
