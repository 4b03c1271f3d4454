-- One-time links that connect a coding tool with an API key. A row is deleted when its link is redeemed.
CREATE TABLE connect_links (
  -- SHA-256 of the token in hex: the token itself is nowhere.
  hash TEXT PRIMARY KEY NOT NULL,
  -- What the audit log calls it.
  id TEXT NOT NULL,
  organization_id TEXT NOT NULL,
  -- Of the key, as is its data key, which seals the secret.
  workspace_id TEXT NOT NULL,
  key_hash TEXT NOT NULL,
  client TEXT NOT NULL,
  -- Null for one that the client is made for.
  model TEXT,
  sealed TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX connect_links_age ON connect_links (expires_at);
CREATE INDEX connect_links_keys ON connect_links (key_hash);
