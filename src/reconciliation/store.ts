import type { Reconciliation } from "../ledger/reconciliation.ts"

export async function saveReconciliation(db: D1Database, reconciliation: Reconciliation): Promise<void> {
  await db
    .prepare("INSERT OR REPLACE INTO reconciliations (organization_id, at, report) VALUES (?, ?, ?)")
    .bind(reconciliation.organizationId, reconciliation.at, JSON.stringify(reconciliation))
    .run()
}

export async function findReconciliation(db: D1Database, organizationId: string): Promise<Reconciliation | undefined> {
  const row = await db
    .prepare("SELECT report FROM reconciliations WHERE organization_id = ?")
    .bind(organizationId)
    .first<{ report: string }>()
  return row ? (JSON.parse(row.report) as Reconciliation) : undefined
}

/** Of all organizations, for the operator: those whose last reconciliation is the longest ago. */
export async function listStalest(db: D1Database, limit: number): Promise<string[]> {
  const { results } = await db
    .prepare(
      `SELECT o.id FROM organizations o LEFT JOIN reconciliations r ON r.organization_id = o.id
       ORDER BY coalesce(r.at, 0), o.id LIMIT ?`,
    )
    .bind(limit)
    .all<{ id: string }>()
  return results.map((row) => row.id)
}
