-- Servers of the Model Context Protocol that the gateway calls for keys. Money is nano-USD, instants are epoch
-- milliseconds.
CREATE TABLE mcp_servers (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  workspace_id TEXT NOT NULL REFERENCES workspaces (id),
  slug TEXT NOT NULL,
  name TEXT NOT NULL,
  url TEXT NOT NULL,
  -- The headers as JSON, sealed; their version is authenticated.
  sealed TEXT NOT NULL,
  version TEXT NOT NULL,
  -- JSON array of names of tools; null for all.
  allowed_tools TEXT,
  price_nano INTEGER NOT NULL DEFAULT 0,
  -- JSON: prices of single tools.
  tool_prices TEXT NOT NULL DEFAULT '{}',
  timeout_ms INTEGER NOT NULL,
  enabled INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
  created_at INTEGER NOT NULL,
  updated_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX mcp_servers_slug ON mcp_servers (workspace_id, slug);
CREATE INDEX mcp_servers_workspace ON mcp_servers (organization_id, workspace_id, created_at);
-- JSON array of tools of these servers that a key may call; null for none.
ALTER TABLE api_keys ADD COLUMN mcp_tools TEXT;
