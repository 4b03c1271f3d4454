import { GatewayError } from "../../errors/errors.ts"
import { toRejection, redactedCode } from "../../providers/refusal.ts"
import type { ResponseMeter } from "../../formats/chat/meter.ts"
import type { RelayEnd } from "./stream-relay.ts"

/** Why a stream stopped being read. `nonsense`: an event that is no JSON, whose text is lost; `blocked`: by a guardrail. */
export type StopReason = "ended" | "broken" | "nonsense" | "left" | "stalled" | "timeout" | "blocked"

/**
 * How a stream ended. Complete is only what says so itself: an end without a finish reason or `[DONE]` is a cut, since a
 * truncated answer must never look like a whole one.
 */
export function relayVerdict(
  stop: StopReason,
  meter: ResponseMeter,
  provider: { name: string; apiKey?: string; baseUrl?: string },
  refusal?: GatewayError,
): Pick<RelayEnd, "ending" | "error"> {
  if (stop === "left") return { ending: "cancelled", error: undefined }
  if (refusal) return { ending: "error", error: refusal }
  if (meter.error) {
    const { message, status, code } = meter.error
    const refusal = toRejection(provider, status ?? 502, new Headers(), JSON.stringify({ error: { message } }), 0)
    const error = new GatewayError(refusal.code, refusal.message, {
      metadata: code === null ? {} : { provider_code: redactedCode(code, provider.apiKey) },
    })
    return { ending: "error", error }
  }
  const isFinished = meter.finishReason !== null && [...meter.choices.values()].every(Boolean)
  if (stop === "nonsense") {
    return {
      ending: "error",
      error: new GatewayError("provider_failed", `${provider.name} sent an event that is not JSON.`),
    }
  }
  if (meter.done || (isFinished && stop !== "broken")) {
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
