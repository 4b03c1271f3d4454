import type { Batch } from "../../api/types.ts"
import { count } from "../../format/number.ts"
import { Meter } from "../../ui/charts/meter.tsx"

/** Finished requests as a bar and as text. */
export function Progress({ batch: { request_counts: counts, status }, isLarge }: { batch: Batch; isLarge?: boolean }) {
  const { total, completed, failed } = counts
  if (total === 0) return <span class="faint">{status === "validating" ? "counting requests" : "no request ran"}</span>
  const done = completed + failed
  const text = `${count(done)} of ${count(total)}`
  return (
    <span class={`batch-progress ${isLarge ? "large" : ""}`}>
      <Meter value={done} max={total} label={`${text} requests have ended`} tone={failed > 0 ? "warn" : undefined} />
      <span class="nowrap num">
        {text}
        {failed > 0 && `, ${count(failed)} failed`}
      </span>
    </span>
  )
}
