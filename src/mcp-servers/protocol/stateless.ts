import { decodeBase64, toBase64 } from "../../support/text/encoding.ts"
import { isArray, isObject, type Json } from "../../support/text/json.ts"
import { isRequest, type McpMessage, type McpRequest, paramsOf, STATELESS_VERSION } from "./message.ts"

/** Format of revision 2026-07-28: request metadata in `_meta`, repeated in headers. */

export const META = {
  version: "io.modelcontextprotocol/protocolVersion",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  capabilities: "io.modelcontextprotocol/clientCapabilities",
  logLevel: "io.modelcontextprotocol/logLevel",
  serverInfo: "io.modelcontextprotocol/serverInfo",
} as const

const OF_CLIENT: ReadonlySet<string> = new Set([META.version, META.clientInfo, META.capabilities, META.logLevel])

/** The gateway as a client of servers. */
export const CLIENT_INFO = { name: "edge-model-gateway", version: "0.2.0" }

/** Severities of log messages, lowest first. */
export const LOG_LEVELS: readonly unknown[] = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
]

/** The parameter that the header `Mcp-Name` repeats. */
const NAMED_BY: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
}

export function metaOf(message: McpMessage): Json {
  const { _meta: meta } = paramsOf(message)
  return isObject(meta) ? meta : {}
}

/** The required value of `Mcp-Name`; undefined if the method has no such header or the parameters no such field. */
export function nameOf(message: McpMessage): string | undefined {
  const { method } = message
  const field = typeof method === "string" && Object.hasOwn(NAMED_BY, method) ? NAMED_BY[method] : undefined
  const value = field === undefined ? undefined : paramsOf(message)[field]
  return typeof value === "string" ? value : undefined
}

/** The headers that repeat values of a request. */
export function headersFor(message: McpMessage): Record<string, string> {
  if (!isRequest(message)) return {}
  const name = nameOf(message)
  return { "mcp-method": message.method, ...(name !== undefined && { "mcp-name": encodeValue(name) }) }
}

/** A request for a server of this revision. `from`: the client's metadata; empty for clients with sessions. */
export function withMeta(request: McpRequest, from: Json = {}): McpRequest {
  const { clientInfo, capabilities, logLevel } = META
  const meta = {
    ...withoutClientMeta(metaOf(request)),
    [META.version]: STATELESS_VERSION,
    [clientInfo]: isObject(from[clientInfo]) ? from[clientInfo] : CLIENT_INFO,
    [capabilities]: withoutTasks(isObject(from[capabilities]) ? from[capabilities] : {}),
    ...(LOG_LEVELS.includes(from[logLevel]) && { [logLevel]: from[logLevel] }),
  }
  return { ...request, params: { ...paramsOf(request), _meta: meta } }
}

const TASKS = "io.modelcontextprotocol/tasks"

/** Capabilities of a client or server without tasks, which the gateway does not support. */
export function withoutTasks(capabilities: Json): Json {
  const { tasks: _, extensions, ...rest } = capabilities
  if (!isObject(extensions)) return rest
  const { [TASKS]: __, ...others } = extensions
  return { ...rest, extensions: others }
}

/** A request for a server with sessions. */
export function withoutMeta(request: McpRequest): McpRequest {
  const { _meta: meta, inputResponses: _, requestState: __, ...params } = paramsOf(request)
  if (!isObject(meta)) return request
  const rest = withoutClientMeta(meta)
  return { ...request, params: { ...params, ...(Object.keys(rest).length > 0 && { _meta: rest }) } }
}

function withoutClientMeta(meta: Json): Json {
  return Object.fromEntries(Object.entries(meta).filter(([name]) => !OF_CLIENT.has(name)))
}

const ENCODED = /^=\?base64\?(.*)\?=$/s
/** Values that a header can contain unencoded: visible ASCII, with spaces and tabs inside only. */
const PLAIN = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/

export function encodeValue(value: string): string {
  if (PLAIN.test(value) && !ENCODED.test(value)) return value
  return `=?base64?${toBase64(new TextEncoder().encode(value))}?=`
}

/** Undefined for a value that is not encoded as the protocol requires. */
export function decodeValue(header: string): string | undefined {
  const [, encoded] = ENCODED.exec(header) ?? []
  if (encoded === undefined) return header
  const bytes = decodeBase64(encoded)
  if (!bytes || toBase64(bytes) !== encoded) return undefined
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

const PARAM_PREFIX = "mcp-param-"
const MAX_PARAM_HEADERS = 32

/** Names of the `Mcp-Param-*` headers, which the client chooses. */
export function paramNamesOf(headers: Headers): string[] {
  const names = [...headers.keys()].filter((name) => name.startsWith(PARAM_PREFIX))
  return names.slice(0, MAX_PARAM_HEADERS).map((name) => name.slice(PARAM_PREFIX.length))
}

/**
 * The `Mcp-Param-*` headers of a call, which repeat arguments that the server names. Each is sent with the value of its
 * argument after guardrails; a header that repeats no argument is dropped.
 */
export function paramHeadersOf(headers: Headers, args: unknown, screened: unknown): Record<string, string> {
  const names = paramNamesOf(headers)
  if (names.length === 0) return {}
  const passed = new Map<string, string>()
  collect(args, screened, passed)
  const params = names.flatMap((param) => {
    const name = `${PARAM_PREFIX}${param}`
    const value = decodeValue(headers.get(name) ?? "")
    const after = value === undefined ? undefined : passed.get(value)
    return after === undefined ? [] : [[name, encodeValue(after)] as const]
  })
  return Object.fromEntries(params)
}

/** Maps each value of the arguments to its value after guardrails. */
function collect(value: unknown, screened: unknown, passed: Map<string, string>): void {
  if (isObject(value)) {
    for (const [key, inner] of Object.entries(value))
      collect(inner, isObject(screened) ? screened[key] : undefined, passed)
    return
  }
  const text = textOf(value)
  const after = textOf(screened)
  if (text !== undefined && after !== undefined && !passed.has(text)) passed.set(text, after)
}

function textOf(value: unknown): string | undefined {
  if (isArray(value) || value === null) return undefined
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? String(value)
    : undefined
}
