import { asGatewayError, GatewayError } from "../../errors/errors.ts"
import type { PipelineStage } from "../../formats/pipeline-stage.ts"
import { isTooDeep } from "../../support/text/depth.ts"
import type { Screening } from "../../guardrails/screening.ts"
import { screenReceived, screenSent } from "../../mcp-servers/protocol/content.ts"
import { sendTranslated } from "../../mcp-servers/protocol/translate-revision.ts"
import { type ServerResponse, ServerFailure, single } from "../../mcp-servers/protocol/transport.ts"
import {
  ERROR_CODES,
  errorResponse,
  isResponse,
  isResponseTo,
  type McpError,
  type McpMessage,
  type McpRequest,
  paramsOf,
} from "../../mcp-servers/protocol/message.ts"
import { priceOf } from "../../mcp-servers/server.ts"
import { paramHeadersOf, paramNamesOf } from "../../mcp-servers/protocol/stateless.ts"
import { isObject } from "../../support/text/json.ts"
import { logError } from "../../support/log.ts"
import { recordRejection } from "../errors/rejections.ts"
import type { Connection } from "./connection.ts"
import { toServerRequest, visiblePart, requireMethod, toolOf } from "./methods.ts"
import { holdToolCall, mcpModel, type ToolCall } from "./tool-call.ts"

/** A running request. `messages` always ends with the response to it. */
export type RunningRequest = {
  isStream: boolean
  /** The session that the server opened with this request. */
  sessionId: string | null
  generationId: string | undefined
  messages: AsyncGenerator<McpMessage, void, undefined>
}

/** Abort reason for the timeout of the server's record; any other reason means a client disconnect. */
export const TIME_IS_OVER = "timeout"

const hasDisconnected = (signal: AbortSignal) => signal.aborted && signal.reason !== TIME_IS_OVER

/** Methods whose results describe the server, which its operator has registered. */
const DESCRIPTIONS = new Set(["initialize", "server/discover", "ping", "tools/list"])

/** Runs one request: permission, guardrails, hold, exchange. Throws only if the complete HTTP request must fail. */
export async function runRequest(
  request: McpRequest,
  connection: Connection,
  signal: AbortSignal,
): Promise<RunningRequest> {
  const screening = connection.newScreening()
  const reading = DESCRIPTIONS.has(request.method) ? undefined : screening
  let call: ToolCall | undefined
  try {
    if (isTooDeep(request))
      throw new GatewayError("invalid_request", "The message is nested too deeply. Reduce the nesting.")
    requireMethod(request, connection)
    const outgoing = toServerRequest(request, connection)
    const names = connection.isStateless ? paramNamesOf(connection.incoming.request.headers) : []
    const screened = screening ? ((await screenSent(outgoing, screening, names)) as McpRequest) : outgoing
    call = await holdFor(screened, connection)
    if (call) connection.onHeld?.(call.id)
    const response = await exchange(request, screened, connection, signal)
    const messages = relayMessages({ request, response, connection, call, screening: reading, signal })
    return { isStream: response.isStream, sessionId: response.sessionId, generationId: call?.id, messages }
  } catch (thrown) {
    if (thrown instanceof ServerFailure && thrown.isSessionLost) {
      call?.end({ ending: "error", isCharged: false, error: toError(thrown, signal) })
      throw thrown
    }
    const response = toFailureMessage(request, { thrown, connection, call, signal, screening })
    return { isStream: false, sessionId: null, generationId: call?.id, messages: single(response) }
  }
}

async function exchange(
  request: McpRequest,
  screened: McpRequest,
  { server, incoming, upstream, isStateless }: Connection,
  signal: AbortSignal,
): Promise<ServerResponse> {
  const argumentsOf = (of: McpRequest) => paramsOf(of)["arguments"]
  const paramHeaders = isStateless
    ? paramHeadersOf(incoming.request.headers, argumentsOf(request), argumentsOf(screened))
    : {}
  const waitUntil = (work: Promise<unknown>) => incoming.executionCtx.waitUntil(work)
  return sendTranslated(screened, { server, upstream: { ...upstream, paramHeaders, signal }, waitUntil })
}

async function holdFor(
  request: McpRequest,
  { incoming, meta, server, deps }: Connection,
): Promise<ToolCall | undefined> {
  const tool = toolOf(request)
  if (tool === undefined) return undefined
  const call = {
    model: mcpModel(server.slug, tool),
    provider: server.name,
    priceNano: priceOf(server, tool),
    sessionId: meta.sessionId,
    input: JSON.stringify(paramsOf(request)["arguments"] ?? {}),
  }
  return holdToolCall(call, { caller: incoming.caller, meta }, await deps())
}

