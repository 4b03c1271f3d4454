import type { Limit, LimitStatus } from "../ledger/limits.ts"
import { formatUsd, nanoToUsd } from "../money/money.ts"
import { GatewayError } from "../errors/errors.ts"
import { toTimestamp } from "../support/time/time.ts"
import { windowEnd } from "../money/windows.ts"
import type { Budget, BudgetWithUse } from "./schemas.ts"
import { workspaceScope } from "../ledger/scopes.ts"
import { BUDGET_INTERVALS, type BudgetInterval, type BudgetRow } from "./table.ts"

/** Budgets of a workspace, loaded with each of its keys. */
export type WorkspaceBudgets = {
  includeByok: boolean
  limits: readonly { interval: BudgetInterval; limitNano: number }[]
}

export const NO_BUDGETS: WorkspaceBudgets = { includeByok: false, limits: [] }

export function budgetLimits(workspaceId: string, { includeByok, limits }: WorkspaceBudgets): Limit[] {
  return limits.map(({ interval, limitNano }) => ({
    scope: workspaceScope(workspaceId),
    limitNano,
    interval: interval === "lifetime" ? null : interval,
    includeByok,
  }))
}

/** Rejects a budget that can never be reached, because a longer one has the same or a lower limit. */
export function requireAscendingLimits(
  interval: BudgetInterval,
  limitNano: number,
  others: readonly Pick<BudgetRow, "interval" | "limitNano">[],
): void {
  const location = BUDGET_INTERVALS.indexOf(interval)
  for (const other of others) {
    const otherPlace = BUDGET_INTERVALS.indexOf(other.interval)
    if (otherPlace === location) continue
    const isLonger = otherPlace < location
    if (isLonger ? limitNano < other.limitNano : limitNano > other.limitNano) continue
    const message = isLonger ? "less than" : "more than"
    throw new GatewayError(
      "invalid_request",
      `limit_usd: must be ${message} the ${other.interval} budget of ${formatUsd(other.limitNano)} USD. Budgets strictly decrease from lifetime over monthly and weekly to daily.`,
    )
  }
}

export function toBudget(row: BudgetRow): Budget {
  return {
    id: row.id,
    workspace_id: row.workspaceId,
    limit_usd: nanoToUsd(row.limitNano),
    reset_interval: row.interval === "lifetime" ? null : row.interval,
    created_at: toTimestamp(row.createdAt),
    updated_at: toTimestamp(row.updatedAt),
  }
}

export function withUse(row: BudgetRow, standing: LimitStatus | undefined, now: number): BudgetWithUse {
  return {
    ...toBudget(row),
    spent_usd: nanoToUsd(standing?.spentNano ?? 0),
    held_usd: nanoToUsd(standing?.heldNano ?? 0),
    resets_at: row.interval === "lifetime" ? null : toTimestamp(windowEnd(row.interval, now)),
  }
}
