-- What callers said of answers. Instants are epoch milliseconds.
CREATE TABLE generation_feedback (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL,
  generation_id TEXT NOT NULL,
  category TEXT NOT NULL,
  comment TEXT,
  key_hash TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX generation_feedback_generation ON generation_feedback (organization_id, generation_id);
