import type { Charge } from "../formats/usage.ts"
import { toTokens } from "../formats/chat/meter.ts"
import { type Attempt, toFailure } from "../formats/attempt.ts"
import type { CallStory, Ending, Generation } from "../ledger/generation.ts"
import { type Target, targetKey } from "../routing/target.ts"
import type { CallText } from "../observability/call-content.ts"
import { logError } from "../support/log.ts"
import { type HeldCall, logFieldsOf, type RelayResult } from "./call.ts"
import { storeCached } from "./upstream/cached-response.ts"
import { callPrices, chargeFor, NO_CHARGE } from "./accounting/charge.ts"
import { recordGeneration } from "./accounting/record.ts"
import { toFindings } from "./screening/stages.ts"

/** `charge` is known at once, for the last frame; `recorded` resolves when the ledger has the generation. */
export type Settlement = { charge: Charge; recorded: Promise<void> }

/** Step 8: charges the call, ends its hold and records its generation. Called once for each upstream call. */
export function settle(call: HeldCall, result: RelayResult): Settlement {
  const charge = result.accepted
    ? chargeForResponse(call, result.accepted, result.ending)
    : chargeWithoutResponse(call, result)
  const generation = toGeneration(call, result, charge)
  // A 403 comes from a guardrail, never from a provider, so it does not affect endpoint health.
  const { accepted } = result
  if (accepted?.pending) storeCached(call, accepted.pending, result)
  if (accepted && accepted.cache !== "hit" && result.ending !== "cancelled" && result.status !== 403) {
    updateEndpointHealth(call, accepted, result.attempts, charge, result.ending)
  }
  return { charge, recorded: record(call, generation) }
}

type Accepted = NonNullable<RelayResult["accepted"]>

function chargeForResponse(call: HeldCall, { target, counted, cache }: Accepted, ending: Ending): Charge {
  const { meter } = call
  meter.tokens ??= toTokens(counted?.())
  const charge = chargeOf(call, target, ending === "complete")
  // Nothing was sent to a provider.
  return cache === "hit" ? { ...NO_CHARGE, tokens: charge.tokens, tokensFrom: charge.tokensFrom } : charge
}

/** Free, unless a provider had started to generate when the client disconnected: its work is then estimated. */
function chargeWithoutResponse(call: HeldCall, result: RelayResult): Charge {
  const target = chargedTarget(result)
  return target ? chargeOf(call, target, false) : NO_CHARGE
}

/** The target that served the call, or had started to when the client disconnected. */
function chargedTarget({ accepted, ending, reached }: RelayResult): Target | undefined {
  if (accepted) return accepted.target
  return ending === "cancelled" ? reached : undefined
}

function chargeOf(call: HeldCall, target: Target, isComplete: boolean): Charge {
  const heldNano = call.chargeLimitOf(target)
  return chargeFor(call.meter, { target, bounds: call.request.bounds, heldNano, isComplete })
}

function toGeneration(call: HeldCall, result: RelayResult, charge: Charge): Generation {
  const { draft, meter } = call
  const { accepted, ending, status, attempts } = result
  const target = chargedTarget(result)
  return {
    model: target?.model.id ?? draft.requestedModel,
    provider: target?.provider.name ?? attempts.at(-1)?.provider ?? null,
    // A stored response has the id of the call that it was stored for.
    upstreamId: accepted && accepted.cache !== "hit" ? meter.id : null,
    tokens: charge.tokens,
    tokensFrom: charge.tokensFrom,
    costNano: charge.costNano,
    byokCostNano: charge.byok?.costNano ?? 0,
    finishReason: !accepted || ending === "cancelled" ? null : ending === "complete" ? meter.finishReason : "error",
    ending,
    status,
    latencyMs: accepted ? accepted.respondedAt - draft.createdAt : null,
    generationMs: accepted ? Date.now() - accepted.respondedAt : null,
    serviceTier: accepted ? meter.serviceTier : null,
    attempts,
    ...draft,
    isByok: charge.byok !== null,
    ...(target && { providerSlug: target.provider.slug }),
    ...(charge.overrunNano > 0 && { overrunNano: charge.overrunNano }),
    ...(meter.nativeFinishReason !== null && { nativeFinishReason: meter.nativeFinishReason }),
    ...storyOf(call, result, charge),
  }
}

function storyOf(call: HeldCall, result: RelayResult, { tokens }: Charge): CallStory {
  const { heldNano, request, meter } = call
  const { accepted, error, ending } = result
  const limits = call.limitsAt(chargedTarget(result))
  const findings = request.screening ? toFindings(request.screening.stages()) : []
  const reason = error?.metadata?.reason
  return {
    heldNano,
    ...(limits.length > 0 && { limits }),
    ...(accepted && {
      pricing: callPrices(meter, { target: accepted.target, bounds: request.bounds }, tokens.prompt),
    }),
    ...(error && ending !== "cancelled" && { error: { ...toFailure(error), ...(reason !== undefined && { reason }) } }),
    ...(findings.length > 0 && { guardrails: findings }),
  }
}

/** Records latency and speed. A document has no first token, so all of its time counts as generation. */
function updateEndpointHealth(
  { meter, draft, deps }: HeldCall,
  { target, respondedAt }: Accepted,
  attempts: readonly Attempt[],
  ...[{ tokens }, ending]: [charge: Charge, ending: Ending]
): void {
  const key = targetKey(target)
  const firstTokenMs = attempts.at(-1)?.latencyMs ?? 0
  const seconds = Math.max(1, draft.streamed ? Date.now() - respondedAt : firstTokenMs) / 1_000
  deps.health.measured(key, {
    at: Date.now(),
    latencyMs: draft.streamed ? firstTokenMs : null,
    tokensPerSecond: tokens.completion > 0 ? tokens.completion / seconds : null,
    completion: ending === "complete" ? tokens.completion : null,
    isGood: ending === "complete",
  })
  if (meter.signature !== null) deps.health.signed(meter.signature, key)
}

function record(call: HeldCall, generation: Generation): Promise<void> {
  call.heartbeat.stop()
  logContent(call)
  call.deps.logCall(generation)
  call.deps.recordMetric?.(generation)
  const { deps, meter, request } = call
  return recordGeneration(deps, generation, () => textOf(meter, request))
}

function textOf({ transcript: output }: HeldCall["meter"], request: HeldCall["request"]): CallText | undefined {
  const { messages } = request
  return output && messages ? { messages, output, tools: request.exported?.().tools ?? [] } : undefined
}

/** Saves the text apart from the settlement, so that a storage error cannot delay or prevent the charge. */
function logContent({ deps, meter, request, draft }: HeldCall): void {
  const { transcript } = meter
  const { messages } = request
  if (!transcript || !messages || !deps.contents?.keeps(draft.id)) return
  const { organizationId, workspaceId } = draft
  const saved = deps.contents.put(draft, { organizationId, workspaceId, messages: [...messages], output: transcript })
  deps.waitUntil(saved.catch((cause: unknown) => logError("call content was not saved", logFieldsOf(draft), cause)))
}
