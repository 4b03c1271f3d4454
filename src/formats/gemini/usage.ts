import { toTokens } from "../chat/meter.ts"
import { NO_TOKENS } from "../../money/money.ts"
import { isObject, type Json } from "../../support/text/json.ts"

/**
 * `usageMetadata` of a chat usage with its cost. In the Gemini API, the tokens of the candidates exclude those of
 * thoughts.
 */
export function toUsageMetadata(usage: Json): Json {
  const { prompt, completion, cached, reasoning } = toTokens(usage) ?? NO_TOKENS
  const { cost, is_byok: isByok, cost_details: details } = usage
  return {
    promptTokenCount: prompt,
    candidatesTokenCount: Math.max(0, completion - reasoning),
    totalTokenCount: prompt + completion,
    ...(cached > 0 && { cachedContentTokenCount: cached }),
    ...(reasoning > 0 && { thoughtsTokenCount: reasoning }),
    ...(typeof cost === "number" && { cost }),
    ...(isByok === true && { isByok, ...(isObject(details) && { costDetails: details }) }),
  }
}
