import { absolute, duration, now, relative } from "../format/time.ts"
import { compact, count, exactUsd, usd } from "../format/number.ts"

/** A rounded amount, with the exact one as title. */
export function Money({ value }: { value: number | null | undefined }) {
  if (value === null || value === undefined) return <span class="faint">–</span>
  return (
    <span class="num" title={exactUsd(value)}>
      {usd(value)}
    </span>
  )
}

export function Count({ value }: { value: number | null | undefined }) {
  if (value === null || value === undefined) return <span class="faint">–</span>
  return (
    <span class="num" title={count(value)}>
      {compact(value)}
    </span>
  )
}

export function Time({ at }: { at: string | number | null | undefined }) {
  if (at === null || at === undefined) return <span class="faint">never</span>
  const ms = typeof at === "number" ? at : Date.parse(at)
  return (
    <time dateTime={new Date(ms).toISOString()} title={absolute(ms)}>
      {relative(ms, Math.max(now.value, Date.now()))}
    </time>
  )
}

export function Duration({ ms }: { ms: number | null | undefined }) {
  if (ms === null || ms === undefined) return <span class="faint">–</span>
  return <span class="num">{duration(ms)}</span>
}
