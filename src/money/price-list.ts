import * as z from "zod"
import { priceToPico } from "./money.ts"
import { perToken, PRICE_NAMES, type Pricing, Pricing as CallPricing } from "./pricing.ts"

/** Prices of an endpoint: those of a plain call, and others for calls that meet conditions. */
export type PriceList = Omit<Pricing, "overrides"> & { overrides?: PriceOverride[] }

/** The fields of a call that decide which overrides apply. */
export type PricedCall = {
  /** Unix milliseconds. */
  startedAt: number
  /** The tier that the provider reports, or the requested one. */
  serviceTier: string | null
}

const MAX_OVERRIDES = 32
const PRICED_TIERS = ["flex", "priority", "scale"] as const
const DAYS = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"] as const

const TIME_RULE = "must be a time of day in UTC as a number HHMM, from 0 to 2359"
const time = z
  .int({ error: TIME_RULE })
  .min(0, TIME_RULE)
  .max(2_359, TIME_RULE)
  .refine((hhmm) => hhmm % 100 < 60, { error: TIME_RULE })
const TOKENS_RULE = "must be an integer of at least 0"
const DAYS_RULE = `must be an array of days: ${DAYS.join(", ")}`

const conditions = {
  min_prompt_tokens: z
    .int({ error: TOKENS_RULE })
    .min(0, TOKENS_RULE)
    .meta({ description: "Applies to calls with more prompt tokens.", example: 200_000 })
    .exactOptional(),
  service_tier: z
    .enum(PRICED_TIERS, { error: `accepts ${PRICED_TIERS.join(", ")}` })
    .meta({ description: "Applies to this tier: the one that the provider reports, or else the requested one." })
    .exactOptional(),
  utc_start: time
    .meta({ description: "Applies from this time of day in UTC, as HHMM.", example: 1_630 })
    .exactOptional(),
  utc_end: time
    .meta({ description: "Applies before this time of day in UTC, as HHMM. The span may pass midnight.", example: 30 })
    .exactOptional(),
  utc_days: z
    .array(z.enum(DAYS, { error: DAYS_RULE }), { error: DAYS_RULE })
    .min(1, DAYS_RULE)
    .meta({ description: "Applies on these days in UTC." })
    .exactOptional(),
}

const replaceable = {
  prompt: perToken.exactOptional(),
  completion: perToken.exactOptional(),
  input_cache_read: perToken.exactOptional(),
  input_cache_write: perToken.exactOptional(),
  input_cache_write_1h: perToken.exactOptional(),
  internal_reasoning: perToken.exactOptional(),
  audio: perToken.exactOptional(),
  input_audio_cache: perToken.exactOptional(),
  audio_output: perToken.exactOptional(),
}
export const REPLACEABLE = Object.keys(replaceable) as readonly (keyof typeof replaceable)[]

/** Prices that replace those of the list, and of overrides before it, for calls that meet all of its conditions. */
const PriceOverride = z
  .strictObject(
    { ...conditions, ...replaceable },
    {
      error: (issue) =>
        issue.code === "unrecognized_keys"
          ? `has a field that is not known: ${issue.keys.join(", ")}`
          : "must be an object with conditions and prices",
    },
  )
  .refine((override) => Object.keys(conditions).some((name) => name in override), {
    error: `needs a condition: ${Object.keys(conditions).join(", ")}`,
  })
  .refine((override) => REPLACEABLE.some((name) => name in override), {
    error: `needs a price: ${REPLACEABLE.join(", ")}`,
  })
  .refine(({ utc_start: from, utc_end: to }) => (from === undefined) === (to === undefined) && (from ?? -1) !== to, {
    error: "needs utc_start and utc_end together, and different",
  })
  // The OpenAPI generator treats exactOptional() as required.
  .meta({ id: "PriceOverride", required: [] })

export type PriceOverride = z.infer<typeof PriceOverride>

