-- Codes that an app exchanges for a key, once. Instants are epoch milliseconds, money nano-USD.
CREATE TABLE oauth_codes (
  -- SHA-256 of the code in hex: the code itself is nowhere.
  hash TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  workspace_id TEXT NOT NULL REFERENCES workspaces (id),
  -- The key that approved: while it works, the code does.
  approved_by TEXT NOT NULL,
  user_id TEXT,
  callback_url TEXT NOT NULL,
  code_challenge TEXT,
  code_challenge_method TEXT CHECK (code_challenge_method IN ('S256', 'plain')),
  key_name TEXT NOT NULL,
  limit_nano INTEGER,
  limit_reset TEXT CHECK (limit_reset IN ('daily', 'weekly', 'monthly')),
  key_expires_at INTEGER,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  -- The key it was exchanged for.
  key_hash TEXT,
  CHECK ((code_challenge IS NULL) = (code_challenge_method IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_codes_age ON oauth_codes (expires_at);

-- Keys that a workload got for a token of its own issuer.
CREATE TABLE oauth_tokens (
  key_hash TEXT PRIMARY KEY,
  policy_id TEXT NOT NULL,
  subject TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_tokens_age ON oauth_tokens (expires_at);
