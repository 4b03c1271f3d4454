import { and, desc, eq, inArray, isNull, not, or, sql } from "drizzle-orm"
import type { AuditEntry } from "../audit/entry.ts"
import { auditIfChanged } from "../audit/store.ts"
import { openDb, readColumns, selectRow, type StoredRow } from "../support/db.ts"
import { workspaces } from "../workspaces/table.ts"
import type { WorkspaceBudgets } from "./budget.ts"
import { type ProviderBudgets, toProviderBudgets } from "./provider-budget.ts"
import { BUDGET_INTERVALS, type BudgetInterval, type BudgetRow, providerBudgets, workspaceBudgets } from "./table.ts"

export type BudgetedWorkspace = { workspaceId: string; includeByok: boolean; budgets: BudgetRow[] }

/** A workspace of this organization, by id or slug, with its budgets. */
export async function findBudgets(
  binding: D1Database,
  organizationId: string,
  ref: string,
): Promise<BudgetedWorkspace | undefined> {
  const db = openDb(binding)
  const isWorkspace = and(
    eq(workspaces.organizationId, organizationId),
    or(eq(workspaces.id, ref.toLowerCase()), eq(workspaces.slug, ref)),
    isNull(workspaces.deletedAt),
  )
  const [[workspace], budgets] = await db.batch([
    db
      .select({ id: workspaces.id, includeByok: workspaces.includeByokInBudgets })
      .from(workspaces)
      .where(isWorkspace)
      .orderBy(desc(eq(workspaces.id, ref.toLowerCase())))
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

export const lengthRankOf = (interval: BudgetInterval) => BUDGET_INTERVALS.indexOf(interval)

/** Rank of the interval of a row, in SQL. */
export const rank = sql.join(
  [sql`CASE interval`, ...BUDGET_INTERVALS.map((name) => sql`WHEN ${name} THEN ${lengthRankOf(name)}`), sql`END`],
  sql` `,
)

/** Whether another budget of the workspace is out of order with this one. */
const breaksOrder = ({ workspaceId, interval, limitNano }: BudgetRow) =>
  sql`EXISTS (SELECT 1 FROM workspace_budgets WHERE workspace_id = ${workspaceId} AND interval <> ${interval}
    AND iif(${rank} < ${lengthRankOf(interval)}, limit_nano <= ${limitNano}, limit_nano >= ${limitNano}))`

/**
 * Creates or replaces a budget; an existing one keeps its id. `includeByok`: of the workspace, undefined to keep it.
 * False, without a write, if the limits would no longer decrease from the longest window to the shortest.
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

/** Rows of both kinds; one without a provider is a budget of the workspace. */
const BUDGETS = `WITH
  in_workspace AS (SELECT w.id, w.include_byok_in_budgets AS include_byok, b.interval, b.limit_nano, '' AS provider
    FROM workspaces w JOIN workspace_budgets b ON b.workspace_id = w.id),
  in_organization AS (SELECT organization_id AS id, include_byok, interval, limit_nano, provider FROM provider_budgets)`
const OF_KEY = `${BUDGETS}
  SELECT * FROM in_workspace WHERE id = (SELECT workspace_id FROM api_keys WHERE hash = ?1)
  UNION ALL SELECT * FROM in_organization WHERE id = (SELECT organization_id FROM api_keys WHERE hash = ?1)`
const OF_SCOPE = `${BUDGETS}
  SELECT * FROM in_workspace WHERE id = ?1 UNION ALL SELECT * FROM in_organization WHERE id = ?2`

/** The budgets of the workspace and the organization that a key belongs to, for the batch in which the key is read. */
export function keyBudgetsStatement(db: D1Database, hash: string): D1PreparedStatement {
  return db.prepare(OF_KEY).bind(hash)
}

export async function findBudgetsOf(
  db: D1Database,
  { organizationId, workspaceId }: { organizationId: string; workspaceId: string },
): Promise<CallBudgets> {
  return toBudgets((await db.prepare(OF_SCOPE).bind(workspaceId, organizationId).all<StoredRow>()).results)
}

/** Budgets that apply to calls of a key. */
export type CallBudgets = { budgets: WorkspaceBudgets; providerBudgets: ProviderBudgets }

const budgetColumns = {
  provider: providerBudgets.provider,
  includeByok: providerBudgets.includeByok,
  interval: workspaceBudgets.interval,
  limitNano: workspaceBudgets.limitNano,
}

/** Parses the rows of `keyBudgetsStatement`. */
export function toBudgets(stored: readonly StoredRow[]): CallBudgets {
  const rows = stored.map((row) => readColumns(budgetColumns, row))
  const ofWorkspace = rows.filter(({ provider }) => provider === "")
  return {
    budgets: {
      includeByok: ofWorkspace[0]?.includeByok ?? false,
      limits: ofWorkspace.map(({ interval, limitNano }) => ({ interval, limitNano })),
    },
    providerBudgets: toProviderBudgets(rows.filter(({ provider }) => provider !== "")),
  }
}
