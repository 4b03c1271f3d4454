import type { AuditEntry } from "../audit/entry.ts"
import { auditIfChanged } from "../audit/store.ts"
import { BUDGET_INTERVALS, type BudgetInterval, type BudgetRow, type WorkspaceBudgets } from "./budget.ts"

const COLUMNS = "id, workspace_id, interval, limit_nano, created_at, updated_at"

export type Budgeted = { workspaceId: string; includeByok: boolean; budgets: BudgetRow[] }

/** A workspace of this organization, by id or slug, with its budgets. */
export async function findBudgets(db: D1Database, organizationId: string, ref: string): Promise<Budgeted | undefined> {
  const where = "organization_id = ?1 AND (id = ?2 OR slug = ?2) AND deleted_at IS NULL"
  const [workspaces, budgets] = await db.batch<Record<string, unknown>>([
    db
      .prepare(
        `SELECT id, include_byok_in_budgets AS includeByok FROM workspaces WHERE ${where} ORDER BY id = ?2 DESC LIMIT 1`,
      )
      .bind(organizationId, ref),
    db
      .prepare(
        `SELECT ${COLUMNS} FROM workspace_budgets WHERE workspace_id IN (SELECT id FROM workspaces WHERE ${where})
         ORDER BY limit_nano DESC, interval`,
      )
      .bind(organizationId, ref),
  ])
  const workspace = workspaces?.results[0] as { id: string; includeByok: number } | undefined
  if (!workspace) return undefined
  const rows = (budgets?.results ?? []) as unknown as BudgetRow[]
  return {
    workspaceId: workspace.id,
    includeByok: workspace.includeByok === 1,
    budgets: rows.filter((row) => row.workspace_id === workspace.id),
  }
}

const rankOf = (column: string) =>
  `CASE ${column} ${BUDGET_INTERVALS.map((name, at) => `WHEN '${name}' THEN ${at}`).join(" ")} END`

/** Another budget of the workspace ?2 that one of ?4 nano-USD for the interval ?3 would be out of order with. */
const BREAKS_ORDER = `SELECT 1 FROM workspace_budgets b WHERE b.workspace_id = ?2 AND b.interval <> ?3
  AND iif(${rankOf("b.interval")} < ${rankOf("?3")}, b.limit_nano <= ?4, b.limit_nano >= ?4)`

/**
 * Creates or replaces; an existing budget keeps its id. `includeByok` is the workspace's own, undefined to leave it. False,
 * and nothing is written, where the limits would no longer decrease from the longest window to the shortest.
 */
export async function putBudget(
  db: D1Database,
  row: BudgetRow,
  includeByok: boolean | undefined,
  entry: AuditEntry,
): Promise<boolean> {
  const { id, workspace_id: workspaceId, interval, limit_nano: limitNano, created_at: now } = row
  const [written] = await db.batch([
    db
      .prepare(
        `INSERT INTO workspace_budgets (${COLUMNS}) SELECT ?1, ?2, ?3, ?4, ?5, ?5
         WHERE NOT EXISTS (${BREAKS_ORDER})
         ON CONFLICT (workspace_id, interval) DO UPDATE SET limit_nano = excluded.limit_nano, updated_at = excluded.updated_at`,
      )
      .bind(id, workspaceId, interval, limitNano, now),
    auditIfChanged(db, entry),
    ...(includeByok === undefined
      ? []
      : [
          db
            .prepare("UPDATE workspaces SET include_byok_in_budgets = ? WHERE id = ? AND changes() > 0")
            .bind(includeByok ? 1 : 0, workspaceId),
        ]),
  ])
  return (written?.meta.changes ?? 0) > 0
}

export async function deleteBudget(
  db: D1Database,
  workspaceId: string,
  interval: BudgetInterval,
  entry: AuditEntry,
): Promise<void> {
  await db.batch([
    db.prepare("DELETE FROM workspace_budgets WHERE workspace_id = ? AND interval = ?").bind(workspaceId, interval),
    auditIfChanged(db, entry),
  ])
}

const OF_WORKSPACE = `SELECT w.include_byok_in_budgets AS includeByok, b.interval, b.limit_nano AS limitNano
   FROM workspaces w JOIN workspace_budgets b ON b.workspace_id = w.id WHERE w.id = `

/** The budgets of the workspace that a key belongs to, for the batch in which the key is read. */
export function keyBudgetsStatement(db: D1Database, hash: string): D1PreparedStatement {
  return db.prepare(`${OF_WORKSPACE} (SELECT workspace_id FROM api_keys WHERE hash = ?)`).bind(hash)
}

export async function findWorkspaceBudgets(db: D1Database, workspaceId: string): Promise<WorkspaceBudgets> {
  const { results } = await db.prepare(`${OF_WORKSPACE} ?`).bind(workspaceId).all<KeyBudgetRow>()
  return toWorkspaceBudgets(results)
}

export type KeyBudgetRow = { includeByok: number; interval: BudgetInterval; limitNano: number }

export function toWorkspaceBudgets(rows: readonly KeyBudgetRow[]): WorkspaceBudgets {
  return {
    includeByok: rows[0]?.includeByok === 1,
    limits: rows.map(({ interval, limitNano }) => ({ interval, limitNano })),
  }
}
