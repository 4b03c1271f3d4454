-- Assignments of a member stay when the member leaves: keys that the member created keep working, with their guardrails.
CREATE TABLE guardrail_members_next (
  organization_id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  guardrail_id TEXT NOT NULL REFERENCES guardrails (id) ON DELETE CASCADE,
  id TEXT NOT NULL,
  assigned_by TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (organization_id, user_id, guardrail_id)
) STRICT, WITHOUT ROWID;
INSERT INTO guardrail_members_next
  SELECT organization_id, user_id, guardrail_id, id, assigned_by, created_at FROM guardrail_members;
DROP TABLE guardrail_members;
ALTER TABLE guardrail_members_next RENAME TO guardrail_members;
CREATE INDEX guardrail_members_guardrail ON guardrail_members (organization_id, guardrail_id, created_at DESC, id);
