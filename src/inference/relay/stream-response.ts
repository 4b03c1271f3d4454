import { logError } from "../../support/log.ts"
import { wait } from "../../support/time.ts"
import type { Attempt } from "../../formats/attempt.ts"
import type { Outcome } from "../dispatch.ts"
import { type Call, namesOf, settleAnswer, settleRefusal, toAnswering, toFailure } from "../call.ts"
import { defaultsOf } from "../endpoints/chat/encoder.ts"
import { newReading } from "../../formats/chat/meter.ts"
import { streamHeaders, timingHeaders } from "../headers.ts"
import { targetKey } from "../../routing/target.ts"
import type { Charge } from "../../formats/cost-fields.ts"
import { concat } from "../../support/bytes.ts"
import type { Ended, Passage } from "./relay.ts"
import { passNative } from "./native.ts"
import { passScripted } from "./stream.ts"

/**
 * An answer as server-sent events. The status waits for the first content, so that a provider that fails at once is an
 * HTTP error or another provider's turn; but not for long, since a silent connection is cut on the way, and only a write
 * shows that the caller has left.
 */
export async function serveStream(call: Call, asked: Promise<Outcome>): Promise<Response> {
  const early = await Promise.race([asked, wait(call.world.timers.earlyCommitMs)])
  if (early && !early.ok) {
    const error = toFailure(call, early.refusals, early.attempts)
    call.world.later(
      settleRefusal(
        call,
        early.attempts,
        call.asking.signal.aborted ? "cancelled" : "refused",
        error.status,
        early.reached,
      ).settled,
    )
    throw error
  }
  const channel = new IdentityTransformStream()
  const work = early ? carry(call, early, channel.writable) : carryLate(call, asked, channel.writable)
  call.world.later(
    work.catch(async (cause) => {
      // A bug: the caller sees a broken stream, and the ledger's alarm settles the hold.
      logError("a stream failed", namesOf(call.draft), cause)
      await channel.writable.abort(cause)
    }),
  )
  return new Response(channel.readable, {
    headers: { ...streamHeaders(call.draft.id), ...timingHeaders(call.arrival, early?.attempts ?? []) },
  })
}

/** 200 is out, no content is there: comments until there is, and an error chunk if there never will be. */
async function carryLate(call: Call, asked: Promise<Outcome>, writable: WritableStream<Uint8Array>): Promise<void> {
  const outcome = await keepAlive(call, asked, writable)
  if (outcome.ok) return carry(call, outcome, writable)

  const left = call.asking.signal.aborted
  const error = toFailure(call, outcome.refusals, outcome.attempts)
  const ending = left ? "cancelled" : "refused"
  const { settled } = settleRefusal(call, outcome.attempts, ending, error.status, outcome.reached)
  call.world.later(settled)
  await writeLast(writable, left ? [] : call.dialect.failure(error, routingOf(call, outcome.attempts)))
  await settled
}

async function keepAlive(call: Call, asked: Promise<Outcome>, writable: WritableStream<Uint8Array>): Promise<Outcome> {
  const writer = writable.getWriter()
  try {
    for (;;) {
      await writer.write(concat(call.dialect.silence())).catch(() => call.asking.abort())
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
  const { dialect, world, reading } = call
  const filter = call.intake.screening?.readsAnswers ? call.intake.screening.answerFilter() : undefined
  const told = filter && reading.words ? { ...newReading(), words: reading.words } : undefined
  if (told) reading.words = null
  const passage: Passage = {
    opening: accepted.opening,
    writable,
    dialect,
    answering: toAnswering(accepted, attempts),
    provider: accepted.provider,
    defaults: defaultsOf(call),
    timers: world.timers,
    leaving: world.signal,
    reading,
    filter,
    told,
  }
  // Streams of calls go wrong in ways of their own, and so earn a trust of their own.
  const trust = call.intake.routing["tools"] == null ? key : `${key} tools`
  // A frame that passes unseen could quote the key it was asked with, and that one is the caller's organization's.
  const isSecret = accepted.target.own !== undefined
  const isNative =
    !filter &&
    !isSecret &&
    dialect.passesNative &&
    accepted.isOwn &&
    accepted.opening.body !== null &&
    reading.words === null &&
    health.trustsStreams(trust)
  const ended = await (isNative ? passNative(passage) : passScripted(passage))
  // What the caller's guardrail stopped says nothing of the endpoint.
  if (ended.ending !== "cancelled" && !filter?.isBlocked) health.streamed(trust, ended.clean)

  if (told) reading.words = told.words
  // Charged before `[DONE]` goes out: a caller who asks for the receipt right after finds it.
  const { charge, settled } = settleAnswer(call, accepted, attempts, ended.ending, ended.error?.status ?? 200)
  call.world.later(settled)
  await writeLast(writable, lastFrames(call, ended, charge, isNative, attempts))
  await settled
}

/** How the call was routed, for whoever asked to be told. */
function routingOf(call: Call, attempts: readonly Attempt[]): Record<string, unknown> {
  return call.arrival.wantsMetadata ? call.metadata(attempts) : {}
}

/** What is still to be said once the provider has said all. The native lane has passed `[DONE]` on already. */
function lastFrames(
  call: Call,
  ended: Ended,
  charge: Charge,
  isNative: boolean,
  attempts: readonly Attempt[],
): Uint8Array[] {
  const { dialect, reading } = call
  if (ended.ending === "cancelled") return []
  const boundary = ended.atBoundary ? [] : [new TextEncoder().encode("\n\n")]
  if (ended.error) return [...boundary, ...dialect.failure(ended.error, routingOf(call, attempts))]
  return isNative && reading.done ? [] : [...boundary, ...dialect.end(charge)]
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
