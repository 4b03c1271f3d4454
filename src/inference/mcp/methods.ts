import { GatewayError } from "../../errors/errors.ts"
import {
  isSessionVersion,
  type McpMessage,
  type McpRequest,
  NEWEST_SESSION_VERSION,
  paramsOf,
  SESSION_VERSIONS,
  STATELESS_VERSION,
} from "../../mcp-servers/protocol/message.ts"
import { mayCallTool, mayUseAll } from "../../mcp-servers/permission.ts"
import { ServerFailure } from "../../mcp-servers/protocol/transport.ts"
import { META, metaOf, withoutTasks } from "../../mcp-servers/protocol/stateless.ts"
import { isObject, type Json, objectsOf } from "../../support/text/json.ts"
import { TOOL_NAME } from "../../support/mcp-tools.ts"
import type { Connection } from "./connection.ts"

/** Permissions of each method, and the part of its result that a key may see. */

/** Allowed for every key that may call a tool of the server. */
const FOR_TOOLS = new Set(["initialize", "server/discover", "ping", "tools/list", "tools/call", "logging/setLevel"])
/** Allowed for keys that may use all tools of the server. */
const FOR_ALL = new Set([
  "resources/list",
  "resources/templates/list",
  "resources/read",
  "resources/subscribe",
  "resources/unsubscribe",
  "prompts/list",
  "prompts/get",
  "completion/complete",
])

/** Methods of one era of revisions only. */
const STATELESS_ONLY = new Set(["server/discover"])
const SESSION_ONLY = new Set(["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"])

/** Server capabilities for the methods in FOR_ALL. */
const CAPABILITIES_FOR_ALL = new Set(["resources", "prompts", "completions"])

/** The tool that a request calls; undefined for other methods. */
export function toolOf(request: McpRequest): string | undefined {
  if (request.method !== "tools/call") return undefined
  const { name } = paramsOf(request)
  return typeof name === "string" ? name.slice(0, 200) : ""
}

/** Throws for a method or a tool that the key may not use. */
export function requireMethod(request: McpRequest, { incoming: { caller }, server, isStateless }: Connection): void {
  const { method } = request
  if ((isStateless ? SESSION_ONLY : STATELESS_ONLY).has(method)) throw noSuchMethod(method)
  if (FOR_ALL.has(method)) {
    if (mayUseAll(caller, server)) return
    const rule = `${method} needs mcp_tools with ${server.slug}/*: this key may call only some tools of the server.`
    throw deniedError(rule)
  }
  if (!FOR_TOOLS.has(method)) throw noSuchMethod(method)
  if (method !== "tools/call") return
  const { name, task } = paramsOf(request)
  if (typeof name !== "string" || !TOOL_NAME.test(name)) {
    throw new GatewayError("invalid_request", "params.name: must be the name of a tool.")
  }
  if (task !== undefined) {
    throw new GatewayError("invalid_request", "params.task: the gateway does not run tools as tasks. Leave it out.")
  }
  if (!mayCallTool(caller, server, name)) {
    throw deniedError(
      `This key may not call the tool ${name} of the MCP server ${server.slug}: mcp_tools of the key, allowed_mcp_tools of its guardrails and allowed_tools of the server must all allow it.`,
    )
  }
}

function noSuchMethod(method: string): GatewayError {
  return new GatewayError("not_found", `The gateway does not forward the method ${method.slice(0, 100)}.`)
}

function deniedError(message: string): GatewayError {
  return new GatewayError("forbidden", message, { metadata: { reason: "mcp_tool_denied" } })
}

/** The request to send: with a revision that both sides support, and only fields that guardrails read. */
export function toServerRequest(
  { jsonrpc, id, method, params: sentParams }: McpRequest,
  connection: Connection,
): McpRequest {
  const { isStateless } = connection
  const request: McpRequest = { jsonrpc, id, method, ...(sentParams !== undefined && { params: sentParams }) }
  const params = isStateless ? { ...paramsOf(request), _meta: metaWithoutVersion(request) } : paramsOf(request)
  if (request.method === "initialize") {
    const { protocolVersion } = params
    const version = isSessionVersion(protocolVersion) ? protocolVersion : NEWEST_SESSION_VERSION
    return { ...request, params: { ...params, protocolVersion: version } }
  }
  if (request.method !== "tools/call") return isStateless ? { ...request, params } : request
  const { name, arguments: args, _meta: about, inputResponses, requestState } = params
  const sent = {
    name,
    ...(args !== undefined && { arguments: args }),
    ...(about !== undefined && { _meta: about }),
    // Input that the tool requested in its last result.
    ...(isStateless && inputResponses !== undefined && { inputResponses }),
    ...(isStateless && requestState !== undefined && { requestState }),
  }
  return { jsonrpc: "2.0", id: request.id, method: request.method, params: sent }
}

/** Removes the revision: the gateway checks and sends it, so a guardrail must not redact it. */
function metaWithoutVersion(request: McpRequest): Json {
  const { [META.version]: _, ...rest } = metaOf(request)
  return rest
}

/** The part of the response that the key may see. */
export function visiblePart(request: McpRequest, message: McpMessage, connection: Connection): McpMessage {
  const { result } = message
  if (!isObject(result)) return message
  if (request.method === "tools/list") return { ...message, result: withAllowedTools(result, connection) }
  if (request.method === "initialize") return { ...message, result: toInitializeResult(result, connection) }
  return request.method === "server/discover" ? { ...message, result: toDiscoverResult(result, connection) } : message
}

function withAllowedTools(result: Json, { incoming: { caller }, server }: Connection): Json {
  const tools = objectsOf(result["tools"]).filter(
    ({ name }) => typeof name === "string" && TOOL_NAME.test(name) && mayCallTool(caller, server, name),
  )
  return { ...result, tools }
}

/** Clients use announced capabilities as soon as they are connected, so a key sees only those that it may use. */
function toInitializeResult(result: Json, connection: Connection): Json {
  const { protocolVersion, capabilities } = result
  if (!isSessionVersion(protocolVersion)) {
    const served = SESSION_VERSIONS.join(", ")
    throw new ServerFailure(`The server uses a protocol revision that the gateway does not support (${served}).`)
  }
  return isObject(capabilities) ? { ...result, capabilities: capabilitiesOf(capabilities, connection) } : result
}

/** Removes capabilities that need `subscriptions/listen`. */
function toDiscoverResult(result: Json, connection: Connection): Json {
  const { capabilities } = result
  const passed = Object.entries(capabilitiesOf(isObject(capabilities) ? capabilities : {}, connection))
  const withoutSubscriptions = passed.map(([name, value]) => {
    const { listChanged: _, subscribe: __, ...rest } = isObject(value) ? value : {}
    return [name, rest] as const
  })
  return { ...result, supportedVersions: [STATELESS_VERSION], capabilities: Object.fromEntries(withoutSubscriptions) }
}

function capabilitiesOf(capabilities: Json, { incoming: { caller }, server }: Connection): Json {
  const mayAll = mayUseAll(caller, server)
  const passed = Object.entries(withoutTasks(capabilities)).filter(
    ([name]) => mayAll || !CAPABILITIES_FOR_ALL.has(name),
  )
  return Object.fromEntries(passed)
}
