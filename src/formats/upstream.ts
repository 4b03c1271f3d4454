import type { ResponseReader } from "./readers/reader.ts"
import type { FrameTranslator } from "./sse/stream-item.ts"

/** Fields that only the gateway reads. They are not sent to providers. */
export const GATEWAY_FIELDS: ReadonlySet<string> = new Set([
  "model",
  "models",
  // Fields of Anthropic's API and of other gateways that name models which no guardrail has checked.
  "fallbacks",
  "provider",
  "plugins",
  "route",
  "session_id",
  "metadata",
  "trace",
  "user",
  "safety_identifier",
  "usage",
  "debug",
  "preset",
  "transforms",
  "stop_server_tools_when",
  "stream_options",
  // The gateway promises clients that the provider stores nothing.
  "store",
  "max_tokens",
  "max_completion_tokens",
  "reasoning",
  "reasoning_effort",
  "service_tier",
])

export type UpstreamFields = {
  upstreamId: string
  /** Lower than requested if the hold covers fewer tokens. */
  maxCompletionTokens: number | undefined
  /** Replaces `user`, which is never sent. */
  pseudonym: string | undefined
}

export type Translation = {
  /** Makes a translator for one stream. */
  stream: () => FrameTranslator
  document: (result: Record<string, unknown>) => Record<string, unknown>
}

/** A request in the API format of one provider. */
export type UpstreamRequest = {
  /** Reads the translated response. */
  reader: ResponseReader
  /** Path below the provider's base URL. */
  path: string
  headers?: Readonly<Record<string, string>>
  body: Record<string, unknown>
  /** Sent instead of `body`, which then only serves for display. */
  form?: FormData
  /** Content types of a binary response, such as audio. */
  bytes?: RegExp
  /** The content type to send if the provider sends `application/octet-stream`. */
  bytesType?: string
  /** Converts a stream of this content type to server-sent events. */
  decode?: { type: string; body: (stream: ReadableStream<Uint8Array>) => ReadableStream<Uint8Array> }
  /** The usage so far, for a response that ends early. */
  counted?: () => unknown
  /** Translates the provider's format to that of `reader`, if they differ. */
  translate?: Translation
}
