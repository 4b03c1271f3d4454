import { type Caller, callerFor } from "../../policy/call-policy.ts"
import { NO_TOKENS } from "../../money/money.ts"
import { GatewayError } from "../../errors/errors.ts"
import type { Generation, GenerationDraft } from "../../ledger/generation.ts"
import { endUserOf, newDraft, sessionIdOf } from "../draft.ts"
import { hold } from "../hold.ts"
import type { ChatRequest } from "../../formats/schemas.ts"
import type { RequestMeta, Deps } from "../deps.ts"

/** Runs a paid tool: holds its price first, then charges the actual cost. */
export type ChargeToolRun = <T extends { costNano: number }>(
  tool: { name: string; provider: string; priceNano: number },
  run: () => Promise<T>,
) => Promise<T>

/**
 * Holds, charges and records each paid tool run as a separate call, so that its charge does not depend on the outcome
 * of the surrounding call.
 */
export function toolCharger(chat: ChatRequest, call: { meta: RequestMeta; caller: Caller }, deps: Deps): ChargeToolRun {
  const { meta } = call
  const { session_id: sessionId, trace = null } = chat
  const user = endUserOf(chat)
  const caller = callerFor(call.caller, user)
  return async (tool, run) => {
    if (tool.priceNano === 0) return run()
    const about = { apiType: "completions", requestedModel: tool.name, streamed: false, promptEstimate: 0 } as const
    const draft = newDraft(
      { ...about, sessionId: sessionIdOf(sessionId, meta.sessionId), user, trace, isToolRun: true },
      meta,
      caller,
    )
    const cost = { leastNano: tool.priceNano, mostNano: tool.priceNano }
    await hold({ draft, wanted: cost, estimateNano: tool.priceNano, caller, takesMaxTokens: false }, deps)
    const settle = (costNano: number, isDone: boolean) =>
      deps.ledger.settle(toGeneration(draft, tool, costNano, isDone))
    try {
      const outcome = await run()
      deps.waitUntil(settle(outcome.costNano, true))
      return outcome
    } catch (thrown) {
      deps.waitUntil(settle(0, false))
      throw thrown
    }
  }
}

function toGeneration(
  draft: GenerationDraft,
  { name, provider }: { name: string; provider: string },
  costNano: number,
  isDone: boolean,
): Generation {
  return {
    ...draft,
    model: name,
    provider,
    upstreamId: null,
    isByok: false,
    tokens: NO_TOKENS,
    tokensFrom: "none",
    costNano,
    byokCostNano: 0,
    finishReason: null,
    ending: isDone ? "complete" : "refused",
    status: isDone ? 200 : 502,
    latencyMs: Date.now() - draft.createdAt,
    generationMs: null,
    serviceTier: null,
    attempts: [],
  }
}

/** Whether a limit or a budget rejected a tool run. The model then receives a tool error. */
export function isOverLimit(thrown: unknown): thrown is GatewayError {
  return thrown instanceof GatewayError && (thrown.code === "payment_required" || thrown.code === "forbidden")
}