type Relay = {
  request: McpRequest
  response: ServerResponse
  connection: Connection
  call: ToolCall | undefined
  screening: Screening | undefined
  signal: AbortSignal
}

/** The server's messages after the guardrails, as they arrive. */
async function* relayMessages(relay: Relay): AsyncGenerator<McpMessage, void, undefined> {
  const { request, response, connection, call, screening, signal } = relay
  // A timeout counts as a failure of the server.
  const onAbort = () => {
    if (hasDisconnected(signal)) call?.end({ ending: "cancelled", isCharged: true })
  }
  signal.addEventListener("abort", onAbort, { once: true })
  try {
    for await (const message of response.messages) {
      const isFinal = isResponseTo(request, message)
      if (isResponse(message) && !isFinal) continue
      const passed = await screenMessage(message, screening, isFinal)
      if (!passed) continue
      if (!isFinal) {
        yield passed
        continue
      }
      const visible = visiblePart(request, passed, connection)
      const stages = screening?.stages() ?? []
      connection.onScreened?.(stages)
      endToolCall(call, visible, stages)
      yield visible
      return
    }
  } catch (thrown) {
    yield toFailureMessage(request, { thrown, connection, call, signal, screening })
  } finally {
    signal.removeEventListener("abort", onAbort)
    // The client stopped reading before the response.
    call?.end({ ending: "cancelled", isCharged: true })
  }
}

/** Drops a blocked notification. The response then fails with the same error. */
async function screenMessage(
  message: McpMessage,
  screening: Screening | undefined,
  isFinal: boolean,
): Promise<McpMessage | undefined> {
  if (!screening?.readsOutput) return message
  try {
    return await screenReceived(message, screening)
  } catch (thrown) {
    if (isFinal) throw thrown
    return undefined
  }
}

function endToolCall(call: ToolCall | undefined, message: McpMessage, stages: readonly PipelineStage[]): void {
  if (!call) return
  const { result } = message
  const isResult = result !== undefined
  // The tool requests input: only the call that provides it is charged.
  const needsInput = isObject(result) && result["resultType"] === "input_required"
  const error = new GatewayError("provider_failed", "The server returned a JSON-RPC error.")
  call.end({
    ending: isResult ? "complete" : "error",
    isCharged: isResult && !needsInput,
    output: JSON.stringify(result ?? message["error"]),
    stages,
    ...(!isResult && { error }),
  })
}

/** Error reasons for blocked content. */
const BLOCKS: ReadonlySet<string | undefined> = new Set(["guardrail_blocked", "guardrail_unchecked"])

type Failed = {
  thrown: unknown
  connection: Connection
  call: ToolCall | undefined
  signal: AbortSignal
  screening?: Screening | undefined
}

/** Ends the call, or records one that was rejected before its hold. Returns the message for the client. */
function toFailureMessage(request: McpRequest, { thrown, connection, call, signal, screening }: Failed): McpMessage {
  const error = toError(thrown, signal)
  const { incoming, server } = connection
  if (error.code === "internal") logError("an MCP request failed", { requestId: incoming.requestId }, error.cause)
  const isCancelled = hasDisconnected(signal)
  const isBlocked = error.code === "forbidden"
  const stages = screening?.stages() ?? []
  if (BLOCKS.has(error.metadata?.reason)) connection.onScreened?.(stages, error)
  const ending = isCancelled ? "cancelled" : error.code === "provider_timeout" ? "timeout" : "error"
  call?.end({ ending, isCharged: isCancelled || isBlocked, error, stages })
  const tool = toolOf(request)
  if (!call && tool !== undefined) {
    recordRejection(incoming, { error, apiType: "completions", body: { model: mcpModel(server.slug, tool) } })
  }
  return errorResponse(request, toMcpError(error, thrown))
}

function toError(thrown: unknown, signal: AbortSignal): GatewayError {
  if (!(thrown instanceof ServerFailure)) return asGatewayError(thrown)
  return new GatewayError(signal.aborted ? "provider_timeout" : "provider_failed", thrown.message)
}

function toMcpError(error: GatewayError, thrown: unknown): McpError {
  const code =
    thrown instanceof ServerFailure
      ? ERROR_CODES.serverFailed
      : error.code === "invalid_request"
        ? ERROR_CODES.invalidParams
        : error.code === "not_found"
          ? ERROR_CODES.methodNotFound
          : ERROR_CODES.rejected
  const retryAfter = error.headers?.["retry-after"]
  const { reason, patterns } = error.metadata ?? {}
  const data = {
    code: error.status,
    ...(reason !== undefined && { reason }),
    ...(patterns && { patterns }),
    ...(retryAfter !== undefined && { retry_after_seconds: Number(retryAfter) }),
  }
  return { code, message: error.message, data }
}
