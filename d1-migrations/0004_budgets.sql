-- What a workspace may spend. Money is integer nano-USD, instants are epoch milliseconds.
ALTER TABLE workspaces ADD COLUMN include_byok_in_budgets INTEGER NOT NULL DEFAULT 0
  CHECK (include_byok_in_budgets IN (0, 1));

CREATE TABLE workspace_budgets (
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  interval TEXT NOT NULL CHECK (interval IN ('daily', 'weekly', 'monthly', 'lifetime')),
  id TEXT NOT NULL,
  limit_nano INTEGER NOT NULL CHECK (limit_nano > 0),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, interval)
) STRICT, WITHOUT ROWID;
