import { priceToPico, type Tokens } from "./money.ts"
import type { Pricing } from "./pricing.ts"

/** A priced kind: a kind of token, or a unit with its own price. */
export type CostKind =
  | "prompt"
  | "audio"
  | "cache_read"
  | "cache_read_audio"
  | "cache_write"
  | "cache_write_1h"
  | "image"
  | "request"
  | "image_output"
  | "second"
  | "web_search"
  | "completion"
  | "audio_output"
  | "reasoning"

/** `units` times `price` is the amount, in pico-USD (1e-12), rounded up for seconds. */
export type CostLine = { kind: CostKind; units: number; price: string; pico: bigint }

/** The terms of `costOf`: their sum, rounded up once to nano-USD, is the cost. Omits kinds without units. */
export function costLines(tokens: Tokens, pricing: Pricing): CostLine[] {
  const cached = Math.min(tokens.cached, tokens.prompt)
  const cacheWrite = Math.min(tokens.cacheWrite, tokens.prompt - cached)
  const cacheWrite1h = Math.min(tokens.cacheWrite1h, cacheWrite)
  const audio = Math.min(tokens.audio, tokens.prompt - cached - cacheWrite)
  const reasoning = Math.min(tokens.reasoning, tokens.completion)
  const audioOutput = Math.min(tokens.audioOutput ?? 0, tokens.completion - reasoning)
  const cachedAudio = Math.min(tokens.cachedAudio ?? 0, cached)
  const { prompt, completion, input_cache_write: write = prompt } = pricing
  const { input_cache_read: read = prompt, input_cache_write_1h: write1h = write } = pricing
  return [
    lineOf("prompt", tokens.prompt - cached - cacheWrite - audio, prompt),
    lineOf("audio", audio, pricing.audio ?? prompt),
    lineOf("cache_read", cached - cachedAudio, read),
    lineOf("cache_read_audio", cachedAudio, pricing.input_audio_cache ?? read),
    lineOf("cache_write", cacheWrite - cacheWrite1h, write),
    lineOf("cache_write_1h", cacheWrite1h, write1h),
    lineOf("image", tokens.images, pricing.image ?? "0"),
    lineOf("request", pricing.request === undefined ? 0 : 1, pricing.request ?? "0"),
    lineOf("image_output", tokens.pictures ?? 0, pricing.image_output ?? "0"),
    secondsLine(tokens.seconds ?? 0, pricing.second ?? "0"),
    lineOf("web_search", tokens.searches ?? 0, pricing.web_search ?? "0"),
    lineOf("completion", tokens.completion - reasoning - audioOutput, completion),
    lineOf("audio_output", audioOutput, pricing.audio_output ?? completion),
    lineOf("reasoning", reasoning, pricing.internal_reasoning ?? completion),
  ].filter(({ units }) => units > 0)
}

function lineOf(kind: CostKind, units: number, price: string): CostLine {
  return { kind, units, price, pico: BigInt(units) * priceToPico(price) }
}

/** Seconds are counted in milliseconds. */
function secondsLine(seconds: number, price: string): CostLine {
  const milliseconds = Math.ceil(seconds * 1_000)
  const pico = (BigInt(milliseconds) * priceToPico(price) + 999n) / 1_000n
  return { kind: "second", units: milliseconds / 1_000, price, pico }
}

/** Exact USD of an amount of pico-USD, as a decimal string without trailing zeros. */
export function formatPico(pico: bigint): string {
  const digits = String(pico < 0n ? -pico : pico).padStart(13, "0")
  const fraction = digits.slice(-12).replace(/0+$/, "")
  return `${pico < 0n ? "-" : ""}${digits.slice(0, -12)}${fraction === "" ? "" : `.${fraction}`}`
}
