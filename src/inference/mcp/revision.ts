import {
  ERROR_CODES,
  isRequest,
  isSessionVersion,
  type McpError,
  type McpMessage,
  PROTOCOL_VERSIONS,
  type RequestId,
  SESSION_VERSIONS,
  STATELESS_VERSION,
} from "../../mcp-servers/protocol/message.ts"
import { decodeValue, META, metaOf, nameOf } from "../../mcp-servers/protocol/stateless.ts"
import { isArray, isObject, type Json } from "../../support/text/json.ts"

/** Revision of a client's message. Revision 2026-07-28 has it in the body and again in headers. */

export const VERSION_HEADER = "mcp-protocol-version"

type Rejection = { jsonrpc: "2.0"; id: RequestId | null; error: McpError }
/** `version`: undefined if the client names none. */
type Revision = { version: string | undefined } | { rejection: Rejection }

export function readRevision(headers: Headers, body: McpMessage | McpMessage[]): Revision {
  const header = headers.get(VERSION_HEADER) ?? undefined
  const messages = isArray(body) ? body : [body]
  const isClaimed = messages.some((message) => META.version in metaOf(message))
  const [message] = messages
  if (!message || (isArray(body) && (isClaimed || header === STATELESS_VERSION))) {
    return { rejection: toRejection(null, ERROR_CODES.invalidRequest, `Revision ${STATELESS_VERSION} has no batches.`) }
  }
  const id = isRequest(message) ? message.id : null
  const error = isClaimed ? errorOfClaim(message, headers) : errorWithoutClaim(message, header)
  return error ? { rejection: { jsonrpc: "2.0", id, error } } : { version: isClaimed ? STATELESS_VERSION : header }
}

function toRejection(id: RequestId | null, code: number, message: string, data?: Json): Rejection {
  return { jsonrpc: "2.0", id, error: errorOf(code, message, data) }
}

function errorOf(code: number, message: string, data?: Json): McpError {
  return { code, message, ...(data && { data }) }
}

/** Error of a message that has its revision in `_meta`. */
function errorOfClaim(message: McpMessage, headers: Headers): McpError | undefined {
  const meta = metaOf(message)
  const version = meta[META.version]
  const malformed = malformedField(meta, isRequest(message))
  if (malformed !== undefined) return errorOf(ERROR_CODES.invalidParams, `params._meta: ${malformed}`)
  const header = headers.get(VERSION_HEADER)
  if (header !== null && header !== version) return mismatch("MCP-Protocol-Version", "params._meta")
  if (version !== STATELESS_VERSION) return unsupportedRevision(version)
  return isRequest(message) ? errorOfHeaders(message, headers) : undefined
}

function malformedField(meta: Json, isRequested: boolean): string | undefined {
  if (typeof meta[META.version] !== "string") return `${META.version}: must be a string.`
  if (!isRequested) return undefined
  if (!isObject(meta[META.capabilities])) return `${META.capabilities}: must be an object.`
  const info = meta[META.clientInfo]
  if (info === undefined || (isObject(info) && typeof info["name"] === "string")) return undefined
  return `${META.clientInfo}: must be an object with name and version.`
}

/** The permission check reads the body: a header with another method or name could mislead intermediaries. */
function errorOfHeaders(message: McpMessage, headers: Headers): McpError | undefined {
  if (!headers.has(VERSION_HEADER)) return mismatch("MCP-Protocol-Version", "params._meta")
  if (headers.get("mcp-method") !== message["method"]) return mismatch("Mcp-Method", "method")
  const name = nameOf(message)
  if (name === undefined) return undefined
  const header = headers.get("mcp-name")
  return header !== null && decodeValue(header) === name ? undefined : mismatch("Mcp-Name", "params")
}

function mismatch(header: string, field: string): McpError {
  const message = `${header}: is missing or differs from ${field} of the body.`
  return errorOf(ERROR_CODES.headerMismatch, message, { header })
}

function unsupportedRevision(requested: unknown): McpError {
  const supported = PROTOCOL_VERSIONS
  const message = `The gateway serves ${STATELESS_VERSION} in params._meta, and ${SESSION_VERSIONS.join(", ")} after initialize.`
  return errorOf(ERROR_CODES.unsupportedVersion, message, { supported, requested })
}

/** Error of a message without revision in `_meta`, which may have an earlier revision. */
function errorWithoutClaim(message: McpMessage, header: string | undefined): McpError | undefined {
  if (header === undefined || isSessionVersion(header)) return undefined
  if (header !== STATELESS_VERSION) return unsupportedRevision(header)
  if (!isRequest(message)) return undefined
  if (message.method === "initialize") return mismatch("MCP-Protocol-Version", "method")
  return errorOf(ERROR_CODES.invalidParams, `params._meta: ${META.version} is required in revision ${header}.`)
}
