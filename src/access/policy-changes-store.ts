/** The newest revision, as a column of a statement that reads a policy. Statements of audit/store.ts write revisions. */
export const NEWEST_REVISION = "(SELECT coalesce(max(revision), 0) FROM audit_log WHERE revision IS NOT NULL)"

type PolicyChange = { organizationId: string; revision: number }

/** Policy changes from a revision on, the earliest first. */
export async function readChangesFrom(db: D1Database, revision: number, limit: number): Promise<PolicyChange[]> {
  const { results } = await db
    .prepare(
      "SELECT organization_id AS organizationId, revision FROM audit_log WHERE revision >= ? ORDER BY revision LIMIT ?",
    )
    .bind(revision, limit)
    .all<PolicyChange>()
  return results
}
