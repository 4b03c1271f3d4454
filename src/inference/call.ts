import { costOf, NO_TOKENS } from "../money/money.ts"
import { asGatewayError, GatewayError } from "../errors/errors.ts"
import type { Ending, Generation, GenerationDraft } from "../ledger/generation.ts"
import type { Attempt } from "../formats/attempt.ts"
import type { Refusal } from "../providers/refusal.ts"
import { logError } from "../support/log.ts"
import type { Accepted } from "./dispatch.ts"
import { estimateDelivered, newReading, toTokens } from "../formats/chat/meter.ts"
import { answerHeaders } from "./headers.ts"
import type { Answering, Dialect } from "../formats/encoder.ts"
import type { CallState } from "./inference-request.ts"
import { routingMetadata } from "../routing/metadata.ts"
import { type Target, targetKey } from "../routing/target.ts"
import { chargeFor, NO_CHARGE } from "./charge.ts"
import { type Charge } from "../formats/cost-fields.ts"

/** One call under way: what both ways of answering it share. */
export type Call = CallState & {
  dialect: Dialect
  /** Ends the signs of life for the hold. */
  letGo: () => void
}

export function newCall(facts: Omit<CallState, "reading" | "answering" | "asking" | "metadata">): Call {
  const state: CallState = {
    ...facts,
    reading: newReading(),
    answering: undefined,
    asking: new AbortController(),
    metadata: (attempts) => routingMetadata(state, attempts),
  }
  const { signal } = facts.world
  if (facts.intake.messages && isKept(facts)) state.reading.words = { content: "", reasoning: "" }
  if (signal.aborted) state.asking.abort()
  else signal.addEventListener("abort", () => state.asking.abort(), { once: true })
  return Object.assign(state, { dialect: facts.intake.dialectOf(state), letGo: keepHold(state) })
}

/** Whether somebody will want to know what was said. */
function isKept({ world, draft }: Pick<CallState, "world" | "draft">): boolean {
  return world.contents?.keeps(draft.id) === true || draft.broadcast?.hasContent === true
}

/** Tells the ledger what the call has cost so far, for as long as it runs. Returns how to stop. */
function keepHold(call: CallState): () => void {
  const { ledger, timers } = call.world
  const estimate = () => {
    const tokens = { ...NO_TOKENS, prompt: call.draft.promptEstimate, completion: estimateDelivered(call.reading) }
    const { answering } = call
    // Should the isolate die, the account is charged this: nothing, where it is not its key that is used.
    const isFree = answering?.own && !call.draft.isByok
    return isFree ? 0 : answering ? costOf(tokens, answering.endpoint.pricing) : call.estimateNano
  }
  return ledger.track(call.draft.id, estimate, timers.holdTtlMs)
}

/** By what a log line can be found, whoever looks for it. */
export function namesOf({ id, requestId }: Pick<GenerationDraft, "id" | "requestId">) {
  return { requestId, generation: id }
}

export function toAnswering({ target, wire, upstreamBody }: Accepted, attempts: readonly Attempt[]): Answering {
  return { provider: target.provider.name, model: target.model.id, wire, attempts, upstreamBody }
}

export type Receipt = { charge: Charge; settled: Promise<void> }

