import { readStreamHead, type StreamHead } from "../formats/sse/stream-head.ts"
import { toRejection, redactedCode, type Rejection } from "../providers/refusal.ts"
import type { Provider } from "../providers/provider.ts"
import type { UpstreamRequest } from "../formats/upstream.ts"
import { isObject } from "../support/json.ts"
import { readAtMost } from "../support/bytes.ts"
import type { ErrorName } from "../errors/errors.ts"

export type Content = { kind: "stream"; head: StreamHead } | { kind: "whole"; result: Record<string, unknown> } | Bytes

/** An answer that is no text: what it is, and the whole of it as it comes. */
export type Bytes = { kind: "bytes"; contentType: string; body: ReadableStream<Uint8Array> }

export async function readResponse(
  response: Response,
  asked: UpstreamRequest,
  isStreamed: boolean,
  provider: Provider,
  signal: AbortSignal,
): Promise<Content | Rejection> {
  const type = response.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() ?? ""
  const { reader: wire, translate } = asked
  if (!response.body) return failure(provider, "provider_failed", `${provider.name} answered with an empty body.`)
  if (asked.bytes?.test(type)) {
    const contentType = type === "application/octet-stream" ? (asked.bytesType ?? type) : type
    return { kind: "bytes", contentType, body: response.body }
  }
  // Servers name their streams in many ways; what is no stream shows in its first frame.
  if (isStreamed && type !== "application/json" && type !== "text/html") {
    const body = translate ? translate.stream(response.body) : response.body
    const head = await readStreamHead(body, wire, signal)
    return head.ok ? { kind: "stream", head } : fromInBandError(provider, head.error, head.reason)
  }
  if (type === "text/event-stream") {
    const body = translate ? translate.stream(response.body) : response.body
    const { result, error } = wire.toResult(await readAnswerBody(body))
    if (result && wire.isResponse(result)) return { kind: "whole", result }
    return fromInBandError(provider, error, "a stream that broke off")
  }
  if (type !== "application/json" && type !== "") {
    await response.body.cancel()
    return failure(
      provider,
      "provider_failed",
      `${provider.name} answered with ${type || "no content type"} instead of a completion.`,
    )
  }
  return readDocument(new TextDecoder().decode(await readAnswerBody(response.body)), asked, isStreamed, provider)
}

/** A whole answer. Where the caller wanted a stream and the provider does not stream, it is told as one. */
export function readDocument(
  body: string,
  { reader: wire, translate }: UpstreamRequest,
  isStreamed: boolean,
  provider: Provider,
): Content | Rejection {
  const told = parseObject(body)
  if (!told) {
    const what = body === "" ? "an empty body" : "something that is not JSON"
    return failure(provider, "provider_failed", `${provider.name} answered with ${what}.`)
  }
  const result = translate ? translate.document(told) : told
  const error = wire.errorIn(result)
  if (error) return fromInBandError(provider, error, "an error")
  if (!wire.isResponse(result))
    return failure(provider, "provider_failed", `${provider.name} answered without an answer.`)
  if (!isStreamed) return { kind: "whole", result }
  const head = wire.toStreamHead(result)
  return head
    ? { kind: "stream", head }
    : failure(provider, "provider_failed", `${provider.name} did not stream its answer.`)
}

export function parseObject(body: string): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(body)
    return isObject(parsed) ? parsed : undefined
  } catch {
    return undefined
  }
}

/** An answer of this size is no answer, and several of them fill an isolate's memory. */
export const MAX_ANSWER_BYTES = 16 * 1024 * 1024

export async function readAnswerBody(body: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const bytes = await readAtMost(body, MAX_ANSWER_BYTES)
  if (!bytes) throw new Error("The provider's answer is too large.")
  return bytes
}

export async function readRejection(provider: Provider, response: Response, now: number): Promise<Rejection> {
  const body = await readStart(response.body)
  return toRejection(provider, response.status, response.headers, body, now)
}

export const MAX_ERROR_BYTES = 65536

/** The start of an error body; the rest is not read, and the connection is freed. */
export async function readStart(body: ReadableStream<Uint8Array> | null): Promise<string> {
  if (!body) return ""
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ""
  try {
    while (text.length < MAX_ERROR_BYTES) {
      const { done, value } = await reader.read()
      if (done) return text + decoder.decode()
      text += decoder.decode(value, { stream: true })
    }
  } catch {
    return text
  } finally {
    reader.cancel().catch(() => undefined)
  }
  return text
}

export function failure(provider: Provider, code: ErrorName, message: string, status: number | null = 200): Rejection {
  return {
    provider: provider.name,
    status,
    code,
    message,
    providerCode: null,
    retryAfterMs: null,
    retryable: true,
  }
}

/** An error inside a 200 means what it says: its own status where it has one. */
export function fromInBandError(
  provider: Provider,
  error: { message: string; code: string | null; status: number | null } | null,
  reason: string,
): Rejection {
  if (!error) return failure(provider, "provider_failed", `${provider.name} answered with ${reason}.`)
  const body = JSON.stringify({ error: { message: error.message } })
  const refusal = toRejection(provider, error.status ?? 502, new Headers(), body, 0)
  const providerCode = error.code === null ? null : redactedCode(error.code, provider.apiKey)
  return { ...refusal, status: 200, providerCode }
}
