import type { Pricing } from "./pricing.ts"

/**
 * Money is an integer of nano-USD (1e-9 USD), prices are decimal strings of USD. Costs are computed exactly in BigInt
 * pico-USD (1e-12) and rounded once. Sums never use floats.
 */

/** Above this a nano-USD amount is no longer an exact JavaScript number: about 9 million USD. */
export const MAX_NANO = Number.MAX_SAFE_INTEGER

const PICO_PER_NANO = 1_000n
const PICO_DIGITS = 12

const MAX_REMEMBERED_PRICES = 10_000
const picoByPrice = new Map<string, bigint>()

/** Exact pico-USD of a decimal string such as `0.0000025`, which must be validated (pricing.ts). */
export function priceToPico(price: string): bigint {
  let pico = picoByPrice.get(price)
  if (pico === undefined) {
    pico = parsePrice(price)
    if (picoByPrice.size >= MAX_REMEMBERED_PRICES) picoByPrice.clear()
    picoByPrice.set(price, pico)
  }
  return pico
}

function parsePrice(price: string): bigint {
  const [integer = "0", fraction = ""] = price.split(".")
  return BigInt(integer + fraction.padEnd(PICO_DIGITS, "0").slice(0, PICO_DIGITS))
}

/** Rounds up to nano-USD, so that no cost becomes free. */
export function picoToNano(pico: bigint): number {
  const nano = (pico + PICO_PER_NANO - 1n) / PICO_PER_NANO
  return nano > BigInt(MAX_NANO) ? MAX_NANO : Number(nano)
}

/** Converts a JSON number of USD to the nearest nano-USD. */
export function usdToNano(usd: number): number {
  return Number(BigInt(usd.toFixed(9).replace(".", "")))
}

/** Whether an amount of USD is an integer number of nano-USD, ignoring float noise such as in 0.1 + 0.2. */
export function isNanoPrecise(usd: number): boolean {
  return Math.abs(usd) < 1e12 && Math.abs(nanoToUsd(usdToNano(usd)) - usd) <= Math.abs(usd) * 1e-12
}

export const NANO_PRECISE = "must have at most 9 decimal places: amounts are stored in nano-USD"

/** USD in fixed notation for messages, without trailing zeros. */
export function formatUsd(nano: number): string {
  const digits = String(Math.abs(nano)).padStart(10, "0")
  const fraction = digits.slice(-9).replace(/0+$/, "")
  return `${nano < 0 ? "-" : ""}${digits.slice(0, -9)}${fraction === "" ? "" : `.${fraction}`}`
}

/** A JSON number of USD: the double nearest to the exact amount. */
export function nanoToUsd(nano: number): number {
  return nano / 1e9
}

/**
 * Tokens of one call, independent of the API format: `prompt` and `completion` are totals, the others are parts of them
 * (cached, cacheWrite and audio of prompt, cacheWrite1h of cacheWrite, cachedAudio of cached, reasoning and audioOutput
 * of completion). The parts do not overlap, so no token is charged twice.
 */
export type Tokens = {
  prompt: number
  completion: number
  cached: number
  cacheWrite: number
  /** Cache writes with a lifetime of one hour. */
  cacheWrite1h: number
  reasoning: number
  /** Audio tokens of the prompt. */
  audio: number
  /** Images in the prompt, counted from the request, with a price each. */
  images: number
  /** Audio tokens of the prompt that were read from a cache. */
  cachedAudio?: number
  /** Audio tokens of the completion. */
  audioOutput?: number
} & Partial<GeneratedUnits>

/**
 * Units with a price each: generated images, seconds of audio and video, read or generated, and web searches that the
 * provider runs.
 */
export type GeneratedUnits = { pictures: number; seconds: number; searches: number }

export const NO_TOKENS: Tokens = {
  prompt: 0,
  completion: 0,
  cached: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  reasoning: 0,
  audio: 0,
  images: 0,
}

