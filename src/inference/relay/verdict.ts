import { GatewayError } from "../../errors/errors.ts"
import { toRefusal, redactedCode } from "../../providers/refusal.ts"
import type { Reading } from "../../formats/chat/meter.ts"
import type { Ended } from "./relay.ts"

/** Why a stream stopped being read. `nonsense`: an event that is no JSON, whose text is lost; `blocked`: by a guardrail. */
export type Stop = "ended" | "broken" | "nonsense" | "left" | "stalled" | "timeout" | "blocked"

/**
 * How a stream ended. Complete is only what says so itself: an end without a finish reason or `[DONE]` is a cut, since a
 * truncated answer must never look like a whole one.
 */
export function judge(
  stop: Stop,
  reading: Reading,
  provider: { name: string; apiKey?: string; baseUrl?: string },
  refusal?: GatewayError,
): Pick<Ended, "ending" | "error"> {
  if (stop === "left") return { ending: "cancelled", error: undefined }
  if (refusal) return { ending: "error", error: refusal }
  if (reading.error) {
    const { message, status, code } = reading.error
    const refusal = toRefusal(provider, status ?? 502, new Headers(), JSON.stringify({ error: { message } }), 0)
    const error = new GatewayError(refusal.code, refusal.message, {
      metadata: code === null ? {} : { provider_code: redactedCode(code, provider.apiKey) },
    })
    return { ending: "error", error }
  }
  const isFinished = reading.finishReason !== null && [...reading.choices.values()].every(Boolean)
  if (stop === "nonsense") {
    return {
      ending: "error",
      error: new GatewayError("provider_failed", `${provider.name} sent an event that is not JSON.`),
    }
  }
  if (reading.done || (isFinished && stop !== "broken")) {
    return { ending: reading.finishReason === "error" ? "error" : "complete", error: undefined }
  }
  if (stop === "stalled") {
    return {
      ending: "stalled",
      error: new GatewayError("timeout", `${provider.name} fell silent in the middle of its answer.`),
    }
  }
  if (stop === "timeout") {
    return { ending: "timeout", error: new GatewayError("timeout", `${provider.name} took longer than a call may.`) }
  }
  return { ending: "cut", error: new GatewayError("provider_failed", `${provider.name} broke off its answer.`) }
}
