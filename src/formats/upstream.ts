import type { ResponseReader } from "./readers/reader.ts"

/** Fields that are the gateway's own: no provider is sent them. */
export const OWN_FIELDS: ReadonlySet<string> = new Set([
  "model",
  "models",
  "provider",
  "plugins",
  "route",
  "session_id",
  "metadata",
  "trace",
  "user",
  "usage",
  "debug",
  "preset",
  "transforms",
  "stop_server_tools_when",
  "stream_options",
  "max_tokens",
  "max_completion_tokens",
  "reasoning",
  "reasoning_effort",
  "service_tier",
])

export type UpstreamFields = {
  upstreamId: string
  /** Lower than what the caller asked, where the credit left pays for less. */
  maxCompletionTokens: number | undefined
  /** Stands in for `user`, which is never sent as it is. */
  pseudonym: string | undefined
}

export type Translation = {
  stream: (body: ReadableStream<Uint8Array>) => ReadableStream<Uint8Array>
  document: (result: Record<string, unknown>) => Record<string, unknown>
}

/** One question in the words of one provider. */
export type UpstreamRequest = {
  /** The wire of the answer, once it is translated. */
  reader: ResponseReader
  /** After the provider's base URL. */
  path: string
  headers?: Readonly<Record<string, string>>
  body: Record<string, unknown>
  /** Sent in place of the body, which then stands for it where it is shown. */
  form?: FormData
  /** The answer is bytes of this kind, and passes as it is. */
  bytes?: RegExp
  /** The kind to tell where the provider says nothing but that it is bytes. */
  bytesType?: string
  /** What the provider has counted so far, where an answer that breaks off would not tell it. */
  counted?: () => unknown
  /** From the words of the provider to those of `wire`, where they differ. */
  translate?: Translation
}
