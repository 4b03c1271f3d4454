import type { AcpMessage, RpcId } from "../run/acp/acp.ts"
import { record } from "../run/acp/acp-values.ts"

/**
 * Frames between an intern and an ACP client, such as an editor: text frames with one JSON-RPC message each. The
 * gateway responds to messages about the connection itself, and forwards messages about sessions.
 */

export const CLIENT_LIMITS = {
  clients: 8,
  frameBytes: 1024 * 1024,
  /** Limit of unread data per client; a read request follows after `readRequestBytes`. */
  unreadBytes: 8 * 1024 * 1024,
  readRequestBytes: 1024 * 1024,
} as const

/** Close codes. 4003 is final for the token that the client came with. */
export const CLIENT_CLOSE = { binary: 1003, tooLarge: 1009, slow: 1013, revoked: 4003 } as const

/** JSON-RPC and ACP error codes. ACP uses -32000 for "log in first", so the gateway's codes differ from it. */
export const RPC_ERRORS = {
  parse: -32_700,
  invalid: -32_600,
  unknownMethod: -32_601,
  params: -32_602,
  noSession: -32_002,
  away: -32_010,
  busy: -32_011,
} as const

export type RpcError = NonNullable<AcpMessage["error"]>

/** `read`: the number of characters that the client has received. */
export type ClientFrame =
  | { is: "request"; id: RpcId; method: string; params: Record<string, unknown> }
  | { is: "notice"; method: string; params: Record<string, unknown> }
  | { is: "answer"; id: RpcId; outcome: { result: unknown } | { error: RpcError } }
  | { is: "read"; upTo: number }
  | { is: "malformed"; id: RpcId | null; error: RpcError }

const REQUESTED = /^read-(\d{1,15})$/

/** Id of the read request for the first `upTo` characters. Any response to it confirms them. */
export const readQuestion = (upTo: number): string => `read-${upTo}`

export function readClientFrame(text: string): ClientFrame {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return malformedFrameError(null, RPC_ERRORS.parse, "This is not JSON. Send one JSON-RPC message per frame.")
  }
  const message = record(parsed)
  const { id, method, params, result, error } = message
  const isId = typeof id === "string" || (typeof id === "number" && Number.isFinite(id))
  if (message["jsonrpc"] !== "2.0" || (id !== undefined && !isId) || (method === undefined && !isId)) {
    const rule =
      'Send one JSON-RPC message per frame: an object with jsonrpc: "2.0", and a string or a number as its id.'
    return malformedFrameError(isId ? id : null, RPC_ERRORS.invalid, rule)
  }
  if (method === undefined) return answerOf(id as RpcId, result, error)
  if (typeof method !== "string")
    return malformedFrameError(isId ? id : null, RPC_ERRORS.invalid, "method: must be a string.")
  return isId ? { is: "request", id, method, params: record(params) } : { is: "notice", method, params: record(params) }
}

function answerOf(id: RpcId, result: unknown, error: unknown): ClientFrame {
  const upTo = REQUESTED.exec(String(id))?.[1]
  if (upTo !== undefined) return { is: "read", upTo: Number(upTo) }
  if (error === undefined) return { is: "answer", id, outcome: { result: result ?? null } }
  const { code, message, data } = record(error)
  const reported: RpcError = {
    code: typeof code === "number" ? code : RPC_ERRORS.invalid,
    message: typeof message === "string" ? message : "The client failed.",
    ...(data !== undefined && { data }),
  }
  return { is: "answer", id, outcome: { error: reported } }
}

function malformedFrameError(id: RpcId | null, code: number, message: string): ClientFrame {
  return { is: "malformed", id, error: { code, message } }
}

/** The agent's response to `initialize`. It ignores the version that the client requests. */
export function initializeResult(name: string) {
  return {
    protocolVersion: 1,
    agentCapabilities: { loadSession: true, sessionCapabilities: { list: {} } },
    agentInfo: { name: "intern", title: name, version: "1" },
    authMethods: [],
  }
}

/** Whether the client declared support for forms in `initialize`. */
export function showsForms(params: Record<string, unknown>): boolean {
  const { form } = record(record(params["clientCapabilities"])["elicitation"])
  return typeof form === "object" && form !== null
}

export type ClientQuestion = "session/request_permission" | "elicitation/create"

export function isClientQuestion(method: string): method is ClientQuestion {
  return method === "session/request_permission" || method === "elicitation/create"
}

/** Response to an agent whose question no client can answer. */
export function cancelledResult(method: ClientQuestion) {
  return method === "session/request_permission" ? { outcome: { outcome: "cancelled" } } : { action: "cancel" }
}
