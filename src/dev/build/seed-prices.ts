import { type PriceList, REPLACEABLE } from "../../money/price-list.ts"
import { PRICE_NAMES, type Pricing } from "../../money/pricing.ts"

/** A price list's entry as @pydantic/genai-prices has it: USD per million tokens, or per thousand requests. */
export type ListPrice = number | { base: number; tiers: readonly { start: number; price: number }[] }
export type ListPrices = Readonly<Record<string, ListPrice | undefined>>
export type DatedPrice = {
  constraint?: { type: "start_date"; start_date: string } | { type: "time_of_date" }
  prices: ListPrices
}

/** Decimals of a price in the catalogue. */
const SCALE = 12
/** Catalogue names of a list's prices, with the power of ten of their unit. */
const NAMES = {
  input_mtok: ["prompt", 6],
  output_mtok: ["completion", 6],
  cache_read_mtok: ["input_cache_read", 6],
  cache_write_mtok: ["input_cache_write", 6],
  input_audio_mtok: ["audio", 6],
  requests_kcount: ["request", 3],
} as const satisfies Record<string, readonly [keyof Pricing, number]>

/** A number divided by a power of ten, as a decimal string and without floating point: 3.25, 6 -> "0.00000325". */
export function shift(value: number, power: number): string {
  const [mantissa = "0", exponent = "0"] = String(value).toLowerCase().split("e")
  const [integer = "0", fraction = ""] = mantissa.split(".")
  const places = fraction.length + power - Number(exponent)
  return toDecimal(rescale(BigInt(integer + fraction), places))
}

/** Twice a decimal string. */
function twice(price: string): string {
  return toDecimal(toUnits(price) * 2n)
}

/** The larger of two decimal strings. */
export function larger(a: string, b: string): string {
  return toUnits(a) >= toUnits(b) ? a : b
}

/**
 * Prices of a call with this number of prompt tokens: the highest of the hours of the day and of an announced increase,
 * so that the gateway never charges less than the provider.
 */
export function highestPricing(
  listed: ListPrices | readonly DatedPrice[],
  today: string,
  promptTokens: number,
): Partial<Pricing> {
  const pricing: Partial<Pricing> = {}
  for (const prices of pricesAt(listed, today)) {
    for (const [name, [key, power]] of Object.entries(NAMES)) {
      const price = prices[name]
      if (price === undefined) continue
      pricing[key] = larger(shift(priceAt(price, promptTokens), power), pricing[key] ?? "0")
    }
  }
  return pricing
}

/** A tier applies to all tokens of a call with more prompt tokens than its start. */
function priceAt(price: ListPrice, promptTokens: number): number {
  if (typeof price === "number") return price
  const tiers = price.tiers.filter(({ start }) => promptTokens > start)
  return tiers.reduce((last, tier) => (tier.start > last.start ? tier : last), { start: -1, price: price.base }).price
}

/** Numbers of prompt tokens above which a price changes, ascending. */
export function thresholdsOf(listed: ListPrices | readonly DatedPrice[], today: string): number[] {
  const starts = pricesAt(listed, today).flatMap((prices) =>
    Object.values(prices).flatMap((price) => (typeof price === "object" ? price.tiers.map(({ start }) => start) : [])),
  )
  return [...new Set(starts)].sort((a, b) => a - b)
}

/** The price list with these prices: those of a short prompt, and an override for each threshold. */
export function toPriceList(thresholds: readonly number[], pricingAt: (promptTokens: number) => Pricing): PriceList {
  const base = pricingAt(0)
  let below = base
  const overrides = thresholds.flatMap((threshold) => {
    const above = pricingAt(threshold + 1)
    const changed = REPLACEABLE.flatMap((name) => {
      if (base[name] === undefined && above[name] === undefined) return []
      const price = above[name] ?? above.prompt
      return price === below[name] ? [] : [[name, price]]
    })
    below = { ...below, ...Object.fromEntries(changed) }
    return changed.length > 0 ? [{ min_prompt_tokens: threshold, ...Object.fromEntries(changed) }] : []
  })
  return { ...base, ...(overrides.length > 0 && { overrides }) }
}

/** Whether a list has the two prices that every endpoint needs. */
export function isPriced({ prompt, completion }: Partial<Pricing>): boolean {
  return prompt !== undefined && completion !== undefined
}

/** The higher of each price. */
export function highestOf(a: Pricing, b: Partial<Pricing>): Pricing {
  const merged: Pricing = { ...a }
  for (const key of PRICE_NAMES) if (b[key] !== undefined) merged[key] = larger(b[key] ?? "0", merged[key] ?? "0")
  return merged
}

/** Corrects price lists in which a cached token costs more to read, or less to write, than a plain one. */
export function tidy(id: string, listed: Partial<Pricing>): Pricing {
  const pricing = { prompt: "0", completion: "0", ...listed }
  const { input_cache_read: read, input_cache_write: write, audio, ...rest } = pricing
  return {
    ...rest,
    ...(read !== undefined &&
      read !== "0" &&
      larger(pricing.prompt, read) === pricing.prompt && { input_cache_read: read }),
    ...(write !== undefined && larger(write, pricing.prompt) === write && { input_cache_write: write }),
    // In no list: the vendor's price page states twice the price of the prompt, at every provider.
    ...(write !== undefined && id.startsWith("anthropic/") && { input_cache_write_1h: twice(pricing.prompt) }),
    ...(audio !== undefined && { audio }),
  }
}

/** Present price of a call at the base tier: to see whether two lists mean the same offer. */
export function basePricing(
  listed: ListPrices | readonly DatedPrice[],
  today: string,
): { prompt?: string; completion?: string } {
  const todayPrices = pricesAt(listed, today).at(-1)
  const base = (price: ListPrice | undefined) => (typeof price === "object" ? price.base : price)
  const [prompt, completion] = [base(todayPrices?.input_mtok), base(todayPrices?.output_mtok)]
  return {
    ...(prompt !== undefined && { prompt: shift(prompt, 6) }),
    ...(completion !== undefined && { completion: shift(completion, 6) }),
  }
}

/** Today's price last, before it those of other hours and future days. Later entries override earlier ones. */
function pricesAt(listed: ListPrices | readonly DatedPrice[], today: string): ListPrices[] {
  if (!isDated(listed)) return [listed]
  const periods: ListPrices[] = []
  for (const { constraint, prices } of listed.toReversed()) {
    periods.push(prices)
    if (!constraint || (constraint.type === "start_date" && constraint.start_date <= today)) break
  }
  return periods
}

function isDated(listed: ListPrices | readonly DatedPrice[]): listed is readonly DatedPrice[] {
  return Array.isArray(listed)
}

function rescale(digits: bigint, places: number): bigint {
  if (places <= SCALE) return digits * 10n ** BigInt(SCALE - places)
  const divisor = 10n ** BigInt(places - SCALE)
  return (digits + divisor / 2n) / divisor
}

function toUnits(price: string): bigint {
  const [integer = "0", fraction = ""] = price.split(".")
  return BigInt(integer + fraction.padEnd(SCALE, "0"))
}

function toDecimal(units: bigint): string {
  const digits = units.toString().padStart(SCALE + 1, "0")
  const fraction = digits.slice(-SCALE).replace(/0+$/, "")
  return digits.slice(0, -SCALE) + (fraction && `.${fraction}`)
}