const overrides = z
  .array(PriceOverride, { error: "must be an array of price overrides" })
  .max(MAX_OVERRIDES, `must have at most ${MAX_OVERRIDES} entries`)
  .meta({
    description:
      "Prices that replace others for long prompts, service tiers or times of day. Of those that apply, the last one that has a price decides.",
  })
  .exactOptional()

export const PriceList = CallPricing.extend({ overrides })

/** null: the price is unknown, and no call is sent there. */
export const PriceListOrNull = PriceList.nullable().meta({
  id: "EndpointPricing",
  required: ["prompt", "completion"],
})

/** Prices in responses. */
export const ModelPrices = PriceList.extend({
  request: CallPricing.shape.request.unwrap(),
  image: CallPricing.shape.image.unwrap(),
}).meta({ id: "ModelPricing", required: ["prompt", "completion", "request", "image"] })

/** A call without a tier that has a price. */
export function plainCall(startedAt: number = Date.now()): PricedCall {
  return { startedAt, serviceTier: null }
}

/** The prices of a call with this number of prompt tokens. */
export function pricesOf(list: PriceList, promptTokens: number, call: PricedCall): Pricing {
  return withOverrides(list, promptTokens, call, () => true)
}

/**
 * The highest of each price that a call with at most this number of prompt tokens can have: at the requested tier or,
 * if the provider does not grant it, without it.
 */
export function highestPrices(list: PriceList, maxPromptTokens: number, call: PricedCall): Pricing {
  return withOverrides(list, maxPromptTokens, call, (price, other) => priceToPico(price) > priceToPico(other))
}

/** `replaces`: whether the price of an override that applies replaces the one before. */
function withOverrides(
  list: PriceList,
  promptTokens: number,
  call: PricedCall,
  replaces: (price: string, other: string) => boolean,
): Pricing {
  if (isPlain(list)) return list
  const { overrides: conditional = [], ...result } = list
  for (const override of conditional) {
    if (!applies(override, promptTokens, call)) continue
    for (const name of REPLACEABLE) {
      const [price, other] = [override[name], result[name]]
      if (price !== undefined && (other === undefined || replaces(price, other))) result[name] = price
    }
  }
  return result
}

/** Whether calls cost nothing, whatever they contain. */
export function isFree({ overrides: conditional = [], ...prices }: PriceList): boolean {
  const others = conditional.flatMap((override) => REPLACEABLE.map((name) => override[name]))
  return [...Object.values(prices), ...others].every((price) => price === undefined || priceToPico(price) === 0n)
}

/** The list with every price changed. */
export function mapPrices(list: PriceList, change: (price: string) => string): PriceList {
  const changed = (prices: Partial<Record<string, unknown>>, names: readonly string[]) =>
    Object.fromEntries(
      names.flatMap((name) => (typeof prices[name] === "string" ? [[name, change(prices[name])]] : [])),
    )
  const { overrides: conditional, ...prices } = list
  return {
    ...prices,
    ...changed(prices, PRICE_NAMES),
    ...(conditional && { overrides: conditional.map((one) => ({ ...one, ...changed(one, REPLACEABLE) })) }),
  }
}

function isPlain(list: PriceList): list is Pricing {
  return list.overrides === undefined
}

function applies(override: PriceOverride, promptTokens: number, { startedAt, serviceTier }: PricedCall): boolean {
  const { min_prompt_tokens: tokens, service_tier: tier, utc_start: from, utc_end: to, utc_days: days } = override
  if (tokens !== undefined && promptTokens <= tokens) return false
  if (tier !== undefined && tier !== serviceTier) return false
  if (from === undefined && days === undefined) return true
  const date = new Date(startedAt)
  if (days && !days.some((day) => day === DAYS[date.getUTCDay()])) return false
  if (from === undefined || to === undefined) return true
  const now = date.getUTCHours() * 100 + date.getUTCMinutes()
  return from < to ? from <= now && now < to : from <= now || now < to
}

/** The tier of a request as providers name it; null for one without a price. */
export function pricedTier(requested: unknown): string | null {
  if (requested === "fast") return "priority"
  return PRICED_TIERS.find((tier) => tier === requested) ?? null
}
