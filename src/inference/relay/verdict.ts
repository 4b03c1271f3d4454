import { GatewayError } from "../../errors/errors.ts"
import { type MessageFilter, redactCode, toErrorResponse, toRejection } from "../../providers/responses/rejection.ts"
import type { ResponseMeter } from "../../formats/chat/meter.ts"
import type { RelayEnd } from "./stream-relay.ts"

/** Why the relay stopped reading a stream. `malformed_event`: an event was not JSON; `blocked`: by a guardrail. */
export type StopReason =
  | "ended"
  | "connection_lost"
  | "malformed_event"
  | "too_many_calls"
  | "too_long"
  | "client_disconnected"
  | "stalled"
  | "timeout"
  | "blocked"
  | "too_long_to_check"

/** Stop reasons that are faults of the provider, and what it sent. */
const MISBEHAVIORS: ReadonlyMap<StopReason, string> = new Map([
  ["malformed_event", "an event that is not JSON or is nested too deeply"],
  ["too_many_calls", "too many tool calls"],
  ["too_long", "more text than the output limit of the call allows"],
])

/** `blockError`: of a blocked response. `filter`: of the provider's messages. */
type Guardrails = { blockError?: GatewayError | undefined; filter?: MessageFilter | undefined }

/**
 * How a stream ended. It is complete only with a finish reason or `[DONE]`; any other end is a cut, because a truncated
 * response must not look complete.
 */
export function relayVerdict(
  stop: StopReason,
  meter: ResponseMeter,
  provider: { name: string; apiKey?: string; baseUrl?: string },
  { blockError, filter }: Guardrails,
): RelayEnd {
  if (stop === "client_disconnected") return { ending: "cancelled", error: undefined }
  if (blockError) return { ending: "error", error: blockError }
  if (meter.error) {
    const { code } = meter.error
    const rejection = toRejection(provider, toErrorResponse(meter.error), { now: Date.now(), filter })
    const providerCode = code === null ? undefined : redactCode(code, provider.apiKey, filter)
    const error = new GatewayError(rejection.code, rejection.message, {
      metadata: providerCode === undefined ? {} : { provider_code: providerCode },
    })
    return { ending: "error", error }
  }
  const isFinished = meter.finishReason !== null && [...meter.choices.values()].every(Boolean)
  const sent = MISBEHAVIORS.get(stop)
  if (sent !== undefined)
    return { ending: "error", error: new GatewayError("provider_failed", `${provider.name} sent ${sent}.`) }
  // A connection lost after the usage lost no part of the response.
  if (meter.done || (isFinished && (stop !== "connection_lost" || meter.tokens !== null))) {
    return { ending: meter.finishReason === "error" ? "error" : "complete", error: undefined }
  }
  if (stop === "stalled") {
    return {
      ending: "stalled",
      error: new GatewayError("timeout", `${provider.name} stopped sending data (idle timeout).`),
    }
  }
  if (stop === "timeout") {
    return {
      ending: "timeout",
      error: new GatewayError("timeout", `${provider.name} exceeded the total timeout for a call.`),
    }
  }
  return {
    ending: "cut",
    error: new GatewayError("provider_failed", `${provider.name} closed the stream before the response was complete.`),
  }
}
