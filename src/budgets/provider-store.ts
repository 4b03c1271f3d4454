import { and, eq, not, sql } from "drizzle-orm"
import type { AuditEntry } from "../audit/entry.ts"
import { auditIfChanged } from "../audit/store.ts"
import { openDb, selectRow } from "../support/db.ts"
import { rank, lengthRankOf } from "./store.ts"
import { type BudgetInterval, type ProviderBudgetRow, providerBudgets } from "./table.ts"

type ProviderBudgetKey = { organizationId: string; provider: string; interval: BudgetInterval }

/** By provider, then from the longest window to the shortest. */
export async function listProviderBudgets(binding: D1Database, organizationId: string): Promise<ProviderBudgetRow[]> {
  return openDb(binding)
    .select()
    .from(providerBudgets)
    .where(eq(providerBudgets.organizationId, organizationId))
    .orderBy(providerBudgets.provider, rank)
}

/** Whether another budget of the provider is out of order with this one. */
const breaksOrder = ({ organizationId, provider, interval, limitNano }: ProviderBudgetRow) =>
  sql`EXISTS (SELECT 1 FROM provider_budgets WHERE organization_id = ${organizationId} AND provider = ${provider}
    AND interval <> ${interval}
    AND iif(${rank} < ${lengthRankOf(interval)}, limit_nano <= ${limitNano}, limit_nano >= ${limitNano}))`

/**
 * Creates or replaces a budget. False, without a write, if the provider's limits would no longer decrease from the
 * longest window to the shortest.
 */
export async function putProviderBudget(
  binding: D1Database,
  row: ProviderBudgetRow,
  entry: AuditEntry,
): Promise<boolean> {
  const db = openDb(binding)
  const { limitNano, includeByok, updatedAt } = row
  const [written] = await db.batch([
    db
      .insert(providerBudgets)
      .select(selectRow(providerBudgets, row, not(breaksOrder(row))))
      .onConflictDoUpdate({
        target: [providerBudgets.organizationId, providerBudgets.provider, providerBudgets.interval],
        set: { limitNano, includeByok, updatedAt },
      }),
    auditIfChanged(db, entry),
  ])
  return written.meta.changes > 0
}

export async function deleteProviderBudget(
  binding: D1Database,
  { organizationId, provider, interval }: ProviderBudgetKey,
  entry: AuditEntry,
): Promise<void> {
  const db = openDb(binding)
  const isIt = and(
    eq(providerBudgets.organizationId, organizationId),
    eq(providerBudgets.provider, provider),
    eq(providerBudgets.interval, interval),
  )
  await db.batch([db.delete(providerBudgets).where(isIt), auditIfChanged(db, entry)])
}
