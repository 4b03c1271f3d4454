-- Open questions of interns, so that lists show them. The question itself is with the intern's Durable Object, which
-- writes the row when the question is raised and removes it when it is answered or its run ends.
CREATE TABLE intern_questions (
  id TEXT PRIMARY KEY,
  organization_id TEXT NOT NULL,
  workspace_id TEXT NOT NULL,
  intern_id TEXT NOT NULL,
  -- The client's name for the conversation.
  session TEXT NOT NULL,
  -- JSON of the question, as the chat stream reports it.
  question TEXT NOT NULL,
  -- Epoch milliseconds.
  created_at INTEGER NOT NULL,
  deadline INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX intern_questions_organization ON intern_questions (organization_id, deadline);
CREATE INDEX intern_questions_intern ON intern_questions (intern_id);
