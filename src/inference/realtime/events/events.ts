import { GatewayError } from "../../../errors/errors.ts"
import { isObject, type Json, parseJson } from "../../../support/text/json.ts"
import { newId } from "../../../support/ids.ts"

/** The parts of OpenAI Realtime API events that the gateway reads. */

export type RealtimeEvent = Json & { type: string }

/** WebSocket close codes of the gateway. */
export const CLOSE = {
  normal: 1000,
  unsupportedData: 1003,
  tooLarge: 1009,
  providerFailed: 1011,
  keyInvalid: 4401,
  limitReached: 4402,
  guardrail: 4403,
  sessionTime: 4408,
  rateLimit: 4429,
} as const

/** Why a session ends. `error` is sent as an event before the socket is closed. */
export type Closing = { code: number; error?: EventError }

export type EventError = { type: string; code: string; message: string }

/** Undefined if the text is no event. */
export function parseEvent(text: string): RealtimeEvent | undefined {
  const event = parseJson(text)
  return isObject(event) && typeof event["type"] === "string" ? { ...event, type: event["type"] } : undefined
}

/** An error event in the provider's format. `causedBy`: `event_id` of the client's event. */
export function errorEvent({ type, code, message }: EventError, causedBy: unknown = null): RealtimeEvent {
  const eventId = typeof causedBy === "string" ? causedBy : null
  return { type: "error", event_id: `event_${newId()}`, error: { type, code, message, param: null, event_id: eventId } }
}

/** How a session ends when a response can no longer be held. */
export function toClosing(rejection: unknown): Closing {
  if (!(rejection instanceof GatewayError)) {
    const message = "The gateway cannot currently hold the cost of another response. Connect again in a few seconds."
    return { code: CLOSE.providerFailed, error: { type: "server_error", code: "unavailable", message } }
  }
  const { code, message, metadata } = rejection
  const reason = metadata?.reason ?? code
  if (code === "rate_limited")
    return { code: CLOSE.rateLimit, error: { type: "rate_limit_error", code: reason, message } }
  if (code === "payment_required") {
    return { code: CLOSE.limitReached, error: { type: "insufficient_quota", code: reason, message } }
  }
  if (code === "forbidden") {
    const isBudget = reason.endsWith("_budget")
    const closeCode = isBudget ? CLOSE.limitReached : CLOSE.guardrail
    return {
      code: closeCode,
      error: { type: isBudget ? "insufficient_quota" : "permission_error", code: reason, message },
    }
  }
  return { code: CLOSE.providerFailed, error: { type: "server_error", code: reason, message } }
}
