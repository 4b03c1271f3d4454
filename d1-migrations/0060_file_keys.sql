-- The key that made a file: keys of apps and of the free tier see only their own. From the audit log for existing files.
ALTER TABLE files ADD COLUMN key_hash TEXT;
UPDATE files SET key_hash = a.key_hash FROM audit_log a
  WHERE a.action = 'file.create' AND a.resource_id = files.id AND a.organization_id = files.organization_id;
