import { dataOf, FrameSplitter } from "../../formats/sse/frames.ts"
import { isTooDeep } from "../../support/text/depth.ts"
import { openOutbound, type OpenRequest, type OutboundDeps } from "../../outbound/send.ts"
import { secretsInUrl } from "../../outbound/masked-url.ts"
import { type Redactor, redactorFor } from "../../outbound/redactor.ts"
import { concat } from "../../support/bytes.ts"
import { isArray, isObject, parseJson } from "../../support/text/json.ts"
import { isMessage, isResponseTo, type McpMessage, type McpRequest, STATELESS_VERSION } from "./message.ts"
import type { McpHeaders } from "../server.ts"
import { STATELESS_SESSION } from "./session.ts"
import { headersFor } from "./stateless.ts"

/** One exchange with a registered server: sends a message and reads the response as it arrives. */

/** Limits of one message, and of all messages of one response. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024
const SESSION_HEADER = "mcp-session-id"

export type ServerDeps = Omit<OutboundDeps, "timeoutMs">

/** Destination of the messages of one request. */
export type Upstream = {
  url: string
  headers: McpHeaders
  sessionId: string | undefined
  protocolVersion: string | undefined
  /** `Mcp-Param-*` headers of a call of revision 2026-07-28. */
  paramHeaders?: Readonly<Record<string, string>>
  deps: ServerDeps
  /** Ends the exchange: the client disconnected, or the timeout has passed. */
  signal: AbortSignal
}

/** Why a server returned no response. The message is for the client and contains nothing from the server. */
export class ServerFailure extends Error {
  override readonly name = "ServerFailure"
  /** The server no longer knows the session. */
  readonly isSessionLost: boolean
  /** HTTP status of the response, if it is the failure. */
  readonly status: number | undefined

  constructor(message: string, { isSessionLost = false, status }: { isSessionLost?: boolean; status?: number } = {}) {
    super(message)
    this.isSessionLost = isSessionLost
    this.status = status
  }
}

export type ServerResponse = {
  /** The session that the server opened. */
  sessionId: string | null
  isStream: boolean
  messages: AsyncIterable<McpMessage>
}

function headersOf({ headers, sessionId, protocolVersion }: Upstream): Record<string, string> {
  return {
    ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...(sessionId !== undefined && { [SESSION_HEADER]: sessionId }),
    ...(protocolVersion !== undefined && { "mcp-protocol-version": protocolVersion }),
  }
}

/** Sends a request. Throws ServerFailure; so does reading the messages. */
export async function sendRequest(request: McpRequest, upstream: Upstream): Promise<ServerResponse> {
  const response = await post(request, upstream)
  if (!response.ok) return rejectionIn(response, request, upstream)
  const { headers, body } = response
  const type = (headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase()
  const isStream = type === "text/event-stream"
  if (!body || (!isStream && type !== "application/json")) {
    await discard(response)
    throw new ServerFailure("The server returned neither JSON nor an event stream.")
  }
  const reading = { request, signal: upstream.signal, hidden: redactorOf(upstream) }
  const messages = isStream ? readEvents(body, reading) : readDocument(body, reading)
  return { sessionId: headers.get(SESSION_HEADER), isStream, messages }
}

/** Servers of revision 2026-07-28 reject requests with a JSON-RPC error and one of these statuses. */
const REJECTION_STATUSES: ReadonlySet<number> = new Set([400, 404])

async function rejectionIn(response: Response, request: McpRequest, upstream: Upstream): Promise<ServerResponse> {
  const { body, headers, status } = response
  const isDocument = body !== null && (headers.get("content-type") ?? "").startsWith("application/json")
  if (upstream.protocolVersion === STATELESS_VERSION && REJECTION_STATUSES.has(status) && isDocument) {
    const reading = { request, signal: upstream.signal, hidden: redactorOf(upstream) }
    const found = await lastOf(readDocument(body, reading)).catch(() => undefined)
    if (found && isObject(found["error"])) return { sessionId: null, isStream: false, messages: single(found) }
  }
  await discard(response)
  throw statusFailure(status, upstream)
}

/** The response, which is the last of the messages. */
export async function lastOf(messages: AsyncIterable<McpMessage>): Promise<McpMessage | undefined> {
  let last: McpMessage | undefined
  for await (const message of messages) last = message
  return last
}

export async function* single(message: McpMessage) {
  yield message
}

/** Sends a notification or response of the client, which the server only acknowledges. */
export async function sendOneWay(message: McpMessage, upstream: Upstream): Promise<void> {
  if (upstream.sessionId === STATELESS_SESSION) return
  const response = await post(message, upstream)
  await discard(response)
  if (!response.ok) throw statusFailure(response.status, upstream)
}

/** Ends the session at the server; a server without sessions may reject this, which is not a failure. */
export async function endSession(upstream: Upstream): Promise<void> {
  if (upstream.sessionId === STATELESS_SESSION) return
  const { "content-type": _, ...headers } = headersOf(upstream)
  await discard(await open({ url: upstream.url, method: "DELETE", headers, body: null }, upstream))
}

async function post(message: McpMessage, upstream: Upstream): Promise<Response> {
  const { url, protocolVersion, paramHeaders } = upstream
  const repeated = protocolVersion === STATELESS_VERSION ? { ...headersFor(message), ...paramHeaders } : {}
  const headers = { ...headersOf(upstream), ...repeated }
  return open({ url, method: "POST", headers, body: JSON.stringify(message) }, upstream)
}

function statusFailure(status: number, { sessionId }: Upstream): ServerFailure {
  if (status === 404 && sessionId !== undefined) {
    return new ServerFailure("The server ended the session. Initialize a new one.", { isSessionLost: true, status })
  }
  if (status === 401 || status === 403) {
    const rule = `The server rejects the headers of its record (status ${status}). A management key can renew them.`
    return new ServerFailure(rule, { status })
  }
  return new ServerFailure(`The server returned status ${status}.`, { status })
}

async function open(request: OpenRequest, { deps, signal }: Upstream): Promise<Response> {
  const opened = await stoppable(openOutbound(request, deps, signal), signal).catch(() => {
    // The message of a connection error can name hosts and addresses of the gateway's network.
    throw signal.aborted ? timeIsOver() : new ServerFailure("The connection to the server failed.")
  })
  if (opened instanceof Response) return opened
  throw new ServerFailure(`The server cannot be reached: ${opened.reason}.`)
}

function timeIsOver(): ServerFailure {
  return new ServerFailure("The server did not respond within the timeout of its record.")
}

/** Ends when the signal aborts: not everything that reads the network observes the signal. */
async function stoppable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) throw timeIsOver()
  const stopped = Promise.withResolvers<never>()
  const stop = () => stopped.reject(timeIsOver())
  signal.addEventListener("abort", stop, { once: true })
  // The loser of the race must not be an unhandled rejection.
  stopped.promise.catch(() => undefined)
  work.catch(() => undefined)
  try {
    return await Promise.race([work, stopped.promise])
  } finally {
    signal.removeEventListener("abort", stop)
  }
}

