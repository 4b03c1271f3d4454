import { relayVerdict, type StopReason } from "./verdict.ts"
import { newMeter, type ResponseMeter } from "../../formats/chat/meter.ts"
import { concat } from "../../support/bytes.ts"
import { FrameSplitter } from "../../formats/sse/frames.ts"
import type { ResponseReader } from "../../formats/readers/reader.ts"
import { type RelayEnd, type StreamRelay } from "./stream-relay.ts"
import { readFrame } from "../../formats/sse/read-frame.ts"
import { streamHeadBytes } from "../../formats/sse/stream-head.ts"

/** How often the copy of a running stream is emptied and looked at: the bound on what it holds, and on noticing a stall. */
const MAX_GLANCE_MS = 2_500
const READ_BYTES = 64 * 1024
/** The usage, the finish reason and `[DONE]` stand in the last frames: enough of them to find all three. */
const TAIL_BYTES = 8 * 1024
/** A read of what the copy already holds settles at once; waiting longer means that there is nothing. */
const GLANCE_WAIT_MS = 5
/** The same once the pump has broken: here taking a slow read for an open stream would take a cut for a departure. */
const LAST_WAIT_MS = 200

/**
 * The lane that touches no chunk: the platform pumps the bytes, and the gateway reads a copy of them, at the end and
 * now and then before. Any script in the path of every chunk costs several times what moving the chunk costs.
 *
 * For endpoints whose streams have proven to need nothing. What it gives up: it cannot repair a frame, write a comment
 * into a silence, or take back the half of an event that a provider cut.
 */
export async function passNative(relay: StreamRelay): Promise<RelayEnd> {
  const { head, timers, meter } = relay
  if (!head.body) throw new Error("The native lane needs a stream to pass.")
  const [through, aside] = head.body.tee()
  const copy = new Copy(aside, meter, relay.servingInfo.reader)
  copy.take(streamHeadBytes(head))

  const halt = new AbortController()
  const pump = pumpInto(relay.writable, streamHeadBytes(head), through, halt.signal)
  const stop = await watch(pump, copy, timers)
  if (stop === "stalled" || stop === "timeout") halt.abort()
  await pump
  const rest = await copy.finish(stop === "ended")
  // A pump breaks on either side. If the copy has neither ended nor failed, it was the caller's.
  const left = relay.clientSignal.aborted || stop === "left" || (stop === "broken" && rest === "open")
  const verdict = relayVerdict(left ? "left" : stop, meter, relay.provider)
  return { ...verdict, clean: verdict.ending === "complete" && meter.done, atBoundary: copy.atBoundary }
}

/** Moves the bytes. Settles when they have all gone, or cannot go on; never rejects. */
async function pumpInto(
  writable: WritableStream<Uint8Array>,
  first: Uint8Array,
  through: ReadableStream<Uint8Array>,
  halt: AbortSignal,
): Promise<StopReason> {
  const writer = writable.getWriter()
  try {
    await writer.write(first)
  } catch {
    void through.cancel().catch(() => undefined)
    return "left"
  } finally {
    writer.releaseLock()
  }
  try {
    // Neither end of the pump ends the answer: the last word is still to be written.
    await through.pipeTo(writable, { preventClose: true, preventAbort: true, signal: halt })
    return "ended"
  } catch {
    return "broken"
  }
}

/** Waits for the pump, with a glance at the copy now and then: for its size, and for a provider that fell silent. */
async function watch(pump: Promise<StopReason>, copy: Copy, timers: StreamRelay["timers"]): Promise<StopReason> {
  const startedAt = Date.now()
  const glanceMs = Math.max(10, Math.min(MAX_GLANCE_MS, timers.idleMs / 2))
  for (;;) {
    const alarm = timer(glanceMs)
    const stop = await Promise.race([pump, alarm.fired])
    alarm.clear()
    if (stop !== undefined) return stop
    await copy.glance()
    const now = Date.now()
    if (now - copy.lastArrivalAt >= timers.idleMs) return "stalled"
    if (now - startedAt >= timers.totalMs) return "timeout"
  }
}

