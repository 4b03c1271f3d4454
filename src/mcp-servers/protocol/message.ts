import { isObject, type Json } from "../../support/text/json.ts"

/** Messages of JSON-RPC 2.0, as the Model Context Protocol uses them. */

/** The revision without sessions: each request names it in `_meta` and in headers. */
export const STATELESS_VERSION = "2026-07-28"
/** Revisions whose clients open a session with `initialize`, newest first. */
export const SESSION_VERSIONS = ["2025-11-25", "2025-06-18", "2025-03-26"] as const
export const NEWEST_SESSION_VERSION = SESSION_VERSIONS[0]
/** Revisions that the gateway serves, newest first. */
export const PROTOCOL_VERSIONS: readonly string[] = [STATELESS_VERSION, ...SESSION_VERSIONS]
/** The revision of a client without the header; the last revision with batches. */
export const VERSION_WITHOUT_HEADER = "2025-03-26"

export function isSessionVersion(version: unknown): boolean {
  return SESSION_VERSIONS.some((one) => one === version)
}

export type RequestId = string | number
/** A request, a notification (without `id`) or a response (without `method`). */
export type McpMessage = Json & { jsonrpc: "2.0" }
export type McpRequest = McpMessage & { id: RequestId; method: string }

export function isMessage(value: unknown): value is McpMessage {
  return isObject(value) && value["jsonrpc"] === "2.0"
}

function isId(value: unknown): value is RequestId {
  return typeof value === "string" || (typeof value === "number" && Number.isFinite(value))
}

export function isRequest(message: McpMessage): message is McpRequest {
  return isId(message["id"]) && typeof message["method"] === "string"
}

export function isResponse(message: McpMessage): boolean {
  return !("method" in message) && ("result" in message || "error" in message)
}

/** Whether the message is the response to a request, by its id: `1` and `"1"` differ. */
export function isResponseTo({ id }: McpRequest, message: McpMessage): boolean {
  return isResponse(message) && message["id"] === id
}

export function paramsOf(message: McpMessage): Json {
  return isObject(message["params"]) ? message["params"] : {}
}

/** Error codes of the gateway. */
export const ERROR_CODES = {
  invalidRequest: -32_600,
  methodNotFound: -32_601,
  invalidParams: -32_602,
  /** Rejected by a permission, a limit or a guardrail. `data.code` is the HTTP status that other endpoints return. */
  rejected: -32_010,
  /** The server failed before it responded. */
  serverFailed: -32_011,
  /** A header of revision 2026-07-28 is missing or differs from the body. */
  headerMismatch: -32_020,
  /** The server needs a capability that the client did not declare. */
  missingCapability: -32_021,
  unsupportedVersion: -32_022,
} as const

export type McpError = { code: number; message: string; data?: Json }

export function errorResponse({ id }: Pick<McpRequest, "id">, error: McpError): McpMessage {
  return { jsonrpc: "2.0", id, error }
}

export function resultResponse({ id }: McpRequest, result: Json): McpMessage {
  return { jsonrpc: "2.0", id, result }
}
