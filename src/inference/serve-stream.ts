import { nanoToUsd } from "../credits/money.ts"
import { logError } from "../support/log.ts"
import type { Accepted, Outcome } from "./ask.ts"
import { type Call, settleAnswer, settleRefusal, toFailure } from "./call.ts"
import { failureFrames } from "./chat/failure.ts"
import type { ChunkDefaults } from "./chat/normalise.ts"
import { isObject, toTokens } from "./chat/reading.ts"
import { streamHeaders } from "./headers.ts"
import { routingMetadata } from "./metadata.ts"
import { targetKey } from "./plan.ts"
import { chargeFor } from "./settle.ts"
import { concat, DONE_FRAME, KEEPALIVE_FRAME, toFrame } from "./stream/frames.ts"
import type { Ended, Passage } from "./stream/lane.ts"
import { passNative } from "./stream/native.ts"
import { passScripted } from "./stream/scripted.ts"

/**
 * An answer as server-sent events. The status waits for the first content, so that a provider that fails at once is an
 * HTTP error or another provider's turn; but not for long, since a silent connection is cut on the way, and only a write
 * shows that the caller has left.
 */
export async function serveStream(call: Call, asked: Promise<Outcome>): Promise<Response> {
  const early = await Promise.race([asked, wait(call.world.timers.earlyCommitMs)])
  if (early && !early.ok) {
    const error = toFailure(early.refusals, call.draft.id)
    const { settled } = settleRefusal(call, early.attempts, "refused", error.status, early.reached)
    call.world.later(settled)
    await settled
    throw error
  }
  const channel = new IdentityTransformStream()
  const work = early ? carry(call, early, channel.writable) : carryLate(call, asked, channel.writable)
  call.world.later(
    work.catch(async (cause) => {
      // A bug: the caller sees a broken stream, and the ledger's alarm settles the hold.
      logError("a stream failed", { generation: call.draft.id }, cause)
      await channel.writable.abort(cause)
    }),
  )
  return new Response(channel.readable, { headers: streamHeaders(call.draft.id) })
}

/** 200 is out, no content is there: comments until there is, and an error chunk if there never will be. */
async function carryLate(call: Call, asked: Promise<Outcome>, writable: WritableStream<Uint8Array>): Promise<void> {
  const outcome = await keepAlive(call, asked, writable)
  if (outcome.ok) return carry(call, outcome, writable)

  const left = call.asking.signal.aborted
  const error = toFailure(outcome.refusals, call.draft.id)
  const ending = left ? "cancelled" : "refused"
  const { settled } = settleRefusal(call, outcome.attempts, ending, error.status, outcome.reached)
  call.world.later(settled)
  await writeLast(writable, left ? [] : failureFrames(error, defaultsOf(call, undefined)))
  await settled
}

async function keepAlive(call: Call, asked: Promise<Outcome>, writable: WritableStream<Uint8Array>): Promise<Outcome> {
  const writer = writable.getWriter()
  try {
    for (;;) {
      await writer.write(KEEPALIVE_FRAME).catch(() => call.asking.abort())
      const outcome = await Promise.race([asked, wait(call.world.timers.keepaliveMs)])
      if (outcome) return outcome
    }
  } finally {
    writer.releaseLock()
  }
}

type Answered = Extract<Outcome, { ok: true }>

async function carry(call: Call, outcome: Answered, writable: WritableStream<Uint8Array>): Promise<void> {
  const { accepted, attempts } = outcome
  if (accepted.kind !== "stream") throw new Error("A stream was asked for.")
  call.answering = accepted.target
  const { health } = call.world
  const key = targetKey(accepted.target)
  const passage = toPassage(call, accepted, writable)
  const isNative = !needsScript(call) && accepted.opening.body !== null && health.trustsStreams(key)
  const ended = await (isNative ? passNative(passage) : passScripted(passage))
  if (ended.ending !== "cancelled") health.streamed(key, ended.clean)

  // Charged before `[DONE]` goes out: a caller who asks for the receipt right after finds it.
  const { settled } = settleAnswer(call, accepted, attempts, ended.ending, ended.error?.status ?? 200)
  call.world.later(settled)
  await writeLast(writable, lastFrames(call, outcome, ended, isNative))
  await settled
}

