import { eq, sql } from "drizzle-orm"
import type { Reconciliation } from "../ledger/reporting/reconciliation.ts"
import { organizations } from "../organizations/table.ts"
import { openDb } from "../support/db.ts"
import { reconciliations } from "./table.ts"

export async function saveReconciliation(db: D1Database, report: Reconciliation): Promise<void> {
  const { organizationId, at } = report
  await openDb(db)
    .insert(reconciliations)
    .values({ organizationId, at, report })
    .onConflictDoUpdate({ target: reconciliations.organizationId, set: { at, report } })
}

export async function findReconciliation(db: D1Database, organizationId: string): Promise<Reconciliation | undefined> {
  const [row] = await openDb(db)
    .select({ report: reconciliations.report })
    .from(reconciliations)
    .where(eq(reconciliations.organizationId, organizationId))
  return row?.report
}

/** Organizations with the oldest reconciliation first, for the operator. */
export async function listStalest(db: D1Database, limit: number): Promise<string[]> {
  const rows = await openDb(db)
    .select({ id: organizations.id })
    .from(organizations)
    .leftJoin(reconciliations, eq(reconciliations.organizationId, organizations.id))
    .orderBy(sql`coalesce(${reconciliations.at}, 0)`, organizations.id)
    .limit(limit)
  return rows.map((row) => row.id)
}
