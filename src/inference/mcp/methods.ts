import { GatewayError } from "../../errors/errors.ts"
import {
  isServedVersion,
  type McpMessage,
  type McpRequest,
  NEWEST_VERSION,
  paramsOf,
  PROTOCOL_VERSIONS,
} from "../../mcp-servers/message.ts"
import { mayCallTool, mayUseAll } from "../../mcp-servers/permission.ts"
import { ServerFailure } from "../../mcp-servers/exchange.ts"
import { isObject, type Json, objectsOf } from "../../support/json.ts"
import { TOOL_NAME } from "../../support/mcp-tools.ts"
import type { Connection } from "./connection.ts"

/** What each method may do, and what of its answer a key may see. */

/** For every key that may call a tool of the server. */
const FOR_TOOLS = new Set(["initialize", "ping", "tools/list", "tools/call", "logging/setLevel"])
/** For keys that may use all of the server. */
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

/** What a server announces of the methods in FOR_ALL. */
const CAPABILITIES_FOR_ALL = new Set(["resources", "prompts", "completions"])

/** The tool that a request calls; undefined for another method. */
export function toolOf(request: McpRequest): string | undefined {
  if (request.method !== "tools/call") return undefined
  const { name } = paramsOf(request)
  return typeof name === "string" ? name.slice(0, 200) : ""
}

/** Throws for a method or a tool that the key may not use. */
export function requireMethod(request: McpRequest, { incoming: { caller }, server }: Connection): void {
  const { method } = request
  if (FOR_ALL.has(method)) {
    if (mayUseAll(caller, server)) return
    const rule = `${method} needs mcp_tools with ${server.slug}/*: this key may call some tools of the server only.`
    throw denied(rule)
  }
  if (!FOR_TOOLS.has(method)) {
    throw new GatewayError("not_found", `The gateway does not pass on the method ${method.slice(0, 100)}.`)
  }
  if (method !== "tools/call") return
  const { name, task } = paramsOf(request)
  if (typeof name !== "string" || !TOOL_NAME.test(name)) {
    throw new GatewayError("invalid_request", "params.name: must be the name of a tool.")
  }
  if (task !== undefined) {
    throw new GatewayError("invalid_request", "params.task: the gateway does not run tools as tasks. Leave it out.")
  }
  if (!mayCallTool(caller, server, name)) {
    throw denied(
      `This key may not call the tool ${name} of the MCP server ${server.slug}: mcp_tools of the key, allowed_mcp_tools of its guardrails and allowed_tools of the server must all allow it.`,
    )
  }
}

function denied(message: string): GatewayError {
  return new GatewayError("forbidden", message, { metadata: { reason: "mcp_tool_denied" } })
}

/** The request as it is sent: a revision that both sides know, and of a call only the fields that guardrails read. */
export function outgoingOf(request: McpRequest): McpRequest {
  const params = paramsOf(request)
  if (request.method === "initialize") {
    const { protocolVersion } = params
    const version = isServedVersion(protocolVersion) ? protocolVersion : NEWEST_VERSION
    return { ...request, params: { ...params, protocolVersion: version } }
  }
  if (request.method !== "tools/call") return request
  const { name, arguments: args, _meta: about } = params
  const sent = { name, ...(args !== undefined && { arguments: args }), ...(about !== undefined && { _meta: about }) }
  return { jsonrpc: "2.0", id: request.id, method: request.method, params: sent }
}

/** The response as the key may see it. */
export function passedOf(request: McpRequest, message: McpMessage, connection: Connection): McpMessage {
  const { result } = message
  if (!isObject(result)) return message
  if (request.method === "tools/list") return { ...message, result: withAllowedTools(result, connection) }
  return request.method === "initialize" ? { ...message, result: negotiated(result, connection) } : message
}

function withAllowedTools(result: Json, { incoming: { caller }, server }: Connection): Json {
  const tools = objectsOf(result["tools"]).filter(
    ({ name }) => typeof name === "string" && TOOL_NAME.test(name) && mayCallTool(caller, server, name),
  )
  return { ...result, tools }
}

/** Clients request what a server announces as soon as they are connected: a key sees only what it may use. */
function negotiated(result: Json, { incoming: { caller }, server }: Connection): Json {
  const { protocolVersion, capabilities } = result
  if (!isServedVersion(protocolVersion)) {
    const served = PROTOCOL_VERSIONS.join(", ")
    throw new ServerFailure(`The server speaks a revision of the protocol that the gateway does not serve (${served}).`)
  }
  if (!isObject(capabilities)) return result
  const mayAll = mayUseAll(caller, server)
  const passed = Object.entries(capabilities).filter(
    ([name]) => name !== "tasks" && (mayAll || !CAPABILITIES_FOR_ALL.has(name)),
  )
  return { ...result, capabilities: Object.fromEntries(passed) }
}
