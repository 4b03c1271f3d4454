import { GatewayError } from "../../errors/errors.ts"
import type { GenerationDraft } from "../../ledger/generation.ts"
import type { Limit } from "../../ledger/limits.ts"
import { type Caller, limitsOf, rateLimitsOf } from "../../policy/call-policy.ts"
import type { Deps, RequestMeta } from "../deps.ts"
import { newDraft } from "../draft.ts"
import { hold } from "../hold.ts"
import type { Slice } from "./slice.ts"

/** The money of one response, reserved before it begins. */
export type HeldResponse = {
  draft: GenerationDraft
  heldNano: number
  limits: readonly Limit[]
  /** Nano-USD to charge if the session is lost now. */
  estimate: () => number
  stopTracking: () => void
}

export type HoldContext = {
  deps: Pick<Deps, "ledger" | "timers">
  meta: RequestMeta
  requestedModel: string
  sessionId: string
  /** Of a transcription within a session, which counts for no rate limit by itself. */
  apiType?: "realtime" | "stt"
}

/** Holds a slice under every limit at once. Fails with 402, 403 or 429. */
export async function holdResponse(
  slice: Slice,
  { caller, isByok }: { caller: Caller; isByok: boolean },
  { deps, meta, requestedModel, sessionId, apiType = "realtime" }: HoldContext,
): Promise<HeldResponse> {
  const { wanted, estimateNano, estimateTokens } = slice
  const about = { apiType, requestedModel, streamed: true, sessionId, hasMessages: true } as const
  const plain = newDraft({ ...about, promptEstimate: estimateTokens }, meta, caller)
  const draft = isByok ? { ...plain, isByok } : plain
  const limits = rateLimitsOf(caller)
  const rates = limits.length > 0 && apiType === "realtime" ? { limits, tokens: estimateTokens } : undefined
  const heldNano = await hold({ draft, wanted, estimateNano, caller, rates }, deps).catch(async (refusal: unknown) => {
    // The ledger may have placed a hold whose answer was lost.
    if (!(refusal instanceof GatewayError)) await deps.ledger.release(draft.id)
    throw refusal
  })
  const held: HeldResponse = {
    draft,
    heldNano,
    limits: limitsOf(caller),
    estimate: () => estimateNano,
    stopTracking: () => stop(),
  }
  const { holdTtlMs: ttlMs } = deps.timers
  // The session replaces `estimate` while a response runs.
  const stop = deps.ledger.track(draft.id, { estimate: () => held.estimate(), ttlMs, heldAt: Date.now() })
  return held
}

/** Ends a hold under which nothing began. */
export async function releaseHold({ draft, stopTracking }: HeldResponse, { ledger }: Pick<Deps, "ledger">) {
  stopTracking()
  await ledger.release(draft.id)
}

/** Whether the hold still pays for the shortest next response. */
export function covers({ heldNano }: HeldResponse, { wanted }: Slice): boolean {
  return heldNano >= wanted.leastNano
}
