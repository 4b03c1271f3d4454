/**
 * Measurements of endpoints by one isolate: cooldowns, speed, reliability, and the endpoint that signed each reasoning.
 * Lost with the isolate, so routing uses them only as hints.
 */

/** Default cooldown without a hint of the endpoint, and the maximum of a hint. */
const DEFAULT_COOLDOWN_MS = 15_000
const MAX_COOLDOWN_MS = 300_000
const MAX_REMEMBERED = 5_000
const MAX_REMEMBERED_SIGNATURES = 20_000
/** Age limit of samples, and the maximum kept per endpoint. */
const STATISTICS_MS = 30 * 60_000
const MAX_SAMPLES = 100

/**
 * Measurements of one response. `latencyMs`: time to the first content; `tokensPerSecond`: speed after it;
 * `completion`: tokens of a complete response. null: not measured.
 */
export type Sample = {
  at: number
  latencyMs: number | null
  tokensPerSecond: number | null
  completion?: number | null
  isGood: boolean
}

export const PERCENTILES = ["p50", "p75", "p90", "p99"] as const
export type Percentiles = Record<(typeof PERCENTILES)[number], number>

export type Statistics = {
  /** Milliseconds; null until measured. */
  latencyMs: Percentiles | null
  /** `p90`: speed that 90 % of responses reach. */
  tokensPerSecond: Percentiles | null
  /** Share of failed or truncated responses; 0 without samples. */
  failures: number
}

export class EndpointHealth {
  readonly #coolUntil = new Map<string, number>()
  readonly #exhaustedUntil = new Map<string, number>()
  readonly #measured = new Map<string, Measured>()
  readonly #signers = new Map<string, string>()

  startCooldown(endpoint: string, retryAfterMs: number | null, now: number): void {
    remember(this.#coolUntil, endpoint, now + Math.min(retryAfterMs ?? DEFAULT_COOLDOWN_MS, MAX_COOLDOWN_MS))
  }

  warm(endpoint: string): void {
    this.#coolUntil.delete(endpoint)
  }

  /** Cooldown until the quota of its key resets; successful responses do not end it. */
  exhausted(endpoint: string, until: number): void {
    remember(this.#exhaustedUntil, endpoint, until)
  }

  isCooling(endpoint: string, now: number): boolean {
    return (this.#coolUntil.get(endpoint) ?? 0) > now || (this.#exhaustedUntil.get(endpoint) ?? 0) > now
  }

  measured(endpoint: string, sample: Sample): void {
    const measured = this.#measured.get(endpoint) ?? { samples: [], completion: 0, completions: 0 }
    measured.samples.push(sample)
    count(measured, sample, 1)
    const dropped = measured.samples.length > MAX_SAMPLES ? measured.samples.shift() : undefined
    if (dropped) count(measured, dropped, -1)
    remember(this.#measured, endpoint, measured)
  }

  statisticsOf(endpoint: string, now: number): Statistics {
    const recent = (this.#measured.get(endpoint)?.samples ?? []).filter(({ at }) => now - at < STATISTICS_MS)
    const sortedSamples = (key: "latencyMs" | "tokensPerSecond") =>
      recent.flatMap((sample) => sample[key] ?? []).toSorted((a, b) => a - b)
    const failed = recent.filter(({ isGood }) => !isGood).length
    return {
      latencyMs: percentilesOf(sortedSamples("latencyMs")),
      tokensPerSecond: percentilesOf(sortedSamples("tokensPerSecond").toReversed()),
      failures: recent.length === 0 ? 0 : failed / recent.length,
    }
  }

  /** Average tokens of a complete response; undefined before the first. */
  expectedCompletion(endpoint: string): number | undefined {
    const measured = this.#measured.get(endpoint)
    return measured && measured.completions > 0 ? Math.ceil(measured.completion / measured.completions) : undefined
  }

  /** Notes the endpoint that signed reasoning: only it can verify the signature, so the conversation stays there. */
  signed(signature: string, endpoint: string): void {
    remember(this.#signers, signature.slice(-SIGNATURE_END), endpoint, MAX_REMEMBERED_SIGNATURES)
  }

  signerOf(signature: string): string | undefined {
    return this.#signers.get(signature.slice(-SIGNATURE_END))
  }
}

/** Running sum for the mean: total `completion` tokens of `completions` samples. */
type Measured = { samples: Sample[]; completion: number; completions: number }

function count(measured: Measured, { completion }: Sample, sign: 1 | -1): void {
  if (completion == null) return
  measured.completion += sign * completion
  measured.completions += sign
}

/** Length of the end of a signature that identifies it. */
const SIGNATURE_END = 48

/** Percentiles of values that are sorted from best to worst; null without values. */
function percentilesOf(ordered: readonly number[]): Percentiles | null {
  if (ordered.length === 0) return null
  const percentile = (share: number) => ordered[Math.min(ordered.length - 1, Math.floor(share * ordered.length))] ?? 0
  return { p50: percentile(0.5), p75: percentile(0.75), p90: percentile(0.9), p99: percentile(0.99) }
}

function remember<V>(map: Map<string, V>, key: string, value: V, maxSize: number = MAX_REMEMBERED): void {
  map.delete(key)
  if (map.size >= maxSize) map.delete(map.keys().next().value ?? "")
  map.set(key, value)
}
