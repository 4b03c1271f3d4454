import type { BatchRow } from "../../src/batches/table.ts"
import type { Env } from "../../src/config/env.ts"
import { messageFilterOf as guardrailFilterOf } from "../../src/guardrails/create-screening.ts"
import { principalByHash } from "../../src/policy/authenticate.ts"
import { callerOf } from "../../src/policy/call-policy.ts"
import { withRunContext } from "../../src/policy/run-context.ts"
import { type MessageFilter, BLOCKED_BY_GUARDRAIL } from "../../src/providers/responses/rejection.ts"

/**
 * Filters messages of a provider about requests without a response, as in a call of the batch's key. A key that is no
 * longer valid has no guardrails to apply, so none of its messages are relayed.
 */
export async function messageFilterOf(row: Pick<BatchRow, "keyHash">, env: Env): Promise<MessageFilter> {
  const principal = await principalByHash(row.keyHash, env, Date.now())
  if (!principal) return () => undefined
  const { guardrails } = callerOf(await withRunContext(principal, env))
  return guardrailFilterOf(guardrails) ?? ((text) => text)
}

/** The message for the client in place of one that a filter blocks. */
export function toClientMessage(message: string, filter: MessageFilter): string {
  return filter(message) ?? `The provider rejected this request. ${BLOCKED_BY_GUARDRAIL}`
}
