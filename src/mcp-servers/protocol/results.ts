import { isCount, isObject, type Json, objectsOf } from "../../support/text/json.ts"
import { ServerFailure } from "./transport.ts"
import { isResponse, type McpMessage, STATELESS_VERSION } from "./message.ts"
import { LOG_LEVELS, META } from "./stateless.ts"

/** Translates results between revisions with and without sessions. */

const CACHEABLE = new Set([
  "server/discover",
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "resources/read",
])
/** Code of revision 2025-11-25 and before; later ones use invalid params. */
const RESOURCE_NOT_FOUND = -32_002
const INVALID_PARAMS = -32_602

/** A response for a client of revision 2026-07-28. It depends on the key, so it is never for a shared cache. */
export function toStateless(method: string, message: McpMessage): McpMessage {
  const { result, error } = message
  if (isObject(error)) {
    return error["code"] === RESOURCE_NOT_FOUND ? { ...message, error: { ...error, code: INVALID_PARAMS } } : message
  }
  if (!isObject(result)) return message
  const { resultType = "complete", ttlMs } = result
  if (resultType !== "complete" && resultType !== "input_required") {
    throw new ServerFailure("The server returned a kind of result that the gateway does not support.")
  }
  const caching = CACHEABLE.has(method) && {
    ttlMs: isCount(ttlMs) ? ttlMs : 0,
    cacheScope: "private",
  }
  const listed = method === "tools/list" && {
    tools: objectsOf(result["tools"]).map(withoutExecution),
  }
  return { ...message, result: { ...result, ...listed, resultType, ...caching } }
}

/** Removes how a tool runs as a task, which revision 2026-07-28 does not have. */
function withoutExecution(tool: Json): Json {
  const { execution: _, ...rest } = tool
  return rest
}

/** A response for clients of earlier revisions. Throws if the server requests input, which they cannot send. */
export function toSession(message: McpMessage): McpMessage {
  const { result } = message
  if (!isObject(result)) return message
  const { resultType, ttlMs: _, cacheScope: __, ...rest } = result
  if (resultType === undefined || resultType === "complete") return { ...message, result: rest }
  throw new ServerFailure(`The server needs more input, which only clients of revision ${STATELESS_VERSION} can send.`)
}

/** The description of a server with sessions, as a result of `server/discover`. */
export function toDiscovery({ capabilities, instructions, serverInfo }: Json): Json {
  return {
    supportedVersions: [STATELESS_VERSION],
    capabilities: isObject(capabilities) ? capabilities : {},
    ...(typeof instructions === "string" && { instructions }),
    ...(isObject(serverInfo) && { _meta: { [META.serverInfo]: serverInfo } }),
  }
}

/** The description of a server without sessions, as a result of `initialize`. */
export function toInitialized(discovery: Json, protocolVersion: unknown): Json {
  const { capabilities, instructions, _meta: meta } = discovery
  const info = isObject(meta) ? meta[META.serverInfo] : undefined
  return {
    protocolVersion,
    capabilities: isObject(capabilities) ? capabilities : {},
    serverInfo: isObject(info) ? info : { name: "server", version: "0" },
    ...(typeof instructions === "string" && { instructions }),
  }
}

/** Whether to send a client of revision 2026-07-28 this message before the response. `logLevel`: from its request. */
export function isRelayed(message: McpMessage, logLevel: unknown): boolean {
  if (isResponse(message) || message["method"] === "notifications/progress") return true
  if (message["method"] !== "notifications/message" || !LOG_LEVELS.includes(logLevel)) return false
  const { level } = isObject(message["params"]) ? message["params"] : {}
  return LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(logLevel)
}
