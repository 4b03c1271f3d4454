import { MAX_CALLS } from "../../formats/chat/call-deltas.ts"
import { errorInList } from "../../formats/error-message.ts"
import { framesOf } from "../../formats/sse/frames.ts"
import { PacedReader } from "../../formats/sse/paced-reader.ts"
import { readStreamHead } from "../../formats/sse/stream-head.ts"
import type { StreamHead } from "../../formats/sse/stream-item.ts"
import {
  type MessageFilter,
  redactCode,
  type Rejection,
  toErrorResponse,
  toRejection,
} from "../../providers/responses/rejection.ts"
import { type KeyFilter, keyFilterOf } from "../../providers/key-filter.ts"
import type { Provider } from "../../providers/provider.ts"
import { unreadableEncoding } from "../../providers/responses/readable-body.ts"
import type { ProviderError } from "../../formats/chat/provider-error.ts"
import type { UpstreamRequest } from "../../formats/upstream.ts"
import { isArray, isObject, listOf, objectsOf, parseStored } from "../../support/text/json.ts"
import { concat, readAtMost } from "../../support/bytes.ts"
import { isTooDeep } from "../../support/text/depth.ts"
import { printableLine } from "../../support/text/printable.ts"
import { readText } from "../../support/text/read-text.ts"
import type { ErrorName } from "../../errors/errors.ts"

export type Content =
  | { kind: "stream"; head: StreamHead }
  | { kind: "document"; result: Record<string, unknown> }
  | Bytes

/** A binary response, such as audio. */
type Bytes = { kind: "bytes"; contentType: string; body: ReadableStream<Uint8Array> }

type Expected = {
  request: UpstreamRequest
  isStreamed: boolean
  provider: Provider
  signal: AbortSignal
  /** Filters the provider's messages. */
  filter: MessageFilter | undefined
}

const MAX_ENCODING_LENGTH = 40

/** Reads the content of a 200. Returns a rejection if it has none, so that dispatch can fail over. */
export async function readResponse(response: Response, expected: Expected): Promise<Content | Rejection> {
  const { request, isStreamed, provider, signal, filter } = expected
  const type = response.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase() ?? ""
  const { reader, translate } = request
  const keyFilter = keyFilterOf(provider)
  if (!response.body) return failure(provider, "provider_failed", `${provider.name} returned an empty body.`)
  const encoding = unreadableEncoding(response)
  if (encoding !== undefined) {
    await response.body.cancel()
    const what = printableLine(encoding).slice(0, MAX_ENCODING_LENGTH)
    const reason = `${provider.name} encoded its response as ${what}, although the request accepts no encoding.`
    return failure(provider, "provider_failed", reason)
  }
  if (request.bytes?.test(type)) {
    const contentType = type.endsWith("/octet-stream") ? (request.bytesType ?? type) : type
    return { kind: "bytes", contentType, body: response.body }
  }
  // Servers label their streams in many ways: the first byte distinguishes a stream from a document.
  if (isStreamed) {
    const { decode } = request
    const events = decode?.type === type ? decode.body(response.body) : response.body
    const body = new PacedReader(events, keyFilter?.chunks())
    const first = await firstByte(body)
    if (first === BRACE || first === BRACKET) return readDocument(await readRest(body), expected)
    if (first === ANGLE) {
      body.cancel()
      return failure(
        provider,
        "provider_failed",
        `${provider.name} returned ${type === "text/html" ? type : "a page"} instead of a completion.`,
      )
    }
    const head = await readStreamHead(body, { reader, signal, translate: translate?.stream() })
    return head.ok ? { kind: "stream", head } : fromInBandError(provider, head, filter)
  }
  if (type === "text/event-stream") return readEvents(await readResponseBody(response.body, keyFilter), expected)
  const body = await readDocumentText(response, type, keyFilter)
  if (body === undefined)
    return failure(provider, "provider_failed", `${provider.name} returned ${type} instead of a completion.`)
  const isStream = reader.name !== "plain" && EVENT_START.test(body)
  return isStream ? readEvents(new TextEncoder().encode(body), expected) : readDocument(body, expected)
}