function timer(ms: number): { fired: Promise<undefined>; clear: () => void } {
  let fire = () => {}
  const fired = new Promise<undefined>((resolve) => (fire = () => resolve(undefined)))
  const id = setTimeout(fire, ms)
  return { fired, clear: () => clearTimeout(id) }
}

/** The side of the tee that the gateway reads. */
class Copy {
  readonly #reader: ReadableStreamBYOBReader
  readonly #reading: ResponseMeter
  readonly #wire: ResponseReader
  readonly #splitter = new FrameSplitter()
  #pending: Promise<ReadableStreamReadResult<Uint8Array> | "failed"> | undefined
  lastArrivalAt = Date.now()

  constructor(stream: ReadableStream<Uint8Array>, meter: ResponseMeter, reader: ResponseReader) {
    this.#reader = stream.getReader({ mode: "byob" })
    this.#reading = meter
    this.#wire = reader
  }

  get atBoundary(): boolean {
    return this.#splitter.rest.byteLength === 0
  }

  take(bytes: Uint8Array): void {
    for (const frame of this.#splitter.push(bytes)) readFrame(frame, this.#reading, this.#wire)
  }

  /** Empty what the copy holds. */
  async glance(): Promise<void> {
    for (;;) {
      const result = await this.#read(GLANCE_WAIT_MS)
      if (result === "open" || result === "failed" || result.done) return
      this.take(result.value)
    }
  }

  /**
   * Read the rest, and let go. "open": the provider was still sending, so its stream is cancelled.
   * After a pump that ended, the copy ends too; after one that broke, only what the copy holds already is waited for.
   */
  async finish(wasEnded: boolean): Promise<"ended" | "failed" | "open"> {
    const rest: Uint8Array[] = []
    for (;;) {
      const result = await this.#read(wasEnded ? undefined : LAST_WAIT_MS)
      if (result === "open" || result === "failed" || result.done) {
        this.#takeLast(concat(rest), wasEnded)
        if (result === "open") void this.#reader.cancel().catch(() => undefined)
        return result === "open" || result === "failed" ? result : "ended"
      }
      rest.push(result.value)
    }
  }

  /** Of a stream that ended well only the tail matters; of any other, every piece that was delivered. */
  #takeLast(bytes: Uint8Array, wasEnded: boolean): void {
    if (bytes.byteLength === 0) return
    if (wasEnded && this.atBoundary && bytes.byteLength > 2 * TAIL_BYTES) {
      const tail = new FrameSplitter()
      const found: ResponseMeter = { ...newMeter() }
      // What precedes the first boundary is half a frame.
      const frames = tail.push(bytes.subarray(-TAIL_BYTES)).slice(1)
      for (const frame of frames) readFrame(frame, found, this.#wire)
      if (found.done && found.tokens && found.finishReason !== null && !found.error) {
        const { done, tokens, finishReason, serviceTier } = found
        Object.assign(this.#reading, {
          done,
          tokens,
          finishReason,
          serviceTier: serviceTier ?? this.#reading.serviceTier,
        })
        return
      }
    }
    this.take(bytes)
  }

  async #read(waitMs: number | undefined): Promise<ReadableStreamReadResult<Uint8Array> | "failed" | "open"> {
    this.#pending ??= this.#reader.read(new Uint8Array(READ_BYTES)).catch(() => "failed" as const)
    const wait = waitMs === undefined ? undefined : timer(waitMs)
    const result = await (wait ? Promise.race([this.#pending, wait.fired]) : this.#pending)
    wait?.clear()
    if (result === undefined) return "open"
    this.#pending = undefined
    if (result !== "failed" && !result.done) this.lastArrivalAt = Date.now()
    return result
  }
}
