import type * as z from "zod"
import { findBudgets } from "../budgets/store.ts"
import type { KeyBudget } from "../keys/schemas.ts"
import type { LedgerClient } from "../ledger/client.ts"
import { isLimited, type LimitStatus } from "../ledger/limits.ts"
import { guardrailSubject, parseScope } from "../ledger/scopes.ts"
import { nanoToUsd } from "../money/money.ts"
import { windowEnd } from "../money/windows.ts"
import { type Caller, limitsOf } from "../policy/call-policy.ts"
import { toTimestamp } from "../support/time/time.ts"

type Budget = z.infer<typeof KeyBudget>
type Scope = Budget["scope"]

/** The order in which clients of this API family show budgets. */
const ORDER: readonly Scope[] = [
  "workspace_default_member",
  "workspace_default_key",
  "member",
  "api_key",
  "workspace",
  "key_limit",
]

/**
 * The budgets of guardrails and workspaces and the limits of keys that apply to a caller, as `GET /key` lists them, and
 * the one that stops the caller first.
 */
export async function keyBudgets(
  db: D1Database,
  ledger: LedgerClient | undefined,
  caller: Caller,
): Promise<{ budgets: Budget[]; effective_budget: Budget | null }> {
  const limits = limitsOf(caller).filter(isLimited)
  if (!ledger || limits.length === 0) return { budgets: [], effective_budget: null }
  const hasBudgets = caller.budgets.limits.length > 0
  const [statuses, workspace] = await Promise.all([
    ledger.limitStatuses(limits),
    hasBudgets ? findBudgets(db, caller.organizationId, caller.workspaceId) : undefined,
  ])
  const budgetIds = new Map(workspace?.budgets.map(({ interval, id }) => [interval, id]))
  const budgets = statuses
    .flatMap((status) => {
      const scope = scopeOf(status, caller)
      if (scope === undefined) return []
      const budgetId = scope === "workspace" ? (budgetIds.get(status.interval ?? "lifetime") ?? null) : null
      return [toBudget(status, scope, budgetId)]
    })
    .sort((a, b) => ORDER.indexOf(a.scope) - ORDER.indexOf(b.scope))
  const least = Math.min(...budgets.map(({ remaining_usd: remaining }) => remaining))
  const effective =
    budgets.find(({ remaining_usd: remaining }) => remaining <= 0) ??
    budgets.find(({ remaining_usd: remaining }) => remaining === least)
  return { budgets, effective_budget: effective ?? null }
}

/** Undefined for limits of other kinds: the balance, and runs of an intern. */
function scopeOf({ scope }: LimitStatus, { guardrails }: Caller): Scope | undefined {
  const { kind, id } = parseScope(scope)
  if (kind === "key") return "key_limit"
  if (kind === "budget") return "workspace"
  if (kind !== "guardrail") return undefined
  const isDefault = guardrails?.list.find((guardrail) => guardrail.id === id)?.scope === "workspace"
  if (guardrailSubject(scope) === "member") return isDefault ? "workspace_default_member" : "member"
  return isDefault ? "workspace_default_key" : "api_key"
}

function toBudget(status: LimitStatus, scope: Scope, budgetId: string | null): Budget {
  const { limitNano, spentNano, interval, includeByok } = status
  const { kind, id } = parseScope(status.scope)
  return {
    scope,
    guardrail_id: kind === "guardrail" ? id : null,
    budget_id: budgetId,
    limit_usd: nanoToUsd(limitNano),
    spend_usd: nanoToUsd(spentNano),
    remaining_usd: nanoToUsd(limitNano - spentNano),
    reset_interval: interval,
    resets_at: interval === null ? null : toTimestamp(windowEnd(interval, Date.now())),
    include_byok: includeByok,
  }
}
