import * as z from "zod"

/** Prices in USD as decimal strings, with the names of the API; per token unless the name has another unit. */
export type Pricing = {
  prompt: string
  completion: string
  /** USD a request. */
  request?: string
  input_cache_read?: string
  input_cache_write?: string
  /** Of what a provider keeps for an hour. Without it, that costs what any write costs. */
  input_cache_write_1h?: string
  internal_reasoning?: string
  /** USD an image in the prompt. */
  image?: string
  audio?: string
  /** Of audio in the prompt that is read from a cache. Without it, that costs what any cached token costs. */
  input_audio_cache?: string
  /** Of audio that is made. */
  audio_output?: string
  /** USD a picture that is made. */
  image_output?: string
  /** USD a second of sound or film, read or made. */
  second?: string
}

const PRICE_RULE =
  'must be a decimal string of USD, such as "0.0000025": at most 6 digits before the point and 12 after it, not a number'

/** A price: exact where a JSON number would not be. "0" is free of charge, and only where someone wrote it. */
export const Price = z
  .string({ error: PRICE_RULE })
  .regex(/^\d{1,6}(?:\.\d{1,12})?$/, { error: PRICE_RULE })
  .meta({ description: "USD, as a decimal string.", example: "0.0000025" })

const perToken = Price.meta({ description: "USD a token.", example: "0.0000025" })
const perRequest = Price.meta({ description: "USD a request.", example: "0.012" })
const perImage = Price.meta({ description: "USD an image in the prompt.", example: "0.001" })
const perPicture = Price.meta({ description: "USD a picture that is made.", example: "0.04" })
const perSecond = Price.meta({ description: "USD a second of sound or film.", example: "0.0001" })

/** What an endpoint costs. A name not in it is refused: a price that is not understood would be a price not charged. */
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
  },
  {
    error: (issue) =>
      issue.code === "unrecognized_keys"
        ? `has a price that is not known: ${issue.keys.join(", ")}`
        : "must be an object with prompt and completion, or null where no price is known",
  },
) satisfies z.ZodType<Pricing>

export const PRICE_NAMES = Object.keys(Pricing.shape) as readonly (keyof Pricing)[]

/** null: no price is known, and no call goes there. */
export const PricingOrNull = Pricing.nullable().meta({ id: "EndpointPricing", required: ["prompt", "completion"] })

/** Prices as clients see them. */
export const ModelPrices = Pricing.extend({ request: perRequest, image: perImage }).meta({
  id: "ModelPricing",
  // The generator of the document takes exactOptional() for required.
  required: ["prompt", "completion", "request", "image"],
})

/** For order and filters only, never for charging. */
export function approximatePrice(pricing: Pricing): number {
  return Number(pricing.prompt) + Number(pricing.completion)
}
