import { withTimeout } from "../../support/time/time.ts"
import { isObject, type Json } from "../../support/text/json.ts"
import { discover, invalidateRevision, isRejection, supportsStateless } from "../discover.ts"
import {
  type ServerResponse,
  endSession,
  lastOf,
  sendOneWay,
  sendRequest,
  ServerFailure,
  single,
  type Upstream,
} from "./transport.ts"
import {
  ERROR_CODES,
  errorResponse,
  isRequest,
  isResponseTo,
  isSessionVersion,
  type McpMessage,
  type McpRequest,
  NEWEST_SESSION_VERSION,
  paramsOf,
  resultResponse,
  STATELESS_VERSION,
} from "./message.ts"
import { isRelayed, toDiscovery, toInitialized, toSession, toStateless } from "./results.ts"
import { STATELESS_SESSION } from "./session.ts"
import { CLIENT_INFO, META, metaOf, withMeta, withoutMeta } from "./stateless.ts"
import type { McpServerRow } from "../table.ts"

/** Connects a client of one protocol revision with a server of another: each gets messages of its revision. */

export type Translation = {
  server: Pick<McpServerRow, "id" | "version" | "timeoutMs">
  upstream: Upstream
  /** Runs after the response. */
  waitUntil: (work: Promise<unknown>) => void
}

/** Sends a request in the revision that `upstream` names. Throws ServerFailure; so does reading the messages. */
export async function sendTranslated(request: McpRequest, translation: Translation): Promise<ServerResponse> {
  const { server, upstream } = translation
  if (upstream.protocolVersion === STATELESS_VERSION) {
    const isStateless = await supportsStateless(server, upstream)
    return isStateless ? sendStateless(request, translation) : sendInSession(request, translation)
  }
  if (upstream.sessionId === STATELESS_SESSION) return sendForSession(request, translation)
  return request.method === "initialize" ? initialize(request, translation) : sendRequest(request, upstream)
}

async function sendStateless(request: McpRequest, { server, upstream }: Translation): Promise<ServerResponse> {
  try {
    const response = await sendRequest(withMeta(request, metaOf(request)), upstream)
    return { ...response, sessionId: null, messages: readBy(request, response.messages) }
  } catch (thrown) {
    if (thrown instanceof ServerFailure && isRejection(thrown)) invalidateRevision(server)
    throw thrown
  }
}

async function* readBy(request: McpRequest, messages: AsyncIterable<McpMessage>) {
  const { [META.logLevel]: logLevel } = metaOf(request)
  for await (const message of messages) {
    if (isResponseTo(request, message)) yield toStateless(request.method, message)
    else if (isRelayed(message, logLevel)) yield message
  }
}

/** Methods that a server without sessions does not need. */
const HANDLED_BY_GATEWAY: ReadonlySet<string> = new Set(["ping", "logging/setLevel"])
const ONLY_IN_SESSIONS: ReadonlySet<string> = new Set(["resources/subscribe", "resources/unsubscribe"])

/** Sends a request of a client with a session to a server without sessions. */
async function sendForSession(request: McpRequest, { server, upstream }: Translation): Promise<ServerResponse> {
  const { method } = request
  if (HANDLED_BY_GATEWAY.has(method)) return singleMessage(resultResponse(request, {}))
  if (ONLY_IN_SESSIONS.has(method)) {
    const message = `The server does not have the method ${method}.`
    return singleMessage(errorResponse(request, { code: ERROR_CODES.methodNotFound, message }))
  }
  const stateless = { ...upstream, sessionId: undefined, protocolVersion: STATELESS_VERSION }
  const response = await sendStateless(withMeta(request), { server, upstream: stateless, waitUntil: () => undefined })
  return { ...response, messages: asSession(request, response.messages) }
}

async function* asSession(request: McpRequest, messages: AsyncIterable<McpMessage>) {
  for await (const message of messages) yield isResponseTo(request, message) ? toSession(message) : message
}

/** Opens the session of a client. A server without sessions gets its requests one by one. */
async function initialize(request: McpRequest, { server, upstream }: Translation): Promise<ServerResponse> {
  const session = await sendRequest(request, upstream).catch((thrown: unknown) => {
    if (thrown instanceof ServerFailure && isRejection(thrown)) return thrown
    throw thrown
  })
  const response = session instanceof ServerFailure ? undefined : await lastOf(session.messages)
  if (!(session instanceof ServerFailure) && response && !isObject(response["error"])) {
    return { ...session, messages: single(response) }
  }
  const discovery = await discover(server, upstream).catch(() => undefined)
  if (!discovery) {
    if (session instanceof ServerFailure) throw session
    return { ...session, messages: response ? single(response) : session.messages }
  }
  const { protocolVersion } = paramsOf(request)
  const version = isSessionVersion(protocolVersion) ? protocolVersion : NEWEST_SESSION_VERSION
  const initialized = singleMessage(resultResponse(request, toInitialized(discovery, version)))
  return { ...initialized, sessionId: STATELESS_SESSION }
}