/** The receipt of a call that was answered, in whole or in part. Charging it is under way when this returns. */
export function settleAnswer(
  call: Call,
  accepted: Accepted,
  attempts: readonly Attempt[],
  ending: Ending,
  status: number,
): Receipt {
  const { reading, draft } = call
  const { target, answeredAt, counted } = accepted
  reading.tokens ??= toTokens(counted?.())
  const charge = chargeFor(reading, target, call.intake.bounds, call.chargeLimitOf(target), ending === "complete")
  // A guardrail's refusal is not the endpoint's fault: theirs are never 403.
  if (ending !== "cancelled" && status !== 403) learn(call, target, attempts, charge, ending, Date.now() - answeredAt)
  const settled = record(call, {
    ...draft,
    model: target.model.id,
    provider: target.provider.name,
    upstreamId: reading.id,
    isByok: charge.byok !== null,
    tokens: charge.tokens,
    tokensFrom: charge.tokensFrom,
    costNano: charge.costNano,
    byokCostNano: charge.byok?.costNano ?? 0,
    ...(charge.overrunNano > 0 && { overrunNano: charge.overrunNano }),
    finishReason: ending === "complete" ? reading.finishReason : ending === "cancelled" ? null : "error",
    ending,
    status,
    latencyMs: answeredAt - draft.createdAt,
    generationMs: Date.now() - answeredAt,
    serviceTier: reading.serviceTier,
    attempts,
  })
  return { charge, settled }
}

/** What this answer showed of its endpoint. A whole answer shows no first content, and its time is all generation. */
function learn(
  { reading, draft, world }: Call,
  target: Target,
  attempts: readonly Attempt[],
  { tokens }: Charge,
  ending: Ending,
  streamedMs: number,
): void {
  const key = targetKey(target)
  const askedMs = attempts.at(-1)?.latencyMs ?? 0
  const seconds = Math.max(1, draft.streamed ? streamedMs : askedMs) / 1_000
  world.health.measured(key, {
    at: Date.now(),
    latencyMs: draft.streamed ? askedMs : null,
    tokensPerSecond: tokens.completion > 0 ? tokens.completion / seconds : null,
    completion: ending === "complete" ? tokens.completion : null,
    isGood: ending === "complete",
  })
  if (reading.signature !== null) world.health.signed(reading.signature, key)
}

/** The receipt of a call that no provider answered: free, unless one had begun to work when the caller left. */
export function settleRefusal(
  call: Call,
  attempts: readonly Attempt[],
  ending: "refused" | "cancelled",
  status: number,
  reached: boolean,
): Receipt {
  const { draft } = call
  const [target] = call.targets
  const worked = ending === "cancelled" && reached && target
  const charge = worked
    ? chargeFor(call.reading, target, call.intake.bounds, call.chargeLimitOf(target), false)
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
  call.letGo()
  keepContent(call)
  call.world.measure?.(generation)
  try {
    await call.world.ledger.settle(generation)
  } catch (cause) {
    logError("a generation was not settled; its hold will be", namesOf(generation), cause)
  }
}

/** Beside the charge, not before it: what cannot be kept costs nobody anything. */
function keepContent({ world, reading, intake, draft }: Call): void {
  const { words: output } = reading
  const { messages } = intake
  if (!output || !messages) return
  const { id, organizationId, workspaceId } = draft
  const keep = (kept: Promise<void>) =>
    world.later(kept.catch((cause: unknown) => logError("a call's content was not kept", namesOf(draft), cause)))
  if (world.contents?.keeps(id)) {
    keep(world.contents.put(draft, { organizationId, workspaceId, messages: [...messages], output }))
  }
  if (world.tell && draft.broadcast?.hasContent) keep(world.tell(id, messages, output))
}

/** What the caller is told when every target refused. */
export function toFailure(call: Call, refusals: readonly Refusal[], attempts: readonly Attempt[]): GatewayError {
  const told = refusals.find((refusal) => !refusal.retryable) ?? refusals.at(-1)
  if (!told) return asGatewayError(new Error("A call ended without an answer or a refusal."))
  const hints = refusals.map((refusal) => refusal.retryAfterMs)
  const hint = hints.every((ms) => ms !== null) ? Math.min(...hints) : undefined
  return new GatewayError(told.code, told.message, {
    metadata: { ...(told.providerCode !== null && { provider_code: told.providerCode }), provider_name: told.provider },
    ...(call.arrival.wantsMetadata && { beside: call.metadata(attempts) }),
    headers: {
      ...answerHeaders(call.draft.id),
      ...(hint !== undefined && { "retry-after": String(Math.ceil(hint / 1_000)) }),
    },
  })
}
