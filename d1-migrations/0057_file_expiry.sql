-- When a file is deleted by itself, in milliseconds; null for one that stays.
ALTER TABLE files ADD COLUMN expires_at INTEGER;
