-- What counts in the budgets of guardrails and providers, by day, for good. Days are those of UTC in which calls were
-- charged, as YYYY-MM-DD; a scope is one of the ledger; money is nano-USD.
CREATE TABLE scope_days (
  organization_id TEXT NOT NULL,
  day TEXT NOT NULL,
  scope TEXT NOT NULL,
  cost_nano INTEGER NOT NULL,
  byok_cost_nano INTEGER NOT NULL,
  PRIMARY KEY (organization_id, day, scope)
) STRICT, WITHOUT ROWID;
