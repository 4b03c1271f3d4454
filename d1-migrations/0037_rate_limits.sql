-- Rate limits of a key; null for none. Those of workspaces and guardrails are in their settings and rules.
ALTER TABLE api_keys ADD COLUMN requests_per_minute INTEGER;
ALTER TABLE api_keys ADD COLUMN tokens_per_minute INTEGER;
ALTER TABLE api_keys ADD COLUMN concurrent_requests INTEGER;
-- JSON array of models to try where a limit refuses the requested ones; null for none.
ALTER TABLE api_keys ADD COLUMN over_budget_models TEXT;