function singleMessage(message: McpMessage): ServerResponse {
  return { sessionId: null, isStream: false, messages: single(message) }
}

/** Sends one request of a client without sessions in a new session. */
async function sendInSession(request: McpRequest, translation: Translation): Promise<ServerResponse> {
  const session = await openSession(translation)
  if (request.method === "server/discover") {
    end(session, translation)
    return singleMessage(toStateless(request.method, resultResponse(request, toDiscovery(session.about))))
  }
  try {
    const response = await sendRequest(withoutMeta(request), session.upstream)
    return { ...response, sessionId: null, messages: relayMessages(request, response, session, translation) }
  } catch (thrown) {
    end(session, translation, request)
    throw withoutSession(thrown)
  }
}

type Session = { upstream: Upstream; about: Json }

async function openSession(translation: Translation): Promise<Session> {
  const { server, upstream } = translation
  const params = { protocolVersion: NEWEST_SESSION_VERSION, capabilities: {}, clientInfo: CLIENT_INFO }
  const request: McpRequest = { jsonrpc: "2.0", id: crypto.randomUUID(), method: "initialize", params }
  try {
    const plain = { ...upstream, sessionId: undefined, protocolVersion: undefined }
    const { sessionId, messages } = await sendRequest(request, plain)
    const response = await lastOf(messages)
    const about = isObject(response?.["result"]) ? response["result"] : {}
    const { protocolVersion } = about
    if (typeof protocolVersion !== "string" || !isSessionVersion(protocolVersion)) {
      throw new ServerFailure("The server supports no protocol revision that the gateway supports.")
    }
    const session = { upstream: { ...plain, sessionId: sessionId ?? undefined, protocolVersion }, about }
    await sendOneWay({ jsonrpc: "2.0", method: "notifications/initialized" }, session.upstream).catch(
      (thrown: unknown) => {
        end(session, translation)
        throw withoutSession(thrown)
      },
    )
    return session
  } catch (thrown) {
    invalidateRevision(server)
    throw thrown
  }
}

/** Hides a lost session from a client that has none to open again. */
function withoutSession(thrown: unknown): unknown {
  return thrown instanceof ServerFailure && thrown.isSessionLost ? new ServerFailure(thrown.message) : thrown
}

/** Ends a session. `open`: the request that the server may still be processing. */
function end({ upstream }: Session, { server, waitUntil }: Translation, open?: McpRequest): void {
  if (upstream.sessionId === undefined) return
  const work = async (signal: AbortSignal) => {
    const to = { ...upstream, signal }
    if (open) {
      const params = { requestId: open.id, reason: "The client disconnected or the request timed out." }
      await sendOneWay({ jsonrpc: "2.0", method: "notifications/cancelled", params }, to).catch(() => undefined)
    }
    await endSession(to)
  }
  waitUntil(withTimeout(server.timeoutMs, work).catch(() => undefined))
}

async function* relayMessages(
  request: McpRequest,
  { messages }: ServerResponse,
  session: Session,
  translation: Translation,
) {
  let open: McpRequest | undefined = request
  const { [META.logLevel]: logLevel } = metaOf(request)
  try {
    for await (const message of messages) {
      if (isResponseTo(request, message)) {
        open = undefined
        yield toStateless(request.method, message)
      } else if (isRequest(message)) {
        rejectServerRequest(message, session, translation)
      } else if (isRelayed(message, logLevel)) {
        yield message
      }
    }
  } finally {
    end(session, translation, open)
  }
}

/** The client of this session can only respond to pings: the server must not wait for anything else. */
function rejectServerRequest(request: McpRequest, { upstream }: Session, { server, waitUntil }: Translation): void {
  const error = { code: ERROR_CODES.methodNotFound, message: "The client does not have this method." }
  const response = request.method === "ping" ? resultResponse(request, {}) : errorResponse(request, error)
  const send = (signal: AbortSignal) => sendOneWay(response, { ...upstream, signal })
  waitUntil(withTimeout(server.timeoutMs, send).catch(() => undefined))
}
