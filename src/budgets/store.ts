import { and, desc, eq, inArray, isNull, not, or, sql } from "drizzle-orm"
import type { AuditEntry } from "../audit/entry.ts"
import { auditIfChanged } from "../audit/store.ts"
import { openDb, readColumns, selectRow, type StoredRow } from "../support/db.ts"
import { workspaces } from "../workspaces/table.ts"
import type { WorkspaceBudgets } from "./budget.ts"
import { BUDGET_INTERVALS, type BudgetInterval, type BudgetRow, workspaceBudgets } from "./table.ts"

export type Budgeted = { workspaceId: string; includeByok: boolean; budgets: BudgetRow[] }

/** A workspace of this organization, by id or slug, with its budgets. */
export async function findBudgets(
  binding: D1Database,
  organizationId: string,
  ref: string,
): Promise<Budgeted | undefined> {
  const db = openDb(binding)
  const isWorkspace = and(
    eq(workspaces.organizationId, organizationId),
    or(eq(workspaces.id, ref), eq(workspaces.slug, ref)),
    isNull(workspaces.deletedAt),
  )
  const [[workspace], budgets] = await db.batch([
    db
      .select({ id: workspaces.id, includeByok: workspaces.includeByokInBudgets })
      .from(workspaces)
      .where(isWorkspace)
      .orderBy(desc(eq(workspaces.id, ref)))
      .limit(1),
    db
      .select()
      .from(workspaceBudgets)
      .where(
        inArray(workspaceBudgets.workspaceId, db.select({ id: workspaces.id }).from(workspaces).where(isWorkspace)),
      )
      .orderBy(desc(workspaceBudgets.limitNano), workspaceBudgets.interval),
  ])
  return (
    workspace && {
      workspaceId: workspace.id,
      includeByok: workspace.includeByok,
      budgets: budgets.filter((row) => row.workspaceId === workspace.id),
    }
  )
}

const rankOf = (interval: BudgetInterval) => BUDGET_INTERVALS.indexOf(interval)

const rank = sql.join(
  [sql`CASE interval`, ...BUDGET_INTERVALS.map((name) => sql`WHEN ${name} THEN ${rankOf(name)}`), sql`END`],
  sql` `,
)

/** Whether another budget of the workspace is out of order with this one. */
const breaksOrder = ({ workspaceId, interval, limitNano }: BudgetRow) =>
  sql`EXISTS (SELECT 1 FROM workspace_budgets WHERE workspace_id = ${workspaceId} AND interval <> ${interval}
    AND iif(${rank} < ${rankOf(interval)}, limit_nano <= ${limitNano}, limit_nano >= ${limitNano}))`

/**
 * Creates or replaces; an existing budget keeps its id. `includeByok` is the workspace's own, undefined to leave it. False,
 * and nothing is written, where the limits would no longer decrease from the longest window to the shortest.
 */
export async function putBudget(
  binding: D1Database,
  row: BudgetRow,
  includeByok: boolean | undefined,
  entry: AuditEntry,
): Promise<boolean> {
  const db = openDb(binding)
  const { limitNano, updatedAt } = row
  const [written] = await db.batch([
    db
      .insert(workspaceBudgets)
      .select(selectRow(workspaceBudgets, row, not(breaksOrder(row))))
      .onConflictDoUpdate({
        target: [workspaceBudgets.workspaceId, workspaceBudgets.interval],
        set: { limitNano, updatedAt },
      }),
    auditIfChanged(db, entry),
    ...(includeByok === undefined
      ? []
      : [
          db
            .update(workspaces)
            .set({ includeByokInBudgets: includeByok })
            .where(and(eq(workspaces.id, row.workspaceId), sql`changes() > 0`)),
        ]),
  ])
  return written.meta.changes > 0
}

export async function deleteBudget(
  binding: D1Database,
  workspaceId: string,
  interval: BudgetInterval,
  entry: AuditEntry,
): Promise<void> {
  const db = openDb(binding)
  await db.batch([
    db
      .delete(workspaceBudgets)
      .where(and(eq(workspaceBudgets.workspaceId, workspaceId), eq(workspaceBudgets.interval, interval))),
    auditIfChanged(db, entry),
  ])
}

const OF_WORKSPACE = `SELECT w.include_byok_in_budgets, b.interval, b.limit_nano
   FROM workspaces w JOIN workspace_budgets b ON b.workspace_id = w.id WHERE w.id = `

/** The budgets of the workspace that a key belongs to, for the batch in which the key is read. */
export function keyBudgetsStatement(db: D1Database, hash: string): D1PreparedStatement {
  return db.prepare(`${OF_WORKSPACE} (SELECT workspace_id FROM api_keys WHERE hash = ?)`).bind(hash)
}

export async function findWorkspaceBudgets(db: D1Database, workspaceId: string): Promise<WorkspaceBudgets> {
  const { results } = await db.prepare(`${OF_WORKSPACE} ?`).bind(workspaceId).all<StoredRow>()
  return toWorkspaceBudgets(results)
}

const budgetColumns = {
  includeByok: workspaces.includeByokInBudgets,
  interval: workspaceBudgets.interval,
  limitNano: workspaceBudgets.limitNano,
}

/** Of the rows of `keyBudgetsStatement`. */
export function toWorkspaceBudgets(stored: readonly StoredRow[]): WorkspaceBudgets {
  const rows = stored.map((row) => readColumns(budgetColumns, row))
  return {
    includeByok: rows[0]?.includeByok ?? false,
    limits: rows.map(({ interval, limitNano }) => ({ interval, limitNano })),
  }
}
