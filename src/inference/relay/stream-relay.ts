import type { Timers } from "../../config/timers.ts"
import type { GatewayError } from "../../errors/errors.ts"
import type { ChunkDefaults } from "../../formats/chat/normalize/normalize.ts"
import type { ResponseMeter } from "../../formats/chat/meter.ts"
import type { ResponseEncoder, ServingInfo } from "../../formats/encoder.ts"
import type { StreamHead } from "../../formats/sse/stream-item.ts"
import type { ResponseFilter } from "../../guardrails/content/response-filter.ts"
import type { Ending } from "../../ledger/generation.ts"
import type { Provider } from "../../providers/provider.ts"

/** State of the relay of an accepted stream. events.ts writes the final frames: `[DONE]` or an error. */
export type StreamRelay = {
  head: StreamHead
  writable: WritableStream<Uint8Array>
  /** Encodes each chunk in the format of the client. */
  encoder: ResponseEncoder
  servingInfo: ServingInfo
  provider: Provider
  /** Id and model of the response, as far as known. */
  defaultsOf: () => ChunkDefaults
  timers: Timers
  /** Aborted when the client disconnects. */
  clientSignal: AbortSignal
  /** Content and usage so far; read by the heartbeat of the hold while the stream runs. */
  meter: ResponseMeter
  /** UTF-16 units of generated text after which the stream is stopped. */
  maxUnits: number
  /** The output guardrails, if any apply. */
  filter: ResponseFilter | undefined
  /** Meters the text after the guardrails, if content is logged. */
  filtered?: ResponseMeter | undefined
}

export type RelayEnd = {
  ending: Extract<Ending, "complete" | "cancelled" | "cut" | "stalled" | "timeout" | "error">
  /** The error to send to the client; undefined unless the stream failed. */
  error: GatewayError | undefined
}
