import { costOf, NO_TOKENS } from "../money/money.ts"
import { asGatewayError, GatewayError } from "../errors/errors.ts"
import type { Ending, Generation, GenerationDraft } from "../ledger/generation.ts"
import type { Attempt } from "../formats/attempt.ts"
import type { Rejection } from "../providers/refusal.ts"
import { logError } from "../support/log.ts"
import type { AcceptedResponse } from "./dispatch.ts"
import { estimateDelivered, newMeter, toTokens } from "../formats/chat/meter.ts"
import { answerHeaders } from "./headers.ts"
import type { ServingInfo, ResponseEncoder } from "../formats/encoder.ts"
import type { CallContext } from "./inference-request.ts"
import { routingMetadata } from "../routing/metadata.ts"
import { type Target, targetKey } from "../routing/target.ts"
import { chargeFor, NO_CHARGE } from "./charge.ts"
import { type Charge } from "../formats/cost-fields.ts"

/** One call under way: what both ways of answering it share. */
export type Call = CallContext & {
  encoder: ResponseEncoder
  /** Stops the heartbeat that keeps the hold alive. */
  stopHeartbeat: () => void
}

export function newCall(facts: Omit<CallContext, "meter" | "servingTarget" | "dispatchAbort" | "metadata">): Call {
  const state: CallContext = {
    ...facts,
    meter: newMeter(),
    servingTarget: undefined,
    dispatchAbort: new AbortController(),
    metadata: (attempts) => routingMetadata(state, attempts),
  }
  const { signal } = facts.deps
  if (facts.request.messages && storesContent(facts)) state.meter.transcript = { content: "", reasoning: "" }
  if (signal.aborted) state.dispatchAbort.abort()
  else signal.addEventListener("abort", () => state.dispatchAbort.abort(), { once: true })
  return Object.assign(state, { encoder: facts.request.encoderFor(state), stopHeartbeat: startHoldHeartbeat(state) })
}

/** Whether somebody will want to know what was said. */
function storesContent({ deps, draft }: Pick<CallContext, "deps" | "draft">): boolean {
  return deps.contents?.keeps(draft.id) === true || draft.broadcast?.hasContent === true
}

/** Tells the ledger what the call has cost so far, for as long as it runs. Returns how to stop. */
function startHoldHeartbeat(call: CallContext): () => void {
  const { ledger, timers } = call.deps
  const estimate = () => {
    const tokens = { ...NO_TOKENS, prompt: call.draft.promptEstimate, completion: estimateDelivered(call.meter) }
    const { servingTarget: answering } = call
    // Should the isolate die, the account is charged this: nothing, where it is not its key that is used.
    const isFree = answering?.byok && !call.draft.isByok
    return isFree ? 0 : answering ? costOf(tokens, answering.endpoint.pricing) : call.estimateNano
  }
  return ledger.track(call.draft.id, estimate, timers.holdTtlMs)
}

/** By what a log line can be found, whoever looks for it. */
export function logFieldsOf({ id, requestId }: Pick<GenerationDraft, "id" | "requestId">) {
  return { requestId, generation: id }
}

export function toServingInfo(
  { target, wire, upstreamBody }: AcceptedResponse,
  attempts: readonly Attempt[],
): ServingInfo {
  return { provider: target.provider.name, model: target.model.id, reader: wire, attempts, upstreamBody }
}

export type SettlementReceipt = { charge: Charge; settled: Promise<void> }

/** The receipt of a call that was answered, in whole or in part. Charging it is under way when this returns. */
export function settle(
  call: Call,
  accepted: AcceptedResponse,
  attempts: readonly Attempt[],
  ending: Ending,
  status: number,
): SettlementReceipt {
  const { meter, draft } = call
  const { target, answeredAt, counted } = accepted
  meter.tokens ??= toTokens(counted?.())
  const charge = chargeFor(meter, target, call.request.bounds, call.chargeLimitOf(target), ending === "complete")
  // A guardrail's refusal is not the endpoint's fault: theirs are never 403.
  if (ending !== "cancelled" && status !== 403)
    updateEndpointHealth(call, target, attempts, charge, ending, Date.now() - answeredAt)
  const settled = record(call, {
    ...draft,
    model: target.model.id,
    provider: target.provider.name,
    upstreamId: meter.id,
    isByok: charge.byok !== null,
    tokens: charge.tokens,
    tokensFrom: charge.tokensFrom,
    costNano: charge.costNano,
    byokCostNano: charge.byok?.costNano ?? 0,
    ...(charge.overrunNano > 0 && { overrunNano: charge.overrunNano }),
    finishReason: ending === "complete" ? meter.finishReason : ending === "cancelled" ? null : "error",
    ending,
    status,
    latencyMs: answeredAt - draft.createdAt,
    generationMs: Date.now() - answeredAt,
    serviceTier: meter.serviceTier,
    attempts,
  })
  return { charge, settled }
}

