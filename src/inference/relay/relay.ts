import type { GatewayError } from "../../errors/errors.ts"
import type { AnswerFilter } from "../../guardrails/content/answer-filter.ts"
import type { Ending } from "../../ledger/generation.ts"
import type { ChunkDefaults } from "../../formats/chat/normalize.ts"
import { type ResponseMeter } from "../../formats/chat/meter.ts"
import type { ServingInfo, ResponseEncoder } from "../../formats/encoder.ts"
import type { Provider } from "../../providers/provider.ts"
import type { Timers } from "../../config/timers.ts"
import type { StreamHead } from "../../formats/sse/stream-head.ts"

/**
 * An accepted stream on its way to the caller. Two lanes carry it: native.ts, where the platform moves the bytes and the
 * gateway reads a copy, and scripted.ts, where every frame is looked at. Both leave the last word (`[DONE]`, or the
 * error chunk) to serve.ts.
 */
export type StreamRelay = {
  head: StreamHead
  writable: WritableStream<Uint8Array>
  /** Says each chunk in the caller's words. Only the scripted lane asks it. */
  encoder: ResponseEncoder
  servingInfo: ServingInfo
  provider: Provider
  defaults: ChunkDefaults
  timers: Timers
  /** Fires when the caller has left. */
  clientSignal: AbortSignal
  /** The call so far, for whoever watches while it runs. */
  meter: ResponseMeter
  /** The content filters of the caller, where they read answers: only the scripted lane has one. */
  filter: AnswerFilter | undefined
  /** What they let through, read where it is to be kept. */
  filtered?: ResponseMeter | undefined
}

export type RelayEnd = {
  ending: Extract<Ending, "complete" | "cancelled" | "cut" | "stalled" | "timeout" | "error">
  /** What the caller is told; undefined for an end that is none of a failure. */
  error: GatewayError | undefined
  /** Nothing had to be changed, kept alive or repaired. */
  clean: boolean
  /** The bytes written so far end at an event boundary. */
  atBoundary: boolean
}
