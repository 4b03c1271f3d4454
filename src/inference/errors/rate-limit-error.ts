import { GatewayError } from "../../errors/errors.ts"
import { counterScope } from "../../keys/key.ts"
import type { RateRejection } from "../../ledger/rates.ts"
import { workspaceScope } from "../../ledger/scopes.ts"
import type { Caller } from "../../policy/call-policy.ts"
import { subjectName } from "./limit-error.ts"

/** When a client that is over its concurrency limit retries: nobody knows when a request ends. */
const CONCURRENT_RETRY_MS = 1_000

/** 429 for a rate limit. The message has the limit, its current use, and when to retry. */
export function rateLimitError(rejection: RateRejection, caller: Caller): GatewayError {
  const { limit, remaining, needed, resetAt } = rejection
  const { holder, reason, guardrailId } = holderOf(rejection.scope, caller)
  const field = FIELDS[rejection.kind]
  const isTooLarge = needed > limit
  const retryAt = resetAt ?? Date.now() + CONCURRENT_RETRY_MS
  const seconds = Math.max(1, Math.ceil((retryAt - Date.now()) / 1_000))
  const advice = isTooLarge
    ? "It can never fit: send a shorter prompt, or raise the limit."
    : `Retry in ${seconds} ${seconds === 1 ? "second" : "seconds"}, or raise the limit.`
  return new GatewayError("rate_limited", `${holder} ${sentenceFor(rejection)} ${advice}`, {
    metadata: { reason, retryable: !isTooLarge, ...(guardrailId !== undefined && { patterns: [field] }) },
    ...(guardrailId !== undefined && { rejectedBy: [{ guardrailId, field }] }),
    headers: {
      "x-ratelimit-limit": String(limit),
      "x-ratelimit-remaining": String(remaining),
      "x-ratelimit-reset": String(retryAt),
      ...(!isTooLarge && { "retry-after": String(seconds) }),
    },
  })
}

const FIELDS = {
  requests: "requests_per_minute",
  tokens: "tokens_per_minute",
  concurrent: "concurrent_requests",
} as const

function sentenceFor({ kind, limit, remaining, needed }: RateRejection): string {
  const requests = limit === 1 ? "1 request" : `${limit} requests`
  const used = limit - remaining
  if (kind === "concurrent") {
    return `may run ${requests} at the same time, and ${used} ${used === 1 ? "is" : "are"} running.`
  }
  if (kind === "requests") return `may start ${requests} per minute, and has started ${used}.`
  return `may use ${limit} tokens per minute, of which ${remaining} are left. This request needs about ${needed}.`
}

function holderOf(scope: string, caller: Caller): { holder: string; reason: string; guardrailId?: string } {
  if (scope === counterScope(caller)) return { holder: "This key", reason: "key_rate_limit" }
  const ancestor = caller.ancestors.find((key) => scope === counterScope(key))
  if (ancestor) return { holder: `The key ${ancestor.label}, which created this key,`, reason: "key_rate_limit" }
  if (scope === workspaceScope(caller.workspaceId)) {
    return { holder: "The workspace", reason: "workspace_rate_limit" }
  }
  const guardrail = caller.guardrails?.list.find(({ rates }) => rates.some((rate) => rate.scope === scope))
  const member = guardrail?.counts
    ? subjectName(guardrail.id, guardrail.counts, scope)
    : scope.includes(":key:")
      ? "this key"
      : "this member"
  return {
    holder: `Under the guardrail "${guardrail?.name ?? ""}", ${member}`,
    reason: "guardrail_rate_limit",
    ...(guardrail && { guardrailId: guardrail.id }),
  }
}