async function discard({ body }: Response): Promise<void> {
  await body?.cancel().catch(() => undefined)
}

/** Reads a body chunk by chunk, up to `maxBytes`. */
async function* chunksOf(body: ReadableStream<Uint8Array>, maxBytes: number, signal: AbortSignal) {
  const reader = body.getReader()
  let size = 0
  try {
    for (;;) {
      const { value } = await stoppable(reader.read(), signal).catch((cause: unknown) => {
        throw cause instanceof ServerFailure ? cause : new ServerFailure("The response of the server was incomplete.")
      })
      if (!value) return
      size += value.byteLength
      if (size > maxBytes) throw new ServerFailure("The response of the server is too large.")
      yield value
    }
  } finally {
    await reader.cancel().catch(() => undefined)
  }
}

const SECRET_NAME = /auth|cookie|credential|key|pass|secret|token/i
/** A shorter value of another header, such as the name of a tenant, may be content. */
const MIN_SECRET_LENGTH = 24

/** Hides the secrets of the record: a server may echo its request, as in an error message. */
function redactorOf({ url, headers }: Upstream): Redactor {
  const parameters = URL.parse(url)?.searchParams ?? []
  const sent = [...Object.entries(headers), ...parameters]
  const secrets = sent.filter(([name, value]) => SECRET_NAME.test(name) || value.length >= MIN_SECRET_LENGTH)
  const values = secrets.flatMap(([, value]) => [value, value.replace(/^\w+ +/, "")]).concat(secretsInUrl(url))
  return redactorFor({ released: [], secrets: values.map((value) => ({ value, placeholder: "[redacted]" })) })
}

type Reading = { request: McpRequest; signal: AbortSignal; hidden: Redactor }

async function* readDocument(body: ReadableStream<Uint8Array>, { request, signal, hidden }: Reading) {
  const chunks: Uint8Array[] = []
  for await (const chunk of chunksOf(body, MAX_MESSAGE_BYTES, signal)) chunks.push(chunk)
  for (const message of messagesIn(new TextDecoder().decode(hidden.bytes(concat(chunks))))) {
    yield message
    if (isResponseTo(request, message)) return
  }
  throw new ServerFailure("The server did not respond to the request: no response has its id.")
}

async function* readEvents(body: ReadableStream<Uint8Array>, { request, signal, hidden }: Reading) {
  const splitter = new FrameSplitter()
  for await (const chunk of chunksOf(body, MAX_RESPONSE_BYTES, signal)) {
    for (const frame of framesIn(splitter, chunk)) {
      if (frame.byteLength > MAX_MESSAGE_BYTES) throw new ServerFailure("A message of the server is too large.")
      const data = dataOf(frame)
      if (data === undefined || data === "") continue
      for (const message of messagesIn(hidden.text(data))) {
        yield message
        if (isResponseTo(request, message)) return
      }
    }
  }
  throw new ServerFailure("The stream of the server ended before the response.")
}

function framesIn(splitter: FrameSplitter, chunk: Uint8Array): Uint8Array[] {
  try {
    return splitter.push(chunk)
  } catch {
    throw new ServerFailure("A message of the server is too large.")
  }
}

/** The messages in a text: one, or a batch of an older revision. */
function messagesIn(text: string): McpMessage[] {
  const value = parseJson(text)
  if (isTooDeep(value)) throw new ServerFailure("A message of the server is nested too deep.")
  const messages = (isArray(value) ? value : [value]).filter(isMessage)
  if (messages.length === 0) throw new ServerFailure("The server did not return JSON-RPC 2.0.")
  return messages
}
