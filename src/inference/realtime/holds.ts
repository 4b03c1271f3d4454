import { GatewayError } from "../../errors/errors.ts"
import type { GenerationDraft } from "../../ledger/generation.ts"
import type { Limit } from "../../ledger/limits.ts"
import { type Caller, rateLimitsOf } from "../../policy/call-policy.ts"
import type { Target } from "../../routing/target.ts"
import type { Deps, RequestMeta } from "../deps.ts"
import { newDraft } from "../draft.ts"
import { grantFor, hold } from "../hold.ts"
import { limitsAt, providerHoldsOf, type WithinBudgets, withinBudgets } from "../accounting/provider-budgets.ts"
import type { Slice } from "./events/slice.ts"

/** The hold of one response, placed before it begins. */
export type HeldResponse = {
  draft: GenerationDraft
  heldNano: number
  /** The targets that remain under provider budgets. */
  within: WithinBudgets
  /** Nano-USD of the hold that a target may be charged, and its share of the hold, also with a BYOK credential. */
  chargeLimitOf: (target: Target) => number
  heldFor: (target: Target) => number
  limitsAt: (target: Target) => readonly Limit[]
  /** Nano-USD to charge if the session is lost now. */
  estimate: () => number
  stopTracking: () => void
}

export type HoldContext = {
  deps: Pick<Deps, "ledger" | "timers">
  meta: RequestMeta
  requestedModel: string
  sessionId: string
  /** `stt` for a transcription within a session, which does not count in rate limits. */
  apiType?: "realtime" | "stt"
}

/** Holds a slice under every limit at once. Fails with 402, 403 or 429. */
export async function holdResponse(
  targets: readonly Target[],
  sliceFor: (some: readonly Target[]) => Slice,
  caller: Caller,
  { deps, meta, requestedModel, sessionId, apiType = "realtime" }: HoldContext,
): Promise<HeldResponse> {
  const { wanted, estimateNano, estimateTokens } = sliceFor(targets)
  const isByok = targets.every(({ byok }) => byok)
  const providers = providerHoldsOf(targets, caller, (some) => sliceFor(some).wanted)
  const about = { apiType, requestedModel, streamed: true, sessionId, hasMessages: true } as const
  const plain = newDraft({ ...about, promptEstimate: estimateTokens }, meta, caller)
  const draft = isByok ? { ...plain, isByok } : plain
  const limits = rateLimitsOf(caller)
  const rates = limits.length > 0 && apiType === "realtime" ? { limits, tokens: estimateTokens } : undefined
  const request = { draft, wanted, estimateNano, caller, takesMaxTokens: false, rates, providers }
  const granted = await hold(request, deps).catch(async (rejection: unknown) => {
    // The ledger may have placed the hold although its response was lost.
    if (!(rejection instanceof GatewayError)) await deps.ledger.release(draft.id)
    throw rejection
  })
  const heldNano = granted.grantedNano
  const within = withinBudgets(targets, providers, granted.providers)
  const held: HeldResponse = {
    draft,
    heldNano,
    within,
    chargeLimitOf: (target) => within.grantOf(target) ?? grantFor(target, heldNano, caller),
    heldFor: (target) => within.grantOf(target) ?? heldNano,
    limitsAt: (target) => limitsAt(target, caller),
    estimate: () => estimateNano,
    stopTracking: () => stop(),
  }
  const { holdTtlMs: ttlMs } = deps.timers
  // The session replaces `estimate` while a response runs.
  const stop = deps.ledger.track(draft.id, { estimate: () => held.estimate(), ttlMs, heldAt: Date.now() })
  return held
}

/** Releases an unused hold. */
export async function releaseHold({ draft, stopTracking }: HeldResponse, { ledger }: Pick<Deps, "ledger">) {
  stopTracking()
  await ledger.release(draft.id)
}

/** Whether the hold still covers the shortest next response. */
export function covers({ heldFor }: HeldResponse, target: Target, { wanted }: Slice): boolean {
  return heldFor(target) >= wanted.leastNano
}
