import { isCount, isObject, type Json } from "../../../support/text/json.ts"
import { NO_TOKENS, type Tokens } from "../../../money/money.ts"

/** Usage of a `response.done`; undefined if the provider reports none. */
export function tokensOf(usage: unknown): Tokens | undefined {
  if (!isObject(usage) || !isCount(usage["input_tokens"]) || !isCount(usage["output_tokens"])) return undefined
  const input = detailsOf(usage["input_token_details"] ?? usage["input_tokens_details"])
  const output = detailsOf(usage["output_token_details"] ?? usage["output_tokens_details"])
  const prompt = usage["input_tokens"]
  const cached = Math.min(countIn(input, "cached_tokens"), prompt)
  const cachedAudio = Math.min(countIn(detailsOf(input["cached_tokens_details"]), "audio_tokens"), cached)
  return {
    ...NO_TOKENS,
    prompt,
    completion: usage["output_tokens"],
    cached,
    cachedAudio,
    // Audio tokens that were not read from the cache.
    audio: Math.max(0, Math.min(countIn(input, "audio_tokens"), prompt) - cachedAudio),
    audioOutput: countIn(output, "audio_tokens"),
  }
}

function detailsOf(value: unknown): Json {
  return isObject(value) ? value : {}
}

function countIn(details: Json, name: string): number {
  const value = details[name]
  return isCount(value) ? value : 0
}
