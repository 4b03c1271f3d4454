-- Turns of interns on their way to the destinations of their workspace. `id` sorts by the end of the turn; `record` is
-- JSON of TurnRecord (src/observability/turn.ts); `sorted_at` is null until the consumer of the queue has read it.
CREATE TABLE intern_turns (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  record TEXT NOT NULL,
  sorted_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX intern_turns_unsorted ON intern_turns (id) WHERE sorted_at IS NULL;
