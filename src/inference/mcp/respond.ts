import { timersOf } from "../../config/timers.ts"
import { asGatewayError, GatewayError } from "../../errors/errors.ts"
import { FrameWriter } from "../../formats/sse/frame-writer.ts"
import { KEEPALIVE_FRAME, toFrame } from "../../formats/sse/frames.ts"
import { endSession, lastOf, sendOneWay, ServerFailure } from "../../mcp-servers/protocol/transport.ts"
import {
  ERROR_CODES,
  errorResponse,
  isRequest,
  isResponse,
  isResponseTo,
  type McpMessage,
  type McpRequest,
  STATELESS_VERSION,
} from "../../mcp-servers/protocol/message.ts"
import { screenSent } from "../../mcp-servers/protocol/content.ts"
import { sealSessionId } from "../../mcp-servers/protocol/session.ts"
import { masterKeysOf } from "../../secrets/master-key.ts"
import { isObject } from "../../support/text/json.ts"
import { valueOrTimeout } from "../../support/time/time.ts"
import { type Connection, sessionLost } from "./connection.ts"
import { runRequest, type RunningRequest, TIME_IS_OVER } from "./run.ts"

/** Responses to the messages of a POST: one JSON document, or events as they arrive. */

type Accepted = { json: boolean; events: boolean }

/** Throws 400 for a client that accepts neither. */
export function readAccept(header: string | null): Accepted {
  const types = (header ?? "*/*").toLowerCase()
  const takes = (type: string) => types.includes(type) || types.includes("*/*")
  const accepted = { json: takes("application/json"), events: takes("text/event-stream") }
  if (accepted.json || accepted.events) return accepted
  throw new GatewayError("invalid_request", "Accept: must list application/json and text/event-stream.")
}

/** Aborts with the timeout of the server's record or the client's disconnect, or when `stop` is called. */
function newDeadline({ server, incoming }: Connection): Deadline {
  const controller = new AbortController()
  const stop = () => controller.abort()
  const timer = setTimeout(() => controller.abort(TIME_IS_OVER), server.timeoutMs)
  const client = incoming.request.signal
  if (client.aborted) stop()
  client.addEventListener("abort", stop, { once: true })
  const clear = () => {
    clearTimeout(timer)
    client.removeEventListener("abort", stop)
  }
  return { signal: controller.signal, stop, clear, isShared: false }
}

/** `isShared`: a stream ends it. */
type Deadline = { signal: AbortSignal; stop: () => void; clear: () => void; isShared: boolean }

/** Throws for a message that is neither a notification nor a response. Only fields that guardrails read are sent. */
function oneWayOf(message: McpMessage, { isStateless }: Connection): McpMessage {
  const { jsonrpc, method } = message
  const isNotification = typeof method === "string" && method.startsWith("notifications/")
  if (!isNotification && !isResponse(message)) {
    throw new GatewayError("invalid_request", "The message must be a request with an id, a notification or a response.")
  }
  if (isStateless && !isNotification) {
    throw new GatewayError("invalid_request", `Revision ${STATELESS_VERSION} has no responses of clients.`)
  }
  const fields = isNotification ? ["method", "params"] : ["id", "result", "error"]
  return { jsonrpc, ...Object.fromEntries(fields.flatMap((name) => (name in message ? [[name, message[name]]] : []))) }
}

/** A notification or a response of the client: 202. */
export async function respondOneWay(received: McpMessage, connection: Connection): Promise<Response> {
  const message = oneWayOf(received, connection)
  // A request of revision 2026-07-28 is cancelled by closing its response.
  if (connection.isStateless) return acceptedResponse()
  const deadline = newDeadline(connection)
  try {
    const screening = connection.newScreening()
    const screened = screening ? await screenSent(message, screening) : message
    await sendOneWay(screened, { ...connection.upstream, signal: deadline.signal })
  } catch (thrown) {
    throw httpErrorOf(thrown)
  } finally {
    deadline.clear()
  }
  return acceptedResponse()
}

const acceptedResponse = () => new Response(null, { status: 202 })

/** One document if the response is the first message, otherwise events. */
export async function respondToRequest(
  request: McpRequest,
  connection: Connection,
  accepted: Accepted,
): Promise<Response> {
  const deadline = newDeadline(connection)
  let generationId: string | undefined
  const onHeld = (id: string) => void (generationId = id)
  const opening = open(request, { ...connection, onHeld }, deadline.signal)
  const { earlyCommitMs } = timersOf(connection.incoming.env)
  // The session that `initialize` opens is in a header.
  const mayCommit = accepted.events && request.method !== "initialize"
  const late = mayCommit ? await isLate(opening, earlyCommitMs) : false
  if (late) return respondWithStream(request, opening, { connection, deadline, headers: newHeaders(generationId) })
  try {
    const { running, first } = await opening
    const headers = await headersOf(running, connection)
    const isResponse = isResponseTo(request, first)
    if (mayCommit && (!isResponse || !accepted.json))
      return respondWithStream(request, opening, { connection, deadline, headers })
    const response = isResponse ? first : ((await lastOf(running.messages)) ?? first)
    await running.messages.return()
    return Response.json(response, { headers, status: connection.isStateless ? statusOf(response) : 200 })
  } catch (thrown) {
    throw httpErrorOf(thrown)
  } finally {
    if (!deadline.isShared) deadline.clear()
  }
}

