import type { Charge } from "../../formats/usage.ts"
import { newMeter } from "../../formats/chat/meter.ts"
import { concat } from "../../support/bytes.ts"
import { logError } from "../../support/log.ts"
import type { Target } from "../../routing/target.ts"
import { valueOrTimeout } from "../../support/time/time.ts"
import { type HeldCall, logFieldsOf, requestedMetadata } from "../call.ts"
import type { DispatchResult } from "../dispatch.ts"
import { defaultsOf } from "../endpoints/chat/encoder.ts"
import { cacheHeaders, streamHeaders, timingHeaders, toServingInfo } from "../reply.ts"
import { dispatchError, rejectedResult } from "./failure.ts"
import type { RelayJob, Reply } from "./job.ts"
import { relayFrames } from "./stream.ts"
import type { RelayEnd, StreamRelay } from "./stream-relay.ts"

type Opened = { result: Response; finished: Promise<unknown> } | { error: Error; finished: Promise<unknown> }

/**
 * A response as server-sent events. The status is sent with the first content, so that an early failure of a provider
 * can fail over or become an HTTP error; but after `earlyCommitMs` at the latest, since proxies close idle connections,
 * and a client disconnect shows only on a write.
 */
export function relayEvents(job: RelayJob): Reply {
  const work = open(job)
  return {
    response: work.then((opened) => {
      if ("error" in opened) throw opened.error
      return opened.result
    }),
    finished: work.then(({ finished }) => finished).catch(() => undefined),
  }
}

async function open(job: RelayJob): Promise<Opened> {
  const { call, upstream, settle } = job
  const early = await valueOrTimeout(upstream, call.deps.timers.earlyCommitMs)
  if (early && !early.ok) {
    const error = dispatchError(call, early.rejections, early.attempts)
    return { error, finished: settle(rejectedResult(call, early, error)).recorded }
  }
  const channel = new IdentityTransformStream()
  const work = early ? relayAccepted(job, early, channel.writable) : relayAfterEarlyCommit(job, channel.writable)
  const result = new Response(channel.readable, {
    headers: {
      ...streamHeaders(call.draft.id, call.encoder),
      ...cacheHeaders(early?.attempts ?? []),
      ...timingHeaders(call.meta, early?.attempts ?? []),
    },
  })
  const finished = work.catch(async (cause: unknown) => {
    // A bug: the client receives a broken stream, and the ledger's alarm settles the hold.
    logError("stream relay failed", logFieldsOf(call.draft), cause)
    await channel.writable.abort(cause)
  })
  return { result, finished }
}

/** Sends 200 before there is content: then heartbeats until there is, or an error event if every target fails. */
async function relayAfterEarlyCommit(job: RelayJob, writable: WritableStream<Uint8Array>): Promise<void> {
  const { call, settle } = job
  const result = await waitWithHeartbeats(job, writable)
  if (result.ok) return relayAccepted(job, result, writable)
  const error = dispatchError(call, result.rejections, result.attempts)
  const ended = rejectedResult(call, result, error)
  const { recorded } = settle(ended)
  const metadata = requestedMetadata(call, result.attempts)
  await writeFinalFrames(writable, ended.ending === "cancelled" ? [] : call.encoder.failure(error, metadata))
  await recorded
}

async function waitWithHeartbeats(
  { call, upstream }: RelayJob,
  writable: WritableStream<Uint8Array>,
): Promise<DispatchResult> {
  const writer = writable.getWriter()
  try {
    for (;;) {
      await writer.write(concat(call.encoder.heartbeat())).catch(() => call.dispatchAbort.abort())
      const result = await valueOrTimeout(upstream, call.deps.timers.keepaliveMs)
      if (result) return result
    }
  } finally {
    writer.releaseLock()
  }
}

/** More than any token has: the longest are runs of spaces. */
const MAX_UNITS_PER_TOKEN = 64
/** Far more than any model generates in one response. */
const MIN_UNITS = 64_000_000

/** A provider that exceeds the output limit by far, for example by an endless stream, is stopped. */
function maxUnitsOf({ request: { bounds } }: HeldCall, target: Target): number {
  return Math.max(MIN_UNITS, bounds.completionBound(target) * bounds.choices * MAX_UNITS_PER_TOKEN)
}

type Accepted = Extract<DispatchResult, { ok: true }>

async function relayAccepted(
  { call, filter, settle }: RelayJob,
  { accepted, attempts, reached }: Accepted,
  writable: WritableStream<Uint8Array>,
): Promise<void> {
  if (accepted.kind !== "stream") throw new Error("The accepted response is not a stream.")
  call.servingTarget = accepted.target
  call.heartbeat.start()
  const { meter, deps } = call
  const streamFilter = filter?.newStreamFilter()
  // Content logging stores the text after the guardrails.
  const filtered = streamFilter && meter.transcript ? { ...newMeter(), transcript: meter.transcript } : undefined
  if (filtered) meter.transcript = null
  const stream: StreamRelay = {
    head: accepted.head,
    writable,
    encoder: call.encoder,
    servingInfo: toServingInfo(accepted, attempts),
    provider: accepted.provider,
    defaultsOf: () => defaultsOf(call, accepted.upstreamBody),
    timers: deps.timers,
    clientSignal: deps.signal,
    meter,
    maxUnits: maxUnitsOf(call, accepted.target),
    filter: streamFilter,
    filtered,
  }
  const end = await relayFrames(stream)

  if (filtered) meter.transcript = filtered.transcript
  // Settled before `[DONE]`, so that a client that requests the generation right after the stream finds it.
  const status = end.error?.status ?? 200
  const { charge, recorded } = settle({ ending: end.ending, status, attempts, accepted, reached, error: end.error })
  await writeFinalFrames(writable, finalFrames(call, end, { charge, metadata: requestedMetadata(call, attempts) }))
  await recorded
}

type Last = { charge: Charge; metadata: Record<string, unknown> }

function finalFrames({ encoder }: HeldCall, { ending, error }: RelayEnd, { charge, metadata }: Last): Uint8Array[] {
  if (ending === "cancelled") return []
  return error ? encoder.failure(error, metadata, charge) : encoder.end(charge)
}

/** Writes nothing after a client disconnect. Errors are swallowed so that they cannot abort settlement. */
async function writeFinalFrames(writable: WritableStream<Uint8Array>, frames: readonly Uint8Array[]): Promise<void> {
  try {
    const writer = writable.getWriter()
    if (frames.length > 0) await writer.write(concat(frames))
    await writer.close()
  } catch {
    await writable.abort().catch(() => undefined)
  }
}
