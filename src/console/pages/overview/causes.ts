import { numberIn, textIn, type Row } from "./series.ts"

export type Cause = { name: "calls" | "length" | "price"; factor: number }
export type SpendChange = {
  id: string
  /** USD against the other period, scaled to the same length. */
  delta: number
  /** Largest part of the change; null for one that is new or has ended. */
  cause: Cause | null
  kind: "grown" | "new" | "ended"
}

/** Smaller changes are noise. */
const MIN_SHARE = 0.05
const MIN_USD = 0.000_01

/**
 * Spend is calls × tokens per call × price per token. The factor that changed most, by its logarithm, explains the
 * change.
 */
function causeOf(now: Row, before: Row, scale: number): Cause | null {
  const parts = [now, before].map((row) => {
    const calls = numberIn(row, "requests")
    const tokens = numberIn(row, "total_tokens")
    return { calls, length: tokens / calls, price: numberIn(row, "usage") / tokens }
  })
  const [after, earlier] = parts
  if (!after || !earlier) return null
  const causes: Cause[] = [
    { name: "calls", factor: after.calls / (earlier.calls * scale) },
    { name: "length", factor: after.length / earlier.length },
    { name: "price", factor: after.price / earlier.price },
  ]
  const isGrowth = causes.reduce((product, { factor }) => product * factor, 1) >= 1
  const sameWay = causes.filter(({ factor }) => Number.isFinite(factor) && factor > 0 && factor >= 1 === isGrowth)
  const distance = ({ factor }: Cause) => Math.abs(Math.log(factor))
  return sameWay.toSorted((a, b) => distance(b) - distance(a))[0] ?? null
}

const SUMMED = ["usage", "requests", "total_tokens"] as const

/** One row for each value of a dimension, with the sums of its rows. */
function sumBy(rows: readonly Row[], dimension: string): Map<string, Row> {
  const sums = new Map<string, Row>()
  for (const row of rows) {
    const id = textIn(row, dimension)
    const before = sums.get(id)
    sums.set(id, Object.fromEntries(SUMMED.map((metric) => [metric, numberIn(before, metric) + numberIn(row, metric)])))
  }
  return sums
}

/** The changes of spend by the values of a dimension, largest first. `scale`: see `ComparisonRange`. */
export function spendChanges(
  now: readonly Row[],
  before: readonly Row[],
  { dimension, scale }: { dimension: string; scale: number },
): SpendChange[] {
  const earlier = sumBy(before, dimension)
  const current = sumBy(now, dimension)
  const total = now.reduce((sum, row) => sum + numberIn(row, "usage"), 0)
  return [...new Set([...current.keys(), ...earlier.keys()])]
    .filter((id) => id !== "")
    .map((id): SpendChange => {
      const [row, old] = [current.get(id), earlier.get(id)]
      const spent = numberIn(row, "usage")
      const spentBefore = numberIn(old, "usage") * scale
      const kind = spentBefore === 0 ? "new" : spent === 0 ? "ended" : "grown"
      return {
        id,
        delta: spent - spentBefore,
        kind,
        cause: row && old && kind === "grown" ? causeOf(row, old, scale) : null,
      }
    })
    .filter(({ delta }) => Math.abs(delta) >= Math.max(MIN_USD, total * MIN_SHARE))
    .toSorted((a, b) => Math.abs(b.delta) - Math.abs(a.delta))
}

const TEXTS = {
  calls: ["more calls", "fewer calls"],
  length: ["more tokens per call", "fewer tokens per call"],
  price: ["higher price per token", "lower price per token"],
} as const

/** `3.2 × the calls`-like text: what made the spend change. */
export function describeCause({ kind, cause }: SpendChange): string {
  if (kind === "new") return "no spend before"
  if (kind === "ended") return "no spend in this range"
  if (cause === null) return ""
  const [more, less] = TEXTS[cause.name]
  const { factor } = cause
  if (factor >= 2) return `${more} (× ${factor < 10 ? factor.toFixed(1) : Math.round(factor)})`
  return `${factor >= 1 ? more : less} (${factor >= 1 ? "+" : "−"}${Math.round(Math.abs(factor - 1) * 100)} %)`
}
