-- The first of the keys that this one replaced: the ledger counts this key's calls there too, so that windows and budgets
-- continue.
ALTER TABLE api_keys ADD COLUMN counter_hash TEXT;
CREATE INDEX api_keys_counter ON api_keys (counter_hash) WHERE counter_hash IS NOT NULL;
