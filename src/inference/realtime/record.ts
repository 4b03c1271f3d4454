import { toFailure } from "../../formats/attempt.ts"
import type { Attempt } from "../../formats/attempt.ts"
import type { GatewayError } from "../../errors/errors.ts"
import type { Ending, Generation, GenerationDraft } from "../../ledger/generation.ts"
import type { Limit } from "../../ledger/limits.ts"
import { costOf, NO_TOKENS, type Tokens } from "../../money/money.ts"
import { plainCall, pricesOf } from "../../money/price-list.ts"
import type { Target } from "../../routing/target.ts"

/** The record of one response of a session, and its charge. Pure. */

/** Usage of a response. `isCounted`: counted by the provider; otherwise estimated. */
export type ResponseUsage = { tokens: Tokens; isCounted: boolean }

export type ResponseEnd = {
  ending: Ending
  status: number
  /** Undefined if the provider did nothing. */
  used: ResponseUsage | undefined
  /** The provider's id of the response. */
  upstreamId: string | null
  finishReason: string | null
  attempts: readonly Attempt[]
  /** Epoch milliseconds of the start and of the first content of the response. */
  startedAt: number
  firstAt: number | null
  error?: GatewayError
}

type Held = { draft: GenerationDraft; heldNano: number; limitsAt: (target: Target) => readonly Limit[] }

/** `mostNano`: nano-USD of the hold that the target may be charged. */
export function toGeneration(held: Held, end: ResponseEnd, target: Target, mostNano: number): Generation {
  const { startedAt, firstAt, error, used } = end
  const now = Date.now()
  const { isByok: _, ...draft } = held.draft
  const reason = error?.metadata?.reason
  const limits = held.limitsAt(target)
  return {
    ...draft,
    createdAt: startedAt,
    model: target.model.id,
    provider: target.provider.name,
    providerSlug: target.provider.slug,
    upstreamId: end.upstreamId,
    ...costsOf(used, target, { mostNano, startedAt }),
    finishReason: end.finishReason,
    ending: end.ending,
    status: end.status,
    latencyMs: firstAt === null ? null : firstAt - startedAt,
    generationMs: firstAt === null ? null : now - firstAt,
    serviceTier: null,
    attempts: end.attempts,
    heldNano: held.heldNano,
    ...(limits.length > 0 && { limits }),
    pricing: pricesOf(target.endpoint.pricing, used?.tokens.prompt ?? 0, plainCall(startedAt)),
    ...(error && { error: { ...toFailure(error), ...(reason !== undefined && { reason }) } }),
  }
}

type Costs = Pick<Generation, "isByok" | "tokens" | "tokensFrom" | "costNano" | "byokCostNano" | "overrunNano">

function costsOf(
  used: ResponseUsage | undefined,
  { byok, endpoint }: Target,
  { mostNano, startedAt }: { mostNano: number; startedAt: number },
): Costs {
  const isByok = byok !== undefined
  if (!used) return { isByok, tokens: NO_TOKENS, tokensFrom: "none", costNano: 0, byokCostNano: 0 }
  const { tokens, isCounted } = used
  const nano = costOf(tokens, pricesOf(endpoint.pricing, tokens.prompt, plainCall(startedAt)))
  const chargedNano = Math.min(nano, mostNano)
  return {
    isByok,
    tokens,
    tokensFrom: isCounted ? "upstream" : "estimate",
    costNano: isByok ? 0 : chargedNano,
    byokCostNano: isByok ? chargedNano : 0,
    ...(isCounted && nano > chargedNano && { overrunNano: nano - chargedNano }),
  }
}
