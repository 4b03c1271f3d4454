import { logError } from "../../support/log.ts"
import { wait } from "../../support/time.ts"
import type { Attempt } from "../../formats/attempt.ts"
import type { DispatchResult } from "../dispatch.ts"
import { type Call, logFieldsOf, settle, settleRejection, toServingInfo, failureResponse } from "../call.ts"
import { defaultsOf } from "../endpoints/chat/encoder.ts"
import { newMeter } from "../../formats/chat/meter.ts"
import { streamHeaders, timingHeaders } from "../headers.ts"
import { targetKey } from "../../routing/target.ts"
import type { Charge } from "../../formats/cost-fields.ts"
import { concat } from "../../support/bytes.ts"
import type { RelayEnd, StreamRelay } from "./relay.ts"
import { passNative } from "./native.ts"
import { relayFrames } from "./stream.ts"

/**
 * An answer as server-sent events. The status waits for the first content, so that a provider that fails at once is an
 * HTTP error or another provider's turn; but not for long, since a silent connection is cut on the way, and only a write
 * shows that the caller has left.
 */
export async function streamResponse(call: Call, asked: Promise<DispatchResult>): Promise<Response> {
  const early = await Promise.race([asked, wait(call.deps.timers.earlyCommitMs)])
  if (early && !early.ok) {
    const error = failureResponse(call, early.rejections, early.attempts)
    call.deps.waitUntil(
      settleRejection(
        call,
        early.attempts,
        call.dispatchAbort.signal.aborted ? "cancelled" : "refused",
        error.status,
        early.wasReached,
      ).settled,
    )
    throw error
  }
  const channel = new IdentityTransformStream()
  const work = early ? relayStream(call, early, channel.writable) : relayAfterEarlyCommit(call, asked, channel.writable)
  call.deps.waitUntil(
    work.catch(async (cause) => {
      // A bug: the caller sees a broken stream, and the ledger's alarm settles the hold.
      logError("a stream failed", logFieldsOf(call.draft), cause)
      await channel.writable.abort(cause)
    }),
  )
  return new Response(channel.readable, {
    headers: { ...streamHeaders(call.draft.id), ...timingHeaders(call.meta, early?.attempts ?? []) },
  })
}

/** 200 is out, no content is there: comments until there is, and an error chunk if there never will be. */
async function relayAfterEarlyCommit(
  call: Call,
  asked: Promise<DispatchResult>,
  writable: WritableStream<Uint8Array>,
): Promise<void> {
  const outcome = await keepAlive(call, asked, writable)
  if (outcome.ok) return relayStream(call, outcome, writable)

  const left = call.dispatchAbort.signal.aborted
  const error = failureResponse(call, outcome.rejections, outcome.attempts)
  const ending = left ? "cancelled" : "refused"
  const { settled } = settleRejection(call, outcome.attempts, ending, error.status, outcome.wasReached)
  call.deps.waitUntil(settled)
  await writeFinalFrames(writable, left ? [] : call.encoder.failure(error, routingOf(call, outcome.attempts)))
  await settled
}

async function keepAlive(
  call: Call,
  asked: Promise<DispatchResult>,
  writable: WritableStream<Uint8Array>,
): Promise<DispatchResult> {
  const writer = writable.getWriter()
  try {
    for (;;) {
      await writer.write(concat(call.encoder.heartbeat())).catch(() => call.dispatchAbort.abort())
      const outcome = await Promise.race([asked, wait(call.deps.timers.keepaliveMs)])
      if (outcome) return outcome
    }
  } finally {
    writer.releaseLock()
  }
}

type Answered = Extract<DispatchResult, { ok: true }>

async function relayStream(call: Call, outcome: Answered, writable: WritableStream<Uint8Array>): Promise<void> {
  const { accepted, attempts } = outcome
  if (accepted.kind !== "stream") throw new Error("A stream was asked for.")
  call.servingTarget = accepted.target
  const { health } = call.deps
  const key = targetKey(accepted.target)
  const { encoder, deps, meter } = call
  const filter = call.request.screening?.readsAnswers ? call.request.screening.answerFilter() : undefined
  const told = filter && meter.transcript ? { ...newMeter(), words: meter.transcript } : undefined
  if (told) meter.transcript = null
  const relay: StreamRelay = {
    head: accepted.head,
    writable,
    encoder,
    servingInfo: toServingInfo(accepted, attempts),
    provider: accepted.provider,
    defaults: defaultsOf(call),
    timers: deps.timers,
    clientSignal: deps.signal,
    meter,
    filter,
    filtered: told,
  }
  // Streams of calls go wrong in ways of their own, and so earn a trust of their own.
  const trust = call.request.routing["tools"] == null ? key : `${key} tools`
  // A frame that passes unseen could quote the key it was asked with, and that one is the caller's organization's.
  const isSecret = accepted.target.byok !== undefined
  const isNative =
    !filter &&
    !isSecret &&
    encoder.passesNative &&
    accepted.isOwn &&
    accepted.head.body !== null &&
    meter.transcript === null &&
    health.trustsStreams(trust)
  const ended = await (isNative ? passNative(relay) : relayFrames(relay))
  // What the caller's guardrail stopped says nothing of the endpoint.
  if (ended.ending !== "cancelled" && !filter?.isBlocked) health.streamed(trust, ended.clean)

  if (told) meter.transcript = told.words
  // Charged before `[DONE]` goes out: a caller who asks for the receipt right after finds it.
  const { charge, settled } = settle(call, accepted, attempts, ended.ending, ended.error?.status ?? 200)
  call.deps.waitUntil(settled)
  await writeFinalFrames(writable, lastFrames(call, ended, charge, isNative, attempts))
  await settled
}

/** How the call was routed, for whoever asked to be told. */
function routingOf(call: Call, attempts: readonly Attempt[]): Record<string, unknown> {
  return call.meta.wantsMetadata ? call.metadata(attempts) : {}
}

/** What is still to be said once the provider has said all. The native lane has passed `[DONE]` on already. */
function lastFrames(
  call: Call,
  ended: RelayEnd,
  charge: Charge,
  isNative: boolean,
  attempts: readonly Attempt[],
): Uint8Array[] {
  const { encoder, meter } = call
  if (ended.ending === "cancelled") return []
  const boundary = ended.atBoundary ? [] : [new TextEncoder().encode("\n\n")]
  if (ended.error) return [...boundary, ...encoder.failure(ended.error, routingOf(call, attempts))]
  return isNative && meter.done ? [] : [...boundary, ...encoder.end(charge)]
}

/** A caller who has left is told nothing, and nothing that goes wrong here may reach the settlement. */
async function writeFinalFrames(writable: WritableStream<Uint8Array>, frames: readonly Uint8Array[]): Promise<void> {
  try {
    const writer = writable.getWriter()
    if (frames.length > 0) await writer.write(concat(frames))
    await writer.close()
  } catch {
    await writable.abort().catch(() => undefined)
  }
}
