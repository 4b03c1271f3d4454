-- Alerts of an organization, where they are sent, and each delivery. Instants are epoch milliseconds.
CREATE TABLE alerts (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  -- Null for what concerns the whole organization.
  workspace_id TEXT,
  kind TEXT NOT NULL,
  message TEXT NOT NULL,
  -- JSON: what the alert is about, in the fields of the API.
  data TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX alerts_newest ON alerts (organization_id, created_at);

CREATE TABLE alert_channels (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  workspace_id TEXT NOT NULL REFERENCES workspaces (id),
  -- 1: alerts of every workspace; 0: those of its own.
  all_workspaces INTEGER NOT NULL CHECK (all_workspaces IN (0, 1)),
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  enabled INTEGER NOT NULL CHECK (enabled IN (0, 1)),
  -- JSON: kinds of alerts; null for all.
  kinds TEXT,
  config TEXT NOT NULL,
  sealed TEXT NOT NULL,
  version TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  last_success_at INTEGER,
  last_error_at INTEGER,
  last_error TEXT
) STRICT, WITHOUT ROWID;
CREATE INDEX alert_channels_organization ON alert_channels (organization_id);

CREATE TABLE alert_deliveries (
  alert_id TEXT NOT NULL REFERENCES alerts (id) ON DELETE CASCADE,
  channel_id TEXT NOT NULL REFERENCES alert_channels (id) ON DELETE CASCADE,
  organization_id TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('pending', 'delivered', 'failed')),
  attempts INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  last_error TEXT,
  PRIMARY KEY (alert_id, channel_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX alert_deliveries_pending ON alert_deliveries (due_at) WHERE state = 'pending';

-- JSON: thresholds of limits in percent, and what else is watched. Null for the defaults.
ALTER TABLE organizations ADD COLUMN alert_settings TEXT;