/** Cost of the tokens at these prices, in nano-USD. */
export function costOf(tokens: Tokens, pricing: Pricing): number {
  const prompt = priceToPico(pricing.prompt)
  const completion = priceToPico(pricing.completion)
  const price = (value: string | undefined, fallback: bigint) => (value === undefined ? fallback : priceToPico(value))

  const cached = Math.min(tokens.cached, tokens.prompt)
  const cacheWrite = Math.min(tokens.cacheWrite, tokens.prompt - cached)
  const cacheWrite1h = Math.min(tokens.cacheWrite1h, cacheWrite)
  const writePrice = price(pricing.input_cache_write, prompt)
  const audio = Math.min(tokens.audio, tokens.prompt - cached - cacheWrite)
  const reasoning = Math.min(tokens.reasoning, tokens.completion)
  const audioOutput = Math.min(tokens.audioOutput ?? 0, tokens.completion - reasoning)
  const cachedAudio = Math.min(tokens.cachedAudio ?? 0, cached)
  const readPrice = price(pricing.input_cache_read, prompt)
  const promptPico =
    BigInt(tokens.prompt - cached - cacheWrite - audio) * prompt +
    BigInt(audio) * price(pricing.audio, prompt) +
    BigInt(tokens.images) * price(pricing.image, 0n) +
    BigInt(cached - cachedAudio) * readPrice +
    BigInt(cachedAudio) * price(pricing.input_audio_cache, readPrice) +
    BigInt(cacheWrite - cacheWrite1h) * writePrice +
    BigInt(cacheWrite1h) * price(pricing.input_cache_write_1h, writePrice) +
    price(pricing.request, 0n) +
    generatedPico(tokens, pricing)
  const completionPico =
    BigInt(tokens.completion - reasoning - audioOutput) * completion +
    BigInt(audioOutput) * price(pricing.audio_output, completion) +
    BigInt(reasoning) * price(pricing.internal_reasoning, completion)
  return picoToNano(promptPico + completionPico)
}

/** Seconds are counted in milliseconds. */
function generatedPico(
  { pictures = 0, seconds = 0, searches = 0 }: Partial<GeneratedUnits>,
  { image_output: picture = "0", second = "0", web_search: search = "0" }: Pricing,
): bigint {
  const milliseconds = BigInt(Math.ceil(seconds * 1_000))
  return (
    BigInt(pictures) * priceToPico(picture) +
    BigInt(searches) * priceToPico(search) +
    (milliseconds * priceToPico(second) + 999n) / 1_000n
  )
}

/** Upper bound in nano-USD for these tokens, for any share of cached, cache write and reasoning tokens. */
export function maxCost(
  promptTokens: number,
  completionTokens: number,
  pricing: Pricing,
  { images = 0, ...units }: Partial<GeneratedUnits> & { images?: number } = {},
): number {
  const highestPrice = (...prices: (string | undefined)[]) =>
    prices.reduce((highest, price) => {
      const pico = price === undefined ? 0n : priceToPico(price)
      return pico > highest ? pico : highest
    }, 0n)
  const { input_cache_read: read, input_cache_write: write, input_cache_write_1h: anHour } = pricing
  const prompt = highestPrice(pricing.prompt, read, write, anHour, pricing.audio, pricing.input_audio_cache)
  const completion = highestPrice(pricing.completion, pricing.internal_reasoning, pricing.audio_output)
  const fixed =
    priceToPico(pricing.request ?? "0") +
    BigInt(images) * priceToPico(pricing.image ?? "0") +
    generatedPico(units, pricing)
  return picoToNano(BigInt(promptTokens) * prompt + BigInt(completionTokens) * completion + fixed)
}

/** Completion tokens that `nano` covers at these prices; Infinity if they are free. */
export function affordableCompletion(nano: number, pricing: Pricing): number {
  const prices = [pricing.completion, pricing.internal_reasoning ?? "0", pricing.audio_output ?? "0"].map(priceToPico)
  const highestPrice = prices.reduce((highest, price) => (price > highest ? price : highest), 0n)
  if (highestPrice === 0n) return Infinity
  return nano <= 0 ? 0 : Number((BigInt(nano) * PICO_PER_NANO) / highestPrice)
}