/** What this answer showed of its endpoint. A whole answer shows no first content, and its time is all generation. */
function updateEndpointHealth(
  { meter, draft, deps }: Call,
  target: Target,
  attempts: readonly Attempt[],
  { tokens }: Charge,
  ending: Ending,
  streamedMs: number,
): void {
  const key = targetKey(target)
  const askedMs = attempts.at(-1)?.latencyMs ?? 0
  const seconds = Math.max(1, draft.streamed ? streamedMs : askedMs) / 1_000
  deps.health.measured(key, {
    at: Date.now(),
    latencyMs: draft.streamed ? askedMs : null,
    tokensPerSecond: tokens.completion > 0 ? tokens.completion / seconds : null,
    completion: ending === "complete" ? tokens.completion : null,
    isGood: ending === "complete",
  })
  if (meter.signature !== null) deps.health.signed(meter.signature, key)
}

/** The receipt of a call that no provider answered: free, unless one had begun to work when the caller left. */
export function settleRejection(
  call: Call,
  attempts: readonly Attempt[],
  ending: "refused" | "cancelled",
  status: number,
  reached: boolean,
): SettlementReceipt {
  const { draft } = call
  const [target] = call.targets
  const worked = ending === "cancelled" && reached && target
  const charge = worked
    ? chargeFor(call.meter, target, call.request.bounds, call.chargeLimitOf(target), false)
    : NO_CHARGE
  const settled = record(call, {
    ...draft,
    model: draft.requestedModel,
    provider: attempts.at(-1)?.provider ?? null,
    upstreamId: null,
    isByok: charge.byok !== null,
    tokens: charge.tokens,
    tokensFrom: charge.tokensFrom,
    costNano: charge.costNano,
    byokCostNano: charge.byok?.costNano ?? 0,
    finishReason: null,
    ending,
    status,
    latencyMs: null,
    generationMs: null,
    serviceTier: null,
    attempts,
  })
  return { charge, settled }
}

/** If the ledger cannot be reached, its alarm settles the hold at its estimate: nothing is lost, and nothing retried. */
async function record(call: Call, generation: Generation): Promise<void> {
  call.stopHeartbeat()
  keepContent(call)
  call.deps.recordMetric?.(generation)
  try {
    await call.deps.ledger.settle(generation)
  } catch (cause) {
    logError("a generation was not settled; its hold will be", logFieldsOf(generation), cause)
  }
}

/** Beside the charge, not before it: what cannot be kept costs nobody anything. */
function keepContent({ deps, meter, request: normalized, draft }: Call): void {
  const { transcript: output } = meter
  const { messages } = normalized
  if (!output || !messages) return
  const { id, organizationId, workspaceId } = draft
  const keep = (kept: Promise<void>) =>
    deps.waitUntil(kept.catch((cause: unknown) => logError("a call's content was not kept", logFieldsOf(draft), cause)))
  if (deps.contents?.keeps(id)) {
    keep(deps.contents.put(draft, { organizationId, workspaceId, messages: [...messages], output }))
  }
  if (deps.saveCallContent && draft.broadcast?.hasContent) keep(deps.saveCallContent(id, messages, output))
}

/** What the caller is told when every target refused. */
export function failureResponse(
  call: Call,
  refusals: readonly Rejection[],
  attempts: readonly Attempt[],
): GatewayError {
  const told = refusals.find((refusal) => !refusal.retryable) ?? refusals.at(-1)
  if (!told) return asGatewayError(new Error("A call ended without an answer or a refusal."))
  const hints = refusals.map((refusal) => refusal.retryAfterMs)
  const hint = hints.every((ms) => ms !== null) ? Math.min(...hints) : undefined
  return new GatewayError(told.code, told.message, {
    metadata: { ...(told.providerCode !== null && { provider_code: told.providerCode }), provider_name: told.provider },
    ...(call.meta.wantsMetadata && { extraFields: call.metadata(attempts) }),
    headers: {
      ...answerHeaders(call.draft.id),
      ...(hint !== undefined && { "retry-after": String(Math.ceil(hint / 1_000)) }),
    },
  })
}
