import { GatewayError } from "../../errors/errors.ts"
import type { AppliedGuardrail } from "../../guardrails/applied.ts"
import { type CountedSubject, unnamedScope } from "../../guardrails/counted-subject.ts"
import { counterHashOf, counterScope } from "../../keys/key.ts"
import type { Verdict } from "../../ledger/limits.ts"
import { providerOf } from "../../ledger/provider-limits.ts"
import { parseScope, workspaceScope } from "../../ledger/scopes.ts"
import { formatUsd } from "../../money/money.ts"
import { windowEnd } from "../../money/windows.ts"
import type { Caller } from "../../policy/call-policy.ts"
import { toTimestamp } from "../../support/time/time.ts"

type RejectedVerdict = Extract<Verdict, { ok: false }>

/** 402 for the account and a key, 403 for a budget. The message names the limit and the remedy. */
export function limitError(verdict: RejectedVerdict, caller: Caller, takesMaxTokens = true): GatewayError {
  const orFewerTokens = takesMaxTokens ? ", or send fewer max_tokens" : ""
  const needs =
    verdict.leastNano > 0
      ? `This request needs up to ${formatUsd(verdict.leastNano)} USD, and ${formatUsd(verdict.remainingNano)} USD are left`
      : "Nothing is left"
  if (verdict.scope === counterScope(caller)) {
    const { interval } = verdict
    const waiting = interval === null ? "" : ` or wait for its ${interval} reset`
    const holder = caller.internId === null ? "key" : "intern"
    return new GatewayError(
      "payment_required",
      `${needs} under this ${holder}'s limit, running requests included. Raise the limit${waiting}${orFewerTokens}.`,
      { metadata: { reason: "key_limit" } },
    )
  }
  if (parseScope(verdict.scope).kind === "schedule") return scheduleError(verdict, caller, { needs, orFewerTokens })
  const ancestor = caller.ancestors.find((key) => verdict.scope === counterScope(key))
  if (ancestor) {
    const waiting = verdict.interval === null ? "" : ` or wait for its ${verdict.interval} reset`
    return new GatewayError(
      "payment_required",
      `${needs} under the limit of the key ${ancestor.label}, which created this key, running requests included. Raise that limit${waiting}${orFewerTokens}.`,
      { metadata: { reason: "key_limit" } },
    )
  }
  if (verdict.scope === workspaceScope(caller.workspaceId)) {
    const { interval } = verdict
    const waiting = interval === null ? "" : ` or wait for its ${interval} reset`
    return new GatewayError(
      "forbidden",
      `${needs} under the workspace's ${interval ?? "lifetime"} budget, running requests included. Raise the budget${waiting}${orFewerTokens}.`,
      { metadata: { reason: "workspace_budget" } },
    )
  }
  if (providerOf(verdict.scope) !== undefined) return providerBudgetError(verdict, caller, { needs, orFewerTokens })
  const guardrail = caller.guardrails?.list.find(({ limits }) => limits.some(({ scope }) => scope === verdict.scope))
  if (guardrail) {
    const holder = holderUnder(guardrail, verdict.scope, caller)
    return new GatewayError(
      "forbidden",
      `${needs} for ${holder} under the ${verdict.interval} budget of the guardrail "${guardrail.name}", running requests included. Raise its limit or wait for its ${verdict.interval} reset${orFewerTokens}.`,
      {
        metadata: { reason: "guardrail_budget", patterns: ["limit_usd"] },
        rejectedBy: [{ guardrailId: guardrail.id, field: "limit_usd" }],
      },
    )
  }
  return new GatewayError(
    "payment_required",
    `${needs} in the account, running requests included. Add credit${orFewerTokens}.`,
    { metadata: { reason: "insufficient_credits" } },
  )
}

function holderUnder({ id, counts }: AppliedGuardrail, scope: string, caller: Caller): string {
  if (counts) return subjectName(id, counts, scope)
  if (scope.endsWith(`:key:${counterHashOf(caller)}`)) return "this key"
  return scope.includes(":key:") ? "the key that created this key" : "the member whose key this is"
}

/** For messages. The id of a user and the value are not repeated, because messages are logged. */
export function subjectName(guardrailId: string, counts: CountedSubject, scope: string): string {
  const isNamed = scope !== unnamedScope(guardrailId, counts)
  if (counts.kind === "end_user") return isNamed ? "this end user" : "requests without `user`"
  return `${isNamed ? "this value of" : "requests without"} \`metadata.${counts.field}\``
}

/** Names the schedule with its limit and its reset. */
function scheduleError(
  { scope, interval }: RejectedVerdict,
  { runLimits }: Caller,
  { needs, orFewerTokens }: { needs: string; orFewerTokens: string },
): GatewayError {
  const limit = runLimits.find((one) => one.scope === scope)
  const amount = limit ? ` of ${formatUsd(limit.limitNano)} USD` : ""
  const reset = interval === null ? "" : ` or wait for its reset at ${toTimestamp(windowEnd(interval, Date.now()))}`
  return new GatewayError(
    "payment_required",
    `${needs} under the daily limit${amount} of the schedule ${parseScope(scope).id}, running requests included. Raise daily_limit_usd of the schedule${reset}${orFewerTokens}.`,
    { metadata: { reason: "schedule_limit" } },
  )
}

/** Names the budget with its limit and its reset. */
function providerBudgetError(
  { scope, interval }: RejectedVerdict,
  { providerBudgets }: Caller,
  { needs, orFewerTokens }: { needs: string; orFewerTokens: string },
): GatewayError {
  const provider = providerOf(scope) ?? ""
  const limits = providerBudgets?.get(provider)?.gateway ?? []
  const limit = limits.find((one) => one.scope === scope && one.interval === interval)
  const amount = limit ? ` of ${formatUsd(limit.limitNano)} USD` : ""
  const reset = interval === null ? "" : ` It resets at ${toTimestamp(windowEnd(interval, Date.now()))}.`
  return new GatewayError(
    "forbidden",
    `${needs} under the organization's ${interval ?? "lifetime"} budget${amount} for ${provider}, running requests included.${reset} Raise the budget, or call a model that another provider offers${orFewerTokens}.`,
    { metadata: { reason: "provider_budget" } },
  )
}
