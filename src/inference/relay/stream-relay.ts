import type { Timers } from "../../config/timers.ts"
import type { GatewayError } from "../../errors/errors.ts"
import type { ChunkDefaults } from "../../formats/chat/normalize.ts"
import type { ResponseMeter } from "../../formats/chat/meter.ts"
import type { ResponseEncoder, ServingInfo } from "../../formats/encoder.ts"
import type { StreamHead } from "../../formats/sse/stream-head.ts"
import type { AnswerFilter } from "../../guardrails/content/answer-filter.ts"
import type { Ending } from "../../ledger/generation.ts"
import type { Provider } from "../../providers/provider.ts"

/** An accepted stream on its way to the client. The final frames, `[DONE]` or an error, are written in events.ts. */
export type StreamRelay = {
  head: StreamHead
  writable: WritableStream<Uint8Array>
  /** Encodes each chunk in the format of the client. */
  encoder: ResponseEncoder
  servingInfo: ServingInfo
  provider: Provider
  /** The names of the response, as far as they are known. */
  defaultsOf: () => ChunkDefaults
  timers: Timers
  /** Aborted when the client disconnects. */
  clientSignal: AbortSignal
  /** What has been read so far; the hold's heartbeat reads it while the stream runs. */
  meter: ResponseMeter
  /** The output guardrails, where any apply. */
  filter: AnswerFilter | undefined
  /** Reads what they let pass, where content is logged. */
  filtered?: ResponseMeter | undefined
}

export type RelayEnd = {
  ending: Extract<Ending, "complete" | "cancelled" | "cut" | "stalled" | "timeout" | "error">
  /** The error to send to the client; undefined unless the stream failed. */
  error: GatewayError | undefined
}
