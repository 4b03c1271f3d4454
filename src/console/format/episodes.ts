/** Calls of one provider in one minute. */
export type Minute = { at: number; calls: number; failed: number; firstToken: number | null }

/** A time in which a provider failed or was slow. */
export type Episode = {
  kind: "failing" | "slow"
  from: number
  /** The last minute in which it did. */
  last: number
  /** The first normal minute after it; null without one. */
  to: number | null
  calls: number
  failed: number
}

const MINUTE_MS = 60_000
const FAILED_SHARE = 0.2
/** Slow: this many times the median of the range, and at least this much more. */
const SLOW_FACTOR = 2
const SLOW_MS = 500
/** Bad minutes that are closer belong to one episode. */
const GAP_MS = 5 * MINUTE_MS

function medianOf(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? null
}

function kindOf(minute: Minute, median: number | null): Episode["kind"] | null {
  const { calls, failed, firstToken } = minute
  if (failed > 0 && failed / calls >= FAILED_SHARE) return "failing"
  if (firstToken === null || median === null) return null
  return firstToken >= median * SLOW_FACTOR && firstToken - median >= SLOW_MS ? "slow" : null
}

/**
 * Failures and slow responses of a provider, oldest first. An episode ends with the first minute of normal calls; without
 * calls after it, nothing shows that the provider has recovered.
 */
export function episodesOf(minutes: readonly Minute[]): Episode[] {
  const sorted = minutes.filter(({ calls }) => calls > 0).toSorted((a, b) => a.at - b.at)
  const median = medianOf(sorted.flatMap(({ firstToken }) => firstToken ?? []))
  const episodes: Episode[] = []
  let lastBad = -Infinity
  for (const minute of sorted) {
    const kind = kindOf(minute, median)
    const open = episodes.at(-1)
    if (kind === null) {
      if (open) open.to ??= minute.at
    } else if (open && open.kind === kind && minute.at - lastBad <= GAP_MS) {
      open.to = null
      open.calls += minute.calls
      open.failed += minute.failed
      open.last = minute.at
      lastBad = minute.at
    } else {
      if (open) open.to ??= minute.at
      episodes.push({ kind, from: minute.at, last: minute.at, to: null, calls: minute.calls, failed: minute.failed })
      lastBad = minute.at
    }
  }
  return episodes
}
