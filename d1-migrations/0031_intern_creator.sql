-- The key that made an intern: it, keys of the same user and management keys may take its secrets elsewhere. Null on
-- older rows: management keys and keys of the same user alone.
ALTER TABLE interns ADD COLUMN created_by_key TEXT;

-- Who stored the present value of a secret: its key, and that key's user.
ALTER TABLE vault_secrets ADD COLUMN created_by_key TEXT;
ALTER TABLE vault_secrets ADD COLUMN creator_user_id TEXT;

-- The intern that made a file, or brought it with its own key.
ALTER TABLE files ADD COLUMN intern_id TEXT;
