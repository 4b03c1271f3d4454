-- HTTP APIs outside the gateway's formats that it forwards to for keys. Money is nano-USD, instants are epoch
-- milliseconds.
CREATE TABLE passthrough_services (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  workspace_id TEXT NOT NULL REFERENCES workspaces (id),
  slug TEXT NOT NULL,
  name TEXT NOT NULL,
  base_url TEXT NOT NULL,
  -- Headers and query parameters as JSON, sealed; their version is authenticated.
  sealed TEXT NOT NULL,
  version TEXT NOT NULL,
  -- JSON array of {methods, path, priceNano}: the requests that are forwarded.
  rules TEXT NOT NULL,
  -- JSON array of hashes of keys; null for the workspace's own keys.
  allowed_key_hashes TEXT,
  timeout_ms INTEGER NOT NULL,
  enabled INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
  created_at INTEGER NOT NULL,
  updated_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX passthrough_services_slug ON passthrough_services (workspace_id, slug);
CREATE INDEX passthrough_services_workspace ON passthrough_services (organization_id, workspace_id, created_at);
