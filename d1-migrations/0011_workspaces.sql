-- Workspaces as their organization sets them up, and the people in them. Instants are epoch milliseconds.
ALTER TABLE workspaces ADD COLUMN description TEXT;
ALTER TABLE workspaces ADD COLUMN created_by TEXT;
-- JSON of WorkspaceSettings in src/workspaces/settings.ts; what is not there is as it is by default.
ALTER TABLE workspaces ADD COLUMN settings TEXT NOT NULL DEFAULT '{}';
ALTER TABLE workspaces ADD COLUMN updated_at INTEGER;
-- A deleted workspace keeps its row, for what refers to it. Its slug is made unusable, so that another may take it.
ALTER TABLE workspaces ADD COLUMN deleted_at INTEGER;

ALTER TABLE members ADD COLUMN email TEXT;
ALTER TABLE members ADD COLUMN first_name TEXT;
ALTER TABLE members ADD COLUMN last_name TEXT;
-- scim: the directory put them here, and only the directory takes them away.
ALTER TABLE members ADD COLUMN source TEXT NOT NULL DEFAULT 'manual' CHECK (source IN ('manual', 'scim'));
CREATE UNIQUE INDEX members_email ON members (organization_id, email) WHERE email IS NOT NULL;

-- Not of default workspaces: those have all members of the organization.
CREATE TABLE workspace_members (
  workspace_id TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  organization_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('admin', 'member')),
  source TEXT NOT NULL DEFAULT 'manual' CHECK (source IN ('manual', 'scim')),
  created_at INTEGER NOT NULL,
  PRIMARY KEY (workspace_id, user_id),
  FOREIGN KEY (organization_id, user_id) REFERENCES members (organization_id, user_id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX workspace_members_member ON workspace_members (organization_id, user_id);
CREATE INDEX api_keys_creator ON api_keys (organization_id, creator_user_id) WHERE deleted_at IS NULL;