type Opened = { running: RunningRequest; first: McpMessage }

async function open(request: McpRequest, connection: Connection, signal: AbortSignal): Promise<Opened> {
  const running = await runRequest(request, connection, signal)
  const first = await running.messages.next()
  return { running, first: first.value ?? errorResponse(request, NO_RESPONSE) }
}

const NO_RESPONSE = { code: ERROR_CODES.serverFailed, message: "The server did not respond to the request." }

/** Whether the work takes longer than `ms`. Its failure is handled by the code that awaits it. */
async function isLate(work: Promise<unknown>, ms: number): Promise<boolean> {
  const done = work.then(
    () => true,
    () => true,
  )
  return (await valueOrTimeout(done, ms)) === undefined
}

/**
 * Handles a batch of revision 2025-03-26 one message at a time. Messages without a response are left out. A failure
 * after a response is an error among the responses: the calls before it are charged.
 */
export async function respondToBatch(messages: readonly McpMessage[], connection: Connection): Promise<Response> {
  for (const message of messages) if (!isRequest(message)) oneWayOf(message, connection)
  const responses: McpMessage[] = []
  for (const message of messages) {
    try {
      if (isRequest(message)) {
        const response = await respondToRequest(message, connection, { json: true, events: false })
        responses.push(await response.json<McpMessage>())
      } else await respondOneWay(message, connection)
    } catch (thrown) {
      if (responses.length === 0) throw thrown
      const error = asGatewayError(thrown)
      const { reason } = error.metadata ?? {}
      const data = { code: error.status, ...(reason !== undefined && { reason }) }
      const failed = { code: ERROR_CODES.serverFailed, message: error.message, data }
      responses.push({ jsonrpc: "2.0", id: isRequest(message) ? message.id : null, error: failed })
    }
  }
  return responses.length === 0 ? acceptedResponse() : Response.json(responses)
}

/** Ends the session of the server. */
export async function respondToDelete(connection: Connection): Promise<Response> {
  const deadline = newDeadline(connection)
  try {
    await endSession({ ...connection.upstream, signal: deadline.signal })
  } catch (thrown) {
    throw httpErrorOf(thrown)
  } finally {
    deadline.clear()
  }
  return new Response(null, { status: 204 })
}

/** HTTP statuses that revision 2026-07-28 requires. */
const STATUSES: ReadonlyMap<unknown, number> = new Map([
  [ERROR_CODES.methodNotFound, 404],
  [ERROR_CODES.headerMismatch, 400],
  [ERROR_CODES.missingCapability, 400],
])

function statusOf({ error }: McpMessage): number {
  return (isObject(error) ? STATUSES.get(error["code"]) : undefined) ?? 200
}

function newHeaders(generationId: string | undefined): Headers {
  const headers = new Headers({ "cache-control": "no-store" })
  if (generationId !== undefined) headers.set("x-generation-id", generationId)
  return headers
}

async function headersOf({ sessionId, generationId }: RunningRequest, connection: Connection): Promise<Headers> {
  const headers = newHeaders(generationId)
  const { incoming, server } = connection
  // A server may repeat the id in every response; the client already has it.
  if (sessionId !== null && sessionId !== connection.upstream.sessionId) {
    const holder = { server, principal: incoming.caller }
    const sealed = await sealSessionId(sessionId, holder, masterKeysOf(incoming.env))
    if (sealed !== undefined) headers.set("mcp-session-id", sealed)
  }
  return headers
}

type Streaming = { connection: Connection; deadline: Deadline; headers: Headers }

/**
 * The messages as events. A client disconnect shows only on a write, so comments are written to an idle stream. A
 * disconnect also ends the exchange with the server.
 */
function respondWithStream(request: McpRequest, opening: Promise<Opened>, streaming: Streaming): Response {
  const { connection, deadline, headers } = streaming
  deadline.isShared = true
  const { readable, writable } = new IdentityTransformStream()
  const writer = new FrameWriter(writable, deadline.stop)
  const { keepaliveMs } = timersOf(connection.incoming.env)
  const keepalive = setInterval(() => writer.write([KEEPALIVE_FRAME]), keepaliveMs)
  const relay = async () => {
    try {
      const { running, first } = await opening
      writer.write([toFrame(first)])
      for await (const message of running.messages) {
        writer.write([toFrame(message)])
        if (writer.isFull) await writer.drained()
      }
    } catch (thrown) {
      const { message } = asGatewayError(httpErrorOf(thrown))
      writer.write([toFrame(errorResponse(request, { code: ERROR_CODES.serverFailed, message }))])
    } finally {
      clearInterval(keepalive)
      deadline.clear()
      await writer.release()
      await writable.close().catch(() => undefined)
    }
  }
  connection.incoming.executionCtx.waitUntil(relay())
  headers.set("content-type", "text/event-stream")
  // nginx buffers a stream without this header.
  headers.set("x-accel-buffering", "no")
  return new Response(readable, { headers })
}

/** A failure of the complete HTTP request. */
function httpErrorOf(thrown: unknown): unknown {
  if (!(thrown instanceof ServerFailure)) return thrown
  return thrown.isSessionLost ? sessionLost() : new GatewayError("provider_failed", thrown.message)
}
