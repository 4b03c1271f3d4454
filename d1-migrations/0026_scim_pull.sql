-- A directory that the gateway reads by itself, instead of being pushed to: where, and its token, under the data key of a
-- workspace.
ALTER TABLE scim_directories ADD COLUMN pull_url TEXT;
ALTER TABLE scim_directories ADD COLUMN pull_workspace_id TEXT;
ALTER TABLE scim_directories ADD COLUMN pull_sealed TEXT;
ALTER TABLE scim_directories ADD COLUMN pull_version TEXT;
ALTER TABLE scim_directories ADD COLUMN pull_label TEXT;

-- The ids that a directory that is read has for them.
ALTER TABLE scim_users ADD COLUMN remote_id TEXT;
ALTER TABLE scim_groups ADD COLUMN remote_id TEXT;
CREATE UNIQUE INDEX scim_users_remote ON scim_users (directory_id, remote_id) WHERE remote_id IS NOT NULL;
CREATE UNIQUE INDEX scim_groups_remote ON scim_groups (directory_id, remote_id)
  WHERE remote_id IS NOT NULL AND deleted_at IS NULL;

-- What a sync job has read of a directory so far. It takes effect all at once, when everything is read.
CREATE TABLE scim_pulled (
  job_id TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('users', 'groups')),
  remote_id TEXT NOT NULL,
  -- For the row, where it is a new one.
  new_id TEXT NOT NULL,
  name TEXT NOT NULL,
  external_id TEXT,
  -- Of users.
  active INTEGER,
  email TEXT,
  first_name TEXT,
  last_name TEXT,
  attributes TEXT,
  -- Of groups: JSON array of remote ids.
  members TEXT,
  PRIMARY KEY (job_id, kind, remote_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE scim_sync_jobs_with_pulls (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL REFERENCES organizations (id),
  status TEXT NOT NULL CHECK (status IN ('queued', 'running', 'succeeded', 'failed')),
  phase TEXT NOT NULL CHECK (phase IN ('pull', 'users', 'groups', 'leftovers')),
  -- The last id that is done in this phase: of directories, users or groups.
  position TEXT NOT NULL,
  -- JSON: how far the directory after `position` is read; NULL where it is not begun.
  pull_cursor TEXT,
  synced_groups INTEGER NOT NULL DEFAULT 0,
  deleted_groups INTEGER NOT NULL DEFAULT 0,
  error_message TEXT,
  -- Until when somebody works on it, or nobody is to.
  leased_until INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER
) STRICT, WITHOUT ROWID;
INSERT INTO scim_sync_jobs_with_pulls (id, organization_id, status, phase, position, synced_groups, deleted_groups,
  error_message, leased_until, created_at, started_at, finished_at)
SELECT id, organization_id, status, phase, position, synced_groups, deleted_groups, error_message, leased_until,
  created_at, started_at, finished_at FROM scim_sync_jobs;
DROP TABLE scim_sync_jobs;
ALTER TABLE scim_sync_jobs_with_pulls RENAME TO scim_sync_jobs;
CREATE INDEX scim_sync_jobs_open ON scim_sync_jobs (created_at) WHERE status IN ('queued', 'running');

-- Said in src/scim/settle-store.ts, in the order in which it is looked up.
DROP VIEW scim_grants;
