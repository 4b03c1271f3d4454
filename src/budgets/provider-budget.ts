import type { Limit, LimitStatus } from "../ledger/limits.ts"
import { providerScope } from "../ledger/provider-limits.ts"
import { nanoToUsd } from "../money/money.ts"
import { windowEnd } from "../money/windows.ts"
import { toTimestamp } from "../support/time/time.ts"
import type { ProviderBudget } from "./provider-schemas.ts"
import type { ProviderBudgetRow } from "./table.ts"

/** Limits of calls at one provider: with the gateway's keys, and those that also count BYOK credentials. */
export type ProviderLimits = { gateway: readonly Limit[]; byok: readonly Limit[] }

/** By provider slug; null for an organization without provider budgets. */
export type ProviderBudgets = ReadonlyMap<string, ProviderLimits> | null

type LimitFields = Pick<ProviderBudgetRow, "provider" | "interval" | "limitNano" | "includeByok">

export function toProviderLimit({ provider, interval, limitNano, includeByok }: LimitFields): Limit {
  return {
    scope: providerScope(provider),
    limitNano,
    interval: interval === "lifetime" ? null : interval,
    includeByok,
  }
}

export function toProviderBudgets(rows: readonly LimitFields[]): ProviderBudgets {
  if (rows.length === 0) return null
  const budgets = new Map<string, { gateway: Limit[]; byok: Limit[] }>()
  for (const row of rows) {
    const limits = budgets.get(row.provider) ?? { gateway: [], byok: [] }
    const limit = toProviderLimit(row)
    limits.gateway.push(limit)
    if (row.includeByok) limits.byok.push(limit)
    budgets.set(row.provider, limits)
  }
  return budgets
}

export function allProviderLimits(budgets: ProviderBudgets): Limit[] {
  return [...(budgets?.values() ?? [])].flatMap(({ gateway }) => gateway)
}

export function toProviderBudget(
  row: ProviderBudgetRow,
  standing: LimitStatus | undefined,
  now: number,
): ProviderBudget {
  const { provider, interval, limitNano, includeByok } = row
  return {
    provider,
    limit_usd: nanoToUsd(limitNano),
    reset_interval: interval === "lifetime" ? null : interval,
    include_byok: includeByok,
    spent_usd: nanoToUsd(standing?.spentNano ?? 0),
    held_usd: nanoToUsd(standing?.heldNano ?? 0),
    resets_at: interval === "lifetime" ? null : toTimestamp(windowEnd(interval, now)),
    created_at: toTimestamp(row.createdAt),
    updated_at: toTimestamp(row.updatedAt),
  }
}
