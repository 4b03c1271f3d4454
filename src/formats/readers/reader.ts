import type { Json } from "../../support/json.ts"
import type { ChunkDefaults } from "../chat/normalize.ts"
import type { ProviderError, ResponseMeter } from "../chat/meter.ts"
import type { StreamHead } from "../sse/stream-head.ts"

/**
 * How answers are read on one wire. The road carries events and whole answers without knowing their words; what it has
 * to know of them (is this content, an error, the end; what was counted) it asks here.
 */
export type ResponseReader = {
  name: "chat" | "responses" | "messages" | "plain"
  /** Takes one event of a stream, or a whole answer, into the reading. Foreign JSON: nothing is taken on trust. */
  read: (meter: ResponseMeter, answer: Json) => void
  /** Whether this event shows that the model has begun to answer. */
  hasContent: (event: Json) => boolean
  /** The failure that an event or a whole answer is, or holds. */
  errorIn: (answer: Json) => ProviderError | null
  /** Whether a JSON document of status 200 is an answer. */
  isResponse: (result: Json) => boolean
  /** The event as strict clients want it; the same object where it needs nothing. */
  normalise: (event: Json, defaults: ChunkDefaults) => Json
  /** A whole answer told as a stream, for a provider that was asked to stream and does not; null: it cannot be. */
  toStreamHead: (result: Json) => StreamHead | null
  /** A stream told as a whole answer, for a provider that streams although it was asked not to. */
  toResult: (bytes: Uint8Array) => { result: Json | undefined; error: ProviderError | null }
}