/** The start of an event stream, which no JSON has. */
const EVENT_START = /^\s*(?:data|event|id|retry)?:/

/** A stream in place of a document. */
function readEvents(body: Uint8Array, { request, provider, filter }: Expected): Content | Rejection {
  const { reader, translate } = request
  const frames = framesOf(body)
  const { result: joined, error } = reader.toResult(translate ? frames.flatMap(translate.stream()) : frames)
  if (isTooDeep(joined)) return tooDeepError(provider)
  const result = joined && withoutKey(joined, provider)
  if (result && reader.isResponse(result)) return { kind: "document", result }
  return fromInBandError(provider, { error, reason: "a stream that ended early" }, filter)
}

/** Joined texts may contain a key that was divided between events. */
function withoutKey(result: Record<string, unknown>, provider: Provider): Record<string, unknown> {
  const text = JSON.stringify(result)
  const clean = keyFilterOf(provider)?.text(text) ?? text
  return clean === text ? result : parseStored<Record<string, unknown>>(clean)
}

/** Some servers label JSON as text, or not at all. */
const JSON_TYPE = /^(?:application|text)\/(?:[\w.-]+\+)?json$|^text\/plain$|^$/

/** A JSON document. If the client requested a stream and the provider does not stream, it is sent as a stream. */
function readDocument(body: string, { request, isStreamed, provider, filter }: Expected): Content | Rejection {
  const { reader, translate } = request
  const document = parseObject(body, reader)
  if (!document) {
    const found = body === "" ? "an empty body" : "a body that is not JSON"
    return failure(provider, "provider_failed", `${provider.name} returned ${found}.`)
  }
  // Embeddings are not checked: they have many numbers, and no client's fields.
  if (reader.name !== "plain" && isTooDeep(document)) return tooDeepError(provider)
  const result = translate ? translate.document(document) : document
  if (hasTooManyCalls(result)) return failure(provider, "provider_failed", `${provider.name} sent too many tool calls.`)
  const error = reader.errorIn(result)
  if (error) return fromInBandError(provider, { error, reason: "an error" }, filter)
  if (!reader.isResponse(result))
    return failure(provider, "provider_failed", `${provider.name} returned a response without content.`)
  if (!isStreamed) return { kind: "document", result }
  const head = reader.toStreamHead(result, request.body)
  return head
    ? { kind: "stream", head }
    : failure(provider, "provider_failed", `${provider.name} did not stream its response.`)
}

function hasTooManyCalls({ choices }: Record<string, unknown>): boolean {
  return objectsOf(choices).some(({ message }) => isObject(message) && listOf(message["tool_calls"]).length > MAX_CALLS)
}

function tooDeepError(provider: Provider): Rejection {
  return failure(provider, "provider_failed", `${provider.name} returned a response that is nested too deep.`)
}

/** White space, and the bytes of the byte order mark, which decoders drop. */
const IGNORED = new Set([0x09, 0x0a, 0x0d, 0x20, 0xef, 0xbb, 0xbf])
/** `{` and `[`, with which documents start, and `<`, with which pages do. No event stream starts with them. */
const BRACE = 0x7b
const BRACKET = 0x5b
const ANGLE = 0x3c

/** Some providers send white space until their document is ready; a body of nothing else is not read to its end. */
const MAX_WHITESPACE_BYTES = 1024 * 1024

/** The first byte of a body other than white space; undefined for a body without one. */
async function firstByte(body: PacedReader): Promise<number | undefined> {
  for (let size = 0; size < MAX_WHITESPACE_BYTES;) {
    const { done, value } = await body.read()
    if (done) return undefined
    size += value.byteLength
    const first = value.find((byte) => !IGNORED.has(byte))
    if (first === undefined) continue
    body.unread(value)
    return first
  }
  body.cancel()
  throw new Error("The provider sends only white space.")
}

