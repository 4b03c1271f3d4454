import type * as z from "zod"
import { allProviderLimits } from "../budgets/provider-budget.ts"
import { counterHashOf } from "../keys/key.ts"
import type { LedgerClient } from "../ledger/client.ts"
import { isLimited, type LimitStatus } from "../ledger/limits.ts"
import { providerOf } from "../ledger/provider-limits.ts"
import { guardrailSubject, parseScope } from "../ledger/scopes.ts"
import { nanoToUsd } from "../money/money.ts"
import { windowEnd } from "../money/windows.ts"
import { type Caller, limitsOf } from "../policy/call-policy.ts"
import { toTimestamp } from "../support/time/time.ts"
import type { LimitInForce } from "./limit-schemas.ts"
import { findNames } from "./store.ts"

const leftNano = ({ limitNano, spentNano, heldNano }: LimitStatus) => limitNano - spentNano - heldNano

/**
 * Every limit that applies to calls of a key now: the balance, the key and its ancestors, budgets and guardrails. The
 * one with the least left binds.
 */
export async function limitsInForce(
  db: D1Database,
  ledger: LedgerClient,
  caller: Caller,
): Promise<z.infer<typeof LimitInForce>[]> {
  const { organizationId } = caller
  const limits = limitsOf(caller).filter(isLimited)
  const limitStatuses = await ledger.limitStatuses([...limits, ...allProviderLimits(caller.providerBudgets)])
  // A key that replaced others counts in the scope of the first of them.
  const currentIds = new Map([caller, ...caller.ancestors].map((key) => [counterHashOf(key), key.keyHash]))
  const ids = limitStatuses.map(({ scope }) => parseScope(scope).id).map((id) => currentIds.get(id) ?? id)
  const names = await findNames(db, organizationId, [...ids, organizationId])
  // A provider's budget only rejects calls that no other provider can serve.
  const binds = limitStatuses.filter(({ scope }) => providerOf(scope) === undefined)
  const smallest = Math.min(...binds.map(leftNano))
  const binding = binds.find((standing) => leftNano(standing) === smallest)
  const now = Date.now()
  return limitStatuses.map((standing) => {
    const { scope, limitNano, spentNano, heldNano, interval, includeByok } = standing
    const parsed = parseScope(scope)
    const id = parsed.kind === "balance" ? organizationId : (currentIds.get(parsed.id) ?? parsed.id)
    return {
      kind: parsed.kind,
      id,
      name: names.get(id) ?? (parsed.kind === "provider" ? id : null),
      subject: guardrailSubject(scope),
      limit: nanoToUsd(limitNano),
      spent: nanoToUsd(spentNano),
      held: nanoToUsd(heldNano),
      left: nanoToUsd(leftNano(standing)),
      interval,
      resets_at: interval === null ? null : toTimestamp(windowEnd(interval, now)),
      includes_byok: includeByok,
      binds: standing === binding,
    }
  })
}
