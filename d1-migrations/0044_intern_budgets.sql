-- A limit a UTC day beside `limit_nano`, of an intern's key, in nano-USD; null for none.
ALTER TABLE api_keys ADD COLUMN daily_limit_nano INTEGER;
-- Nano-USD that the keys which this one replaced have spent: they count under its limit without a reset.
ALTER TABLE api_keys ADD COLUMN spent_before_nano INTEGER NOT NULL DEFAULT 0;
