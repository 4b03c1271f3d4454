import * as z from "zod"

/**
 * The prices of one call in USD as decimal strings, with the names of the API; per token unless the name has another
 * unit. An endpoint has a price list (price-list.ts), whose overrides depend on the call.
 */
export type Pricing = {
  prompt: string
  completion: string
  /** USD per request. */
  request?: string
  input_cache_read?: string
  input_cache_write?: string
  /** Price of cache writes for one hour. Default: the price of other cache writes. */
  input_cache_write_1h?: string
  internal_reasoning?: string
  /** USD per image in the prompt. */
  image?: string
  audio?: string
  /** Price of cached audio in the prompt. Default: the price of other cached tokens. */
  input_audio_cache?: string
  /** Price of generated audio. */
  audio_output?: string
  /** USD per generated image. */
  image_output?: string
  /** USD per second of audio or video, read or generated. */
  second?: string
  /** USD per web search that the provider runs. */
  web_search?: string
  overrides?: never
}

const PRICE_RULE =
  'must be a decimal string of USD, such as "0.0000025": at most 6 digits before the point and 12 after it, not a number'

/** A price as a string, because a JSON number would not be exact. Only an explicit "0" is free. */
export const Price = z
  .string({ error: PRICE_RULE })
  .regex(/^\d{1,6}(?:\.\d{1,12})?$/, { error: PRICE_RULE })
  .meta({ description: "USD, as a decimal string.", example: "0.0000025" })

export const perToken = Price.meta({ description: "USD a token.", example: "0.0000025" })
const perRequest = Price.meta({ description: "USD a request.", example: "0.012" })
const perImage = Price.meta({ description: "USD per image in the prompt.", example: "0.001" })
const perPicture = Price.meta({ description: "USD per generated image.", example: "0.04" })
const perSearch = Price.meta({ description: "USD per web search that the provider runs.", example: "0.01" })
const perSecond = Price.meta({ description: "USD per second of audio or video.", example: "0.0001" })

/** Unknown names are rejected: a price that is not understood would not be charged. */
export const Pricing = z.strictObject(
  {
    prompt: perToken,
    completion: perToken,
    request: perRequest.exactOptional(),
    input_cache_read: perToken.exactOptional(),
    input_cache_write: perToken.exactOptional(),
    input_cache_write_1h: perToken.exactOptional(),
    internal_reasoning: perToken.exactOptional(),
    image: perImage.exactOptional(),
    audio: perToken.exactOptional(),
    input_audio_cache: perToken.exactOptional(),
    audio_output: perToken.exactOptional(),
    image_output: perPicture.exactOptional(),
    second: perSecond.exactOptional(),
    web_search: perSearch.exactOptional(),
  },
  {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `has a price that is not known: ${issue.keys.join(", ")}`
        : "must be an object with prompt and completion, or null if no price is known",
  },
)

export const PRICE_NAMES = Object.keys(Pricing.shape) as readonly (keyof typeof Pricing.shape)[]

/** Only for sorting and filters, never for charging. */
export function approximatePrice(pricing: Pick<Pricing, "prompt" | "completion">): number {
  return Number(pricing.prompt) + Number(pricing.completion)
}