/** Requests whose stream is changed on the way. */
function needsScript({ request, arrival }: Call): boolean {
  return (
    arrival.wantsMetadata ||
    request.stream_options?.include_usage === false ||
    request.usage?.include === true ||
    request.debug?.echo_upstream_body === true
  )
}

function toPassage(
  call: Call,
  accepted: Extract<Accepted, { kind: "stream" }>,
  writable: WritableStream<Uint8Array>,
): Passage {
  const { request, world } = call
  const defaults = defaultsOf(call, accepted)
  const echo = {
    ...defaults,
    object: "chat.completion.chunk",
    choices: [],
    debug: { echo_upstream_body: accepted.upstreamBody },
  }
  return {
    opening: accepted.opening,
    prelude: request.debug?.echo_upstream_body ? [toFrame(echo)] : [],
    writable,
    defaults,
    provider: accepted.target.provider,
    timers: world.timers,
    leaving: world.signal,
    reading: call.reading,
    edit: (chunk) => editUsage(call, accepted, chunk),
  }
}

/** Usage is sent whether asked for or not; only an explicit no takes it out. Its cost is added where that was asked. */
function editUsage(
  call: Call,
  accepted: Accepted,
  chunk: Record<string, unknown>,
): Record<string, unknown> | undefined {
  if (!isObject(chunk["usage"])) return chunk
  const { request, draft, heldNano } = call
  if (request.stream_options?.include_usage === false) {
    const { usage: _, ...rest } = chunk
    return Array.isArray(rest["choices"]) && rest["choices"].length === 0 ? undefined : rest
  }
  if (!request.usage?.include) return chunk
  const reading = { ...call.reading, tokens: toTokens(chunk["usage"]) }
  const { costNano } = chargeFor(reading, accepted.target.endpoint.pricing, draft.promptEstimate, heldNano)
  return { ...chunk, usage: { ...chunk["usage"], cost: nanoToUsd(costNano), is_byok: false } }
}

function defaultsOf(call: Call, accepted: Accepted | undefined): ChunkDefaults {
  const { reading, draft } = call
  return {
    id: reading.id ?? draft.id,
    model: reading.model ?? accepted?.target.model.id ?? draft.requestedModel,
    created: reading.created ?? Math.floor(draft.createdAt / 1_000),
  }
}

/** What is still to be said once the provider has said all. The native lane has passed `[DONE]` on already. */
function lastFrames(call: Call, { accepted, attempts }: Answered, ended: Ended, isNative: boolean): Uint8Array[] {
  if (ended.ending === "cancelled") return []
  const boundary = ended.atBoundary ? [] : [new TextEncoder().encode("\n\n")]
  if (ended.error) return [...boundary, ...failureFrames(ended.error, defaultsOf(call, accepted))]
  if (isNative) return call.reading.done ? [] : [...boundary, DONE_FRAME]
  const metadata = call.arrival.wantsMetadata ? routingMetadata(call, accepted.target, attempts) : undefined
  const chunk = { ...defaultsOf(call, accepted), object: "chat.completion.chunk", choices: [], ...metadata }
  return metadata ? [toFrame(chunk), DONE_FRAME] : [DONE_FRAME]
}

/** A caller who has left is told nothing, and nothing that goes wrong here may reach the settlement. */
async function writeLast(writable: WritableStream<Uint8Array>, frames: readonly Uint8Array[]): Promise<void> {
  try {
    const writer = writable.getWriter()
    if (frames.length > 0) await writer.write(concat(frames))
    await writer.close()
  } catch {
    await writable.abort().catch(() => undefined)
  }
}

function wait(ms: number): Promise<undefined> {
  return new Promise((resolve) => setTimeout(() => resolve(undefined), ms))
}
