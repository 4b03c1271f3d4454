-- Providers that the operator has stopped: no call goes to them, with the gateway's keys or with those of workspaces.
CREATE TABLE disabled_providers (
  provider TEXT PRIMARY KEY NOT NULL,
  disabled_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
