import type { Process } from "./gateway.ts"

/** The state of the run at one moment. Seconds since its start; latencies of the JSON calls since the last sample. */
export type Sample = {
  second: number
  processes: readonly Process[]
  /** Garbage was collected just before. */
  isCollected: boolean
  calls: number
  p50: number
  p95: number
  p99: number
  /** USD: what the provider served, and what the ledger charged, since the start. */
  servedUsd: number
  chargedUsd: number
  /** Differences between the ledger and its generations by reconciliation; null if it was not run. */
  drifts: number | null
  kills: number
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

type Growth = { name: Process["name"]; pid: number; minutes: number; fromMb: number; toMb: number; mbAMinute: number }

/** The memory of a new process is not measured: so long do its compiler and caches fill. */
const WARM_UP_SECONDS = 240
/** A slope over less time is noise. */
const LEAST_SECONDS = 180
/** Allowed growth of a process, in megabytes a minute. The fragmentation of a young heap is below it; a leak is above. */
export const MAX_GROWTH = 4
export const MAX_DESCRIPTORS = 400

/** The growth of each process from its warm-up to its end: a restart begins a new process, so none is counted as shrinking. */
export function growthOf(samples: readonly Sample[]): Growth[] {
  const lives = new Map<number, { name: Process["name"]; points: { second: number; rssMb: number }[] }>()
  for (const { second, processes } of samples.filter(({ isCollected }) => isCollected)) {
    for (const { name, pid, rssMb } of processes) {
      const process = lives.get(pid) ?? { name, points: [] }
      process.points.push({ second, rssMb })
      lives.set(pid, process)
    }
  }
  return [...lives].flatMap(([pid, { name, points }]) => {
    const born = points[0]?.second ?? 0
    const settled = points.filter(({ second }) => second >= born + WARM_UP_SECONDS)
    const [first, last] = [settled[0], settled.at(-1)]
    if (!first || !last || last.second - first.second < LEAST_SECONDS) return []
    const minutes = (last.second - first.second) / 60
    return [{ name, pid, minutes, fromMb: first.rssMb, toMb: last.rssMb, mbAMinute: slopeOf(settled) * 60 }]
  })
}

/** Least squares, in megabytes a second. */
function slopeOf(points: readonly { second: number; rssMb: number }[]): number {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [x, y] = [mean(points.map(({ second }) => second)), mean(points.map(({ rssMb }) => rssMb))]
  const covariance = points.reduce((sum, { second, rssMb }) => sum + (second - x) * (rssMb - y), 0)
  const variance = points.reduce((sum, { second }) => sum + (second - x) ** 2, 0)
  return variance === 0 ? 0 : covariance / variance
}
