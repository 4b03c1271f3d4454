-- Directories that push people and groups by SCIM. Instants are epoch milliseconds.
CREATE TABLE scim_directories (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  name TEXT NOT NULL,
  -- SHA-256 of the token in hex: the token itself is nowhere.
  token_hash TEXT NOT NULL UNIQUE,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX scim_directories_organization ON scim_directories (organization_id, created_at DESC, id);

-- id is the user_id in members. A person is of one directory of the organization.
CREATE TABLE scim_users (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  id TEXT NOT NULL,
  directory_id TEXT NOT NULL REFERENCES scim_directories (id),
  user_name TEXT NOT NULL,
  external_id TEXT,
  active INTEGER NOT NULL CHECK (active IN (0, 1)),
  email TEXT,
  first_name TEXT,
  last_name TEXT,
  -- JSON: the attributes of src/scim/attributes.ts that the directory gave.
  attributes TEXT NOT NULL,
  version INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (organization_id, id)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX scim_users_name ON scim_users (directory_id, lower(user_name));
CREATE INDEX scim_users_external ON scim_users (directory_id, external_id);
CREATE INDEX scim_users_page ON scim_users (directory_id, created_at, id);

-- A deleted group keeps its row, without members, until the next sync job counts it.
CREATE TABLE scim_groups (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  directory_id TEXT NOT NULL,
  display_name TEXT NOT NULL,
  external_id TEXT,
  version INTEGER NOT NULL DEFAULT 1,
  -- Of the last write, by which the later statements of its batch know that it took place.
  stamp TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  deleted_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX scim_groups_page ON scim_groups (directory_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX scim_groups_organization ON scim_groups (organization_id, created_at DESC, id);

CREATE TABLE scim_group_members (
  group_id TEXT NOT NULL REFERENCES scim_groups (id) ON DELETE CASCADE,
  user_id TEXT NOT NULL,
  organization_id TEXT NOT NULL,
  PRIMARY KEY (group_id, user_id),
  FOREIGN KEY (organization_id, user_id) REFERENCES scim_users (organization_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX scim_group_members_user ON scim_group_members (organization_id, user_id);

CREATE TABLE scim_group_mappings (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  scim_group_id TEXT NOT NULL REFERENCES scim_groups (id) ON DELETE CASCADE,
  workspace_id TEXT NOT NULL REFERENCES workspaces (id),
  role TEXT NOT NULL CHECK (role IN ('admin', 'member')),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (scim_group_id, workspace_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX scim_group_mappings_organization ON scim_group_mappings (organization_id, created_at DESC, id);
CREATE INDEX scim_group_mappings_workspace ON scim_group_mappings (workspace_id);

-- Whom a directory deactivated or deleted: no key is made in their name any more.
CREATE TABLE scim_leavers (
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  user_id TEXT NOT NULL,
  left_at INTEGER NOT NULL,
  PRIMARY KEY (organization_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE scim_sync_jobs (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  status TEXT NOT NULL CHECK (status IN ('queued', 'running', 'succeeded', 'failed')),
  phase TEXT NOT NULL CHECK (phase IN ('users', 'groups', 'leftovers')),
  -- The last id that is done in this phase.
  position TEXT NOT NULL,
  synced_groups INTEGER NOT NULL DEFAULT 0,
  deleted_groups INTEGER NOT NULL DEFAULT 0,
  error_message TEXT,
  -- Until when somebody works on it.
  leased_until INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX scim_sync_jobs_open ON scim_sync_jobs (created_at) WHERE status IN ('queued', 'running');

-- What groups give to whom: a line a mapping, so that one person may have several in a workspace.
CREATE VIEW scim_grants AS
SELECT m.organization_id, m.workspace_id, gm.user_id, m.role, m.scim_group_id
FROM scim_group_mappings m
JOIN workspaces w ON w.id = m.workspace_id AND w.deleted_at IS NULL
JOIN scim_group_members gm ON gm.group_id = m.scim_group_id
JOIN scim_users u ON u.organization_id = m.organization_id AND u.id = gm.user_id AND u.active = 1
JOIN members p ON p.organization_id = u.organization_id AND p.user_id = u.id;

-- Who was added by hand and is in a mapped group, too, has two rows: each source is changed by itself.
CREATE TABLE workspace_members_by_source (
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  organization_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('admin', 'member')),
  source TEXT NOT NULL DEFAULT 'manual' CHECK (source IN ('manual', 'scim')),
  created_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, user_id, source),
  FOREIGN KEY (organization_id, user_id) REFERENCES members (organization_id, user_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
INSERT INTO workspace_members_by_source (workspace_id, organization_id, user_id, role, source, created_at)
SELECT workspace_id, organization_id, user_id, role, source, created_at FROM workspace_members;
DROP TABLE workspace_members;
ALTER TABLE workspace_members_by_source RENAME TO workspace_members;
CREATE INDEX workspace_members_member ON workspace_members (organization_id, user_id);
