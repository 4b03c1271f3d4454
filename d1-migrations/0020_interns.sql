-- An intern's key is a normal key that is bound to it. Instants are epoch milliseconds.
ALTER TABLE api_keys ADD COLUMN intern_id TEXT;
CREATE INDEX api_keys_intern ON api_keys (intern_id) WHERE intern_id IS NOT NULL;

ALTER TABLE organizations ADD COLUMN interns_programme INTEGER NOT NULL DEFAULT 1 CHECK (interns_programme IN (0, 1));
ALTER TABLE organizations ADD COLUMN vault_writes INTEGER NOT NULL DEFAULT 1 CHECK (vault_writes IN (0, 1));

-- What an intern does now lives in its Durable Object; this row is what lists and other routes see of it.
CREATE TABLE interns (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  workspace_id TEXT NOT NULL REFERENCES workspaces (id),
  creator_user_id TEXT,
  name TEXT NOT NULL,
  description TEXT,
  instructions TEXT,
  model TEXT,
  host TEXT NOT NULL CHECK (host IN ('embedded', 'daemon', 'cloudflare-container')),
  status TEXT NOT NULL CHECK (status IN ('awaiting_vendor_install', 'queued', 'provisioning', 'running', 'failed',
    'stopped', 'destroying', 'destroy_failed')),
  hostname TEXT,
  -- JSON: {step_label, step_number, total_steps}
  progress TEXT,
  last_failure_message TEXT,
  vault_id TEXT NOT NULL UNIQUE,
  attached_vault_id TEXT,
  -- The intern's own key: its hash, and the key sealed under the data key of the workspace.
  key_hash TEXT NOT NULL,
  sealed_key TEXT NOT NULL,
  -- Of what lets a daemon dial in: SHA-256 in hex, null where there is none.
  join_token_hash TEXT,
  -- Of what opens a running intern's daemon: random, another at each provision. The token is made from it.
  access_nonce TEXT,
  idempotency_key TEXT NOT NULL,
  body_hash TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX interns_name ON interns (workspace_id, coalesce(creator_user_id, ''), name);
CREATE UNIQUE INDEX interns_idempotency ON interns (workspace_id, coalesce(creator_user_id, ''), idempotency_key);
CREATE UNIQUE INDEX interns_hostname ON interns (hostname) WHERE hostname IS NOT NULL;
CREATE INDEX interns_workspace ON interns (organization_id, workspace_id, created_at DESC, id);
