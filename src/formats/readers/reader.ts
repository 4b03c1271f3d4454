import type { Json } from "../../support/text/json.ts"
import type { ChunkDefaults } from "../chat/normalize/normalize.ts"
import type { ResponseMeter } from "../chat/meter.ts"
import type { ProviderError } from "../chat/provider-error.ts"
import type { VariableString } from "../sse/frame-shape.ts"
import type { StreamHead, StreamItem } from "../sse/stream-item.ts"

/**
 * Reads responses of one upstream API format. The relay handles events and documents without knowing the format; the
 * reader extracts content, errors, the end and usage.
 */
export type ResponseReader = {
  name: "chat" | "responses" | "messages" | "plain"
  /** Meters one event or a document. Upstream JSON is untrusted: every field is checked. */
  read: (meter: ResponseMeter, body: Json) => void
  /** Whether the event has content of the model. */
  hasContent: (event: Json) => boolean
  /** The error in an event or a document; null without an error. */
  errorIn: (body: Json) => ProviderError | null
  /** Whether a JSON document with status 200 is a response of the model. */
  isResponse: (result: Json) => boolean
  /** Normalizes an event for strict clients; returns the same object if nothing changes. */
  normalize: (event: Json, defaults: ChunkDefaults) => Json
  /** The strings in which this event differs from others of its shape; undefined for an event without a usual shape. */
  variableStrings?: (event: Json) => VariableString[] | undefined
  /**
   * Converts a document to a stream, for a provider that ignores `stream: true`; null if that is impossible. `upstreamBody`: the
   * request that the provider received.
   */
  toStreamHead: (result: Json, upstreamBody?: Json) => StreamHead | null
  /** Converts a stream to a document, for a provider that streams without `stream: true`. */
  toResult: (frames: readonly StreamItem[]) => { result: Json | undefined; error: ProviderError | null }
}
