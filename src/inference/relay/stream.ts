import type { Timers } from "../../config/timers.ts"
import type { GatewayError } from "../../errors/errors.ts"
import { FrameSplitter } from "../../formats/sse/frames.ts"
import { FrameWriter } from "../../formats/sse/frame-writer.ts"
import { judge } from "./judge.ts"
import { HeldEncoder } from "./held-encoder.ts"
import { EventRelay } from "./event-relay.ts"
import type { RelayEnd, StreamRelay } from "./stream-relay.ts"
import { relayVerdict, type StopReason } from "./verdict.ts"

/**
 * Relays a stream. Every frame is inspected before it is sent: frames that strict clients reject are normalized, others
 * keep their bytes. Heartbeats are sent while the provider is idle.
 */
export async function relayFrames(relay: StreamRelay): Promise<RelayEnd> {
  const { head, meter, timers, clientSignal } = relay
  const { body } = head
  let stop: StopReason | undefined
  const stopFor = (reason: StopReason) => {
    stop ??= reason
    body?.cancel()
  }
  const onDisconnect = () => stopFor("client_disconnected")
  const out = new FrameWriter(relay.writable, onDisconnect)
  clientSignal.addEventListener("abort", onDisconnect, { once: true })
  if (clientSignal.aborted) onDisconnect()

  const held = relay.filter?.check?.holdsResponse ? new HeldEncoder(relay.encoder) : undefined
  const events = new EventRelay(held ? { ...relay, encoder: held } : relay)
  const send = () => {
    out.write([events.takeOutput()])
    if (held?.isFull) stopFor("too_long_to_check")
    if (events.stopReason) stopFor(events.stopReason)
  }
  const timer = startTimers(timers, out, { onStop: stopFor, onSilence: () => out.write(relay.encoder.heartbeat()) })
  const splitter = new FrameSplitter()
  try {
    events.open(head.items)
    if (head.rest.byteLength > 0) splitter.each(head.rest, events)
    send()
    while (body && stop === undefined && !meter.done && !meter.error) {
      const { done, value } = await body.read()
      timer.onChunk()
      if (done) break
      splitter.each(value, events)
      held?.count(value)
      send()
      if (meter.units > relay.maxUnits) stopFor("too_long")
      if (out.isFull) {
        body.pause()
        // Backpressure from a slow client must not count as idle time of the provider.
        await timer.pauseWhile(out.drained())
      }
    }
    const last = splitter.finish()
    if (last && stop === undefined) events.onLastFrame(last)
    send()
  } catch {
    stop ??= "connection_lost"
  } finally {
    timer.stop()
    clientSignal.removeEventListener("abort", onDisconnect)
    body?.cancel()
  }
  let blockError: GatewayError | undefined
  if (stop !== "client_disconnected") {
    events.end()
    out.write([events.takeOutput()])
    blockError = await judge(relay, { held, stop, out })
  }
  await out.release()
  return relayVerdict(stop ?? "ended", meter, relay.provider, {
    blockError,
    filter: relay.filter?.providerMessage,
  })
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
    // Chunks of the provider do not count: what a guardrail or an encoder holds back does not reach the client.
    else if (out.isSilentFor(timers.keepaliveMs)) alarms.onSilence()
  }
  const id = setInterval(tick, Math.max(10, Math.min(timers.idleMs, timers.keepaliveMs) / 4))
  return {
    onChunk: () => (lastChunkAt = Date.now()),
    pauseWhile: async (work: Promise<void>) => {
      isPaused = true
      await work
      isPaused = false
      lastChunkAt = Date.now()
    },
    stop: () => clearInterval(id),
  }
}
