-- 0: calls that wait unread, with their content under their own ids; destination and filters are matched on delivery.
ALTER TABLE broadcast_batches ADD COLUMN is_sorted INTEGER NOT NULL DEFAULT 1 CHECK (is_sorted IN (0, 1));
-- The next batches of a destination, whatever the size of its backlog.
CREATE INDEX broadcast_batches_next ON broadcast_batches (destination_id, state, due_at);
