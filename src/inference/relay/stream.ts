import { relayVerdict, type StopReason } from "./verdict.ts"
import { FrameWriter } from "../../formats/sse/frame-writer.ts"
import { FrameSplitter } from "../../formats/sse/frames.ts"
import type { Timers } from "../../config/timers.ts"
import { type RelayEnd, type StreamRelay } from "./stream-relay.ts"
import { readFrame } from "../../formats/sse/read-frame.ts"

/**
 * Relays a stream frame by frame: normalizes frames that strict clients reject, edits what the client requested, and
 * writes heartbeats while the provider is idle. A conforming frame keeps its bytes.
 */
export async function relayFrames(relay: StreamRelay): Promise<RelayEnd> {
  const { head, meter, timers, clientSignal } = relay
  const reader = head.body?.getReader()
  let stop: StopReason | undefined
  let clean = true
  const stopFor = (reason: StopReason) => {
    stop ??= reason
    void reader?.cancel().catch(() => undefined)
  }
  const onLeft = () => stopFor("left")
  const out = new FrameWriter(relay.writable, onLeft)
  clientSignal.addEventListener("abort", onLeft, { once: true })
  if (clientSignal.aborted) onLeft()

  const take = (frames: readonly Uint8Array[]) => {
    const script = follow(frames, relay)
    clean &&= script.clean
    out.write(script.outgoing)
    if (script.isNonsense) stopFor("nonsense")
    if (relay.filter?.isBlocked) stopFor("blocked")
  }

  const sleepless = startTimers(timers, out, {
    onStop: stopFor,
    onSilence: () => {
      clean = false
      out.write(relay.encoder.heartbeat())
    },
  })
  const splitter = new FrameSplitter()
  try {
    out.write(relay.encoder.open(relay.servingInfo))
    take(head.frames)
    if (head.rest.byteLength > 0) take(splitter.push(head.rest))
    while (reader && stop === undefined && !meter.done && !meter.error) {
      const { done, value } = await reader.read()
      sleepless.arrived()
      if (done) break
      take(splitter.push(value))
      // Backpressure of a slow client must not count as idle time of the provider.
      await sleepless.without(out.room())
    }
    const last = splitter.finish()
    if (last && stop === undefined) {
      clean = false
      take([last])
    }
  } catch {
    stop ??= "broken"
  } finally {
    sleepless.end()
    clientSignal.removeEventListener("abort", onLeft)
    void reader?.cancel().catch(() => undefined)
  }
  if (stop !== "left") out.write(restOf(relay))
  await out.release()
  const verdict = relayVerdict(stop ?? "ended", meter, relay.provider, relay.filter?.refusal())
  return { ...verdict, clean: clean && verdict.ending === "complete" && meter.done, atBoundary: true }
}

/** The output for these frames. Nothing follows `[DONE]` or an error. */
function follow(
  frames: readonly Uint8Array[],
  { meter, defaults, encoder, servingInfo: answering, filter, filtered: kept }: StreamRelay,
): { outgoing: Uint8Array[]; clean: boolean; isNonsense: boolean } {
  const outgoing: Uint8Array[] = []
  let clean = true
  for (const frame of frames) {
    if (meter.done || meter.error) break
    const chunk = readFrame(frame, meter, answering.reader)
    if (chunk === "empty") outgoing.push(frame)
    else if (chunk === "broken") return { outgoing, clean: false, isNonsense: true }
    else if (chunk !== "done" && !meter.error) {
      const normal = answering.reader.normalize(chunk, defaults)
      if (normal !== chunk) clean = false
      for (const result of filter ? filter.chunk(normal) : [normal]) {
        if (kept) answering.reader.read(kept, result)
        outgoing.push(...encoder.chunk(result, result === chunk ? frame : undefined))
      }
      if (filter?.isBlocked) break
    }
  }
  return { outgoing, clean, isNonsense: false }
}

/** What the guardrails held back, once the stream has ended. */
function restOf({ filter, encoder, filtered: result, servingInfo: answering }: StreamRelay): Uint8Array[] {
  const rest = filter?.end() ?? []
  if (result) for (const chunk of rest) answering.reader.read(result, chunk)
  return rest.flatMap((chunk) => encoder.chunk(chunk, undefined))
}

type Alarms = { onStop: (reason: StopReason) => void; onSilence: () => void }

/** One timer for the idle timeout, the total timeout and the heartbeat. */
function startTimers(timers: Timers, out: FrameWriter, alarms: Alarms) {
  const startedAt = Date.now()
  let lastChunkAt = startedAt
  let isPaused = false
  const tick = () => {
    const now = Date.now()
    if (isPaused) lastChunkAt = now
    if (now - lastChunkAt >= timers.idleMs) alarms.onStop("stalled")
    else if (now - startedAt >= timers.totalMs) alarms.onStop("timeout")
    else if (now - Math.max(out.lastWriteAt, lastChunkAt) >= timers.keepaliveMs) alarms.onSilence()
  }
  const id = setInterval(tick, Math.max(10, Math.min(timers.idleMs, timers.keepaliveMs) / 4))
  return {
    arrived: () => (lastChunkAt = Date.now()),
    without: async (work: Promise<void>) => {
      isPaused = true
      await work
      isPaused = false
      lastChunkAt = Date.now()
    },
    end: () => clearInterval(id),
  }
}