async function readRest(body: PacedReader): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for (;;) {
    const { done, value } = await body.read()
    if (done) return new TextDecoder().decode(concat(chunks))
    size += value.byteLength
    if (size > MAX_RESPONSE_BYTES) {
      body.cancel()
      throw new Error("The provider response is too large.")
    }
    chunks.push(value)
  }
}

/** The document; a list where the response is one, as text-embeddings-inference ranks. */
function parseObject(body: string, { name }: UpstreamRequest["reader"]): Record<string, unknown> | undefined {
  try {
    // Some servers send the mark of UTF-8.
    const parsed: unknown = JSON.parse(body.replace(/^\uFEFF/, ""))
    if (name === "plain" && isArray(parsed)) return errorInList(parsed) ?? { data: parsed }
    return isObject(parsed) ? parsed : errorInList(parsed)
  } catch {
    return undefined
  }
}

/** Several responses larger than this would fill the memory of an isolate. */
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024

/** The text of a document, whatever its label; undefined for a body of another type that does not start as one. */
async function readDocumentText(
  response: Response,
  type: string,
  keyFilter: KeyFilter | undefined,
): Promise<string | undefined> {
  if (!JSON_TYPE.test(type) && response.body) return readLabelled(new PacedReader(response.body, keyFilter?.chunks()))
  const text = await readText(response, MAX_RESPONSE_BYTES)
  if (text === undefined) throw new Error("The provider response is too large.")
  return keyFilter?.text(text) ?? text
}

/** Starts of documents, and of the fields of an event stream. */
const TEXT_STARTS = new Set(new TextEncoder().encode("{[:deir"))

async function readLabelled(body: PacedReader): Promise<string | undefined> {
  const first = await firstByte(body)
  if (first !== undefined && TEXT_STARTS.has(first)) return readRest(body)
  body.cancel()
  return undefined
}

async function readResponseBody(
  body: ReadableStream<Uint8Array>,
  keyFilter: KeyFilter | undefined,
): Promise<Uint8Array> {
  const bytes = await readAtMost(body, MAX_RESPONSE_BYTES)
  if (!bytes) throw new Error("The provider response is too large.")
  const chunks = keyFilter?.chunks()
  return chunks ? concat([chunks.push(bytes), chunks.end()]) : bytes
}

export async function readRejection(
  provider: Provider,
  response: Response,
  filter?: MessageFilter,
): Promise<Rejection> {
  const now = Date.now()
  const body = await readStart(response.body)
  return toRejection(provider, { status: response.status, headers: response.headers, body }, { now, filter })
}

const MAX_ERROR_BYTES = 65536
/** The status decides what happens next, so a body that does not end must not delay it. */
const MAX_ERROR_BODY_MS = 5_000

/** The start of an error body: what arrives in time. Cancels the rest, which frees the connection. */
async function readStart(body: ReadableStream<Uint8Array> | null): Promise<string> {
  if (!body) return ""
  const bytes = body.getReader()
  const decoder = new TextDecoder()
  const timer = setTimeout(() => void bytes.cancel().catch(() => undefined), MAX_ERROR_BODY_MS)
  let text = ""
  try {
    while (text.length < MAX_ERROR_BYTES) {
      const { done, value } = await bytes.read()
      if (done) return text + decoder.decode()
      text += decoder.decode(value, { stream: true })
    }
  } catch {
    return text
  } finally {
    clearTimeout(timer)
    bytes.cancel().catch(() => undefined)
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

type InBandError = { error: ProviderError | null; reason: string }

/** An error inside a 200 response. Uses the status in the error if there is one. */
function fromInBandError(
  provider: Provider,
  { error, reason }: InBandError,
  filter: MessageFilter | undefined,
): Rejection {
  if (!error) return failure(provider, "provider_failed", `${provider.name} returned ${reason}.`)
  const rejection = toRejection(provider, toErrorResponse(error), { now: Date.now(), filter })
  const code = error.code === null ? undefined : redactCode(error.code, provider.apiKey, filter)
  return { ...rejection, status: 200, providerCode: code ?? null }
}
