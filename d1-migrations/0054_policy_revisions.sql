-- The order of changes of what decides about calls: keys, workspaces, budgets, guardrails, credentials, destinations and
-- presets. Null for an entry that changes none of these. Isolates read the entries after the revision that they know.
ALTER TABLE audit_log ADD COLUMN revision INTEGER;
CREATE INDEX audit_log_revision ON audit_log (revision, organization_id) WHERE revision IS NOT NULL;
