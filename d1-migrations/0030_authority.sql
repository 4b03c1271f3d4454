-- The key that created this one, where the creator's limits and guardrails apply to it: src/keys/lineage.ts. It never changes.
ALTER TABLE api_keys ADD COLUMN parent_hash TEXT;
CREATE INDEX api_keys_parent ON api_keys (parent_hash) WHERE parent_hash IS NOT NULL;

-- How the key came to be: POST /keys, an app's authorization code, an intern, a workload's token exchange.
ALTER TABLE api_keys ADD COLUMN source TEXT NOT NULL DEFAULT 'created'
  CHECK (source IN ('created', 'app', 'intern', 'workload'));
UPDATE api_keys SET source = 'intern' WHERE intern_id IS NOT NULL;
UPDATE api_keys SET source = 'app' WHERE hash IN (SELECT key_hash FROM oauth_codes WHERE key_hash IS NOT NULL);
UPDATE api_keys SET source = 'workload' WHERE hash IN (SELECT key_hash FROM oauth_tokens);

-- What kind of key disabled this one; null for keys that are enabled, or that a directory or an older version disabled.
ALTER TABLE api_keys ADD COLUMN disabled_by TEXT CHECK (disabled_by IN ('management', 'provisioning'));
