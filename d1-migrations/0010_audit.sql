-- Who did what to an account, when and from where. Instants are epoch milliseconds.
CREATE TABLE audit_log (
  id TEXT PRIMARY KEY,
  -- Empty for what the operator does before there is an organization.
  organization_id TEXT NOT NULL,
  -- No reference: an entry outlives what it tells of.
  workspace_id TEXT,
  created_at INTEGER NOT NULL,
  action TEXT NOT NULL,
  resource_type TEXT NOT NULL,
  resource_id TEXT NOT NULL,
  key_hash TEXT NOT NULL,
  key_label TEXT NOT NULL,
  creator_user_id TEXT,
  ip TEXT,
  user_agent TEXT,
  request_id TEXT NOT NULL,
  -- JSON array of names.
  changed_fields TEXT NOT NULL,
  -- JSON object: new values of those that may be told.
  changes TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_log_organization ON audit_log (organization_id, created_at DESC, id DESC);
CREATE INDEX audit_log_age ON audit_log (created_at);
