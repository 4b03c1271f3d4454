-- What an organization may spend at one provider in a window. Money is nano-USD, instants are epoch milliseconds.
CREATE TABLE provider_budgets (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  provider TEXT NOT NULL,
  interval TEXT NOT NULL CHECK (interval IN ('daily', 'weekly', 'monthly', 'lifetime')),
  limit_nano INTEGER NOT NULL CHECK (limit_nano > 0),
  include_byok INTEGER NOT NULL DEFAULT 0 CHECK (include_byok IN (0, 1)),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (organization_id, provider, interval)
) STRICT, WITHOUT ROWID;
