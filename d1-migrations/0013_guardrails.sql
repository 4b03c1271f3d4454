-- What the calls of some keys and people may do. Money is integer nano-USD, instants are epoch milliseconds.
CREATE TABLE guardrails (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  workspace_id TEXT NOT NULL REFERENCES workspaces (id),
  -- 1: of every key of its workspace, assigned or not.
  is_default INTEGER NOT NULL DEFAULT 0 CHECK (is_default IN (0, 1)),
  name TEXT NOT NULL,
  description TEXT,
  limit_nano INTEGER CHECK (limit_nano > 0),
  reset_interval TEXT CHECK (reset_interval IN ('daily', 'weekly', 'monthly')),
  include_byok_in_budgets INTEGER NOT NULL DEFAULT 0 CHECK (include_byok_in_budgets IN (0, 1)),
  -- JSON of GuardrailRules in src/guardrails/guardrail.ts; what is not there is not restricted.
  rules TEXT NOT NULL DEFAULT '{}',
  created_at INTEGER NOT NULL,
  updated_at INTEGER,
  CONSTRAINT limit_with_interval CHECK ((limit_nano IS NULL) = (reset_interval IS NULL))
) STRICT;
CREATE INDEX guardrails_workspace ON guardrails (organization_id, workspace_id, created_at DESC, id);
CREATE UNIQUE INDEX guardrails_default ON guardrails (workspace_id) WHERE is_default = 1;

-- A key has at most one.
CREATE TABLE guardrail_keys (
  key_hash TEXT PRIMARY KEY REFERENCES api_keys (hash) ON DELETE CASCADE,
  id TEXT NOT NULL,
  guardrail_id TEXT NOT NULL REFERENCES guardrails (id) ON DELETE CASCADE,
  organization_id TEXT NOT NULL,
  assigned_by TEXT,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX guardrail_keys_guardrail ON guardrail_keys (organization_id, guardrail_id, created_at DESC, id);

CREATE TABLE guardrail_members (
  organization_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  guardrail_id TEXT NOT NULL REFERENCES guardrails (id) ON DELETE CASCADE,
  id TEXT NOT NULL,
  assigned_by TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (organization_id, user_id, guardrail_id),
  FOREIGN KEY (organization_id, user_id) REFERENCES members (organization_id, user_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX guardrail_members_guardrail ON guardrail_members (organization_id, guardrail_id, created_at DESC, id);
