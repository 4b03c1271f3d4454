import { absolute, dayMonth, now, relative } from "../../format/time.ts"
import { resetAt, windowOf } from "../../format/windows.ts"

/** Cells between two labels of the strip. */
const LABEL_STEPS: Readonly<Record<string, number>> = { daily: 6, weekly: 1, monthly: 7 }
const UNITS: Readonly<Record<string, string>> = { daily: "hour", weekly: "day", monthly: "day" }

/** The current window of a limit as a calendar: what is over, today, and what is left until it resets. */
export function WindowStrip({ interval }: { interval: string }) {
  const at = now.value
  const window = windowOf(interval, at)
  if (!window) return null
  const { cells, to } = window
  const current = cells.findLastIndex(({ from }) => from <= at)
  const labelStep = LABEL_STEPS[interval] ?? 1
  const unit = UNITS[interval] ?? "day"
  return (
    <span
      class="window-strip"
      role="img"
      aria-label={`${unit} ${current + 1} of ${cells.length}, from ${dayMonth(window.from)} to ${absolute(to)}`}
    >
      {cells.map(({ from, label }, index) => (
        <i key={from} class={index < current ? "over" : index === current ? "current" : ""}>
          {index % labelStep === 0 && <span>{label}</span>}
        </i>
      ))}
    </span>
  )
}

/** `resets in 6 h`, with the time of the reset. */
export function Reset({ interval }: { interval: string }) {
  const to = resetAt(interval, now.value)
  if (to === null) return null
  return <time title={absolute(to)}>resets {relative(to, now.value)}, 00:00 UTC</time>
}
