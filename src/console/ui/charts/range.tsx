import { useRef, useState } from "preact/hooks"
import { query, setQuery } from "../../state/router.ts"
import { absolute, chooseZone, dayMonthYear, hourMinute, zone, zoneName } from "../../format/time.ts"
import { Button, Segmented } from "../button.tsx"
import { TextField } from "../field.tsx"
import { Icon } from "../icon.tsx"
import { Popover } from "../menu.tsx"

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

const PRESETS = [
  { value: "1h", label: "Last hour", ms: HOUR },
  { value: "24h", label: "Last 24 hours", ms: DAY },
  { value: "7d", label: "Last 7 days", ms: 7 * DAY },
  { value: "30d", label: "Last 30 days", ms: 30 * DAY },
] as const

export type Range = { from: number; to: number; label: string; isLive: boolean }

/** The range of the URL: `?range=24h`, or `?from=` and `?to=`. Ranges that end now move in steps of a minute. */
export function currentRange(fallback: (typeof PRESETS)[number]["value"] = "24h"): Range {
  const from = Date.parse(query.value.get("from") ?? "")
  const to = Date.parse(query.value.get("to") ?? "")
  if (from < to) return { from, to, label: describeRange({ from, to }), isLive: false }
  const chosen = query.value.get("range") ?? fallback
  const preset = PRESETS.find(({ value }) => value === chosen) ?? PRESETS[1]
  const end = Math.ceil(Date.now() / MINUTE) * MINUTE
  return { from: end - preset.ms, to: end, label: preset.label, isLive: true }
}

/** Whole days as dates, including the last one; other ranges to the minute. */
export function describeRange({ from, to }: Pick<Range, "from" | "to">): string {
  const isInDays = hourMinute(from) === "00:00" && hourMinute(to) === "00:00"
  if (!isInDays) return `${dayMonthYear(from)} ${hourMinute(from)} – ${dayMonthYear(to)} ${hourMinute(to)}`
  const [first, last] = [dayMonthYear(from), dayMonthYear(to - 1)]
  return first === last ? first : `${first} – ${last}`
}

/** Steps of a chart of this range: at most about 170 points. */
export function granularityOf({ from, to }: Range): { name: "minute" | "hour" | "day"; ms: number } {
  const span = to - from
  if (span <= 2 * HOUR) return { name: "minute", ms: MINUTE }
  if (span <= 7 * DAY) return { name: "hour", ms: HOUR }
  return { name: "day", ms: DAY }
}

function toInput(ms: number): string {
  const shift = zone.value === "utc" ? 0 : new Date(ms).getTimezoneOffset() * MINUTE
  return new Date(ms - shift).toISOString().slice(0, 16)
}

function fromInput(text: string): number {
  return Date.parse(zone.value === "utc" ? `${text}Z` : text)
}

export function RangePicker({ fallback }: { fallback?: "1h" | "24h" | "7d" | "30d" }) {
  const range = currentRange(fallback)
  const [isOpen, setOpen] = useState(false)
  const anchor = useRef<HTMLSpanElement>(null)
  const choose = (value: string) => {
    setQuery({ range: value, from: null, to: null, cursor: null })
    setOpen(false)
  }
  return (
    <>
      <span ref={anchor}>
        <Button
          aria-haspopup="dialog"
          aria-expanded={isOpen}
          title={`${absolute(range.from)} to ${absolute(range.to)}`}
          onClick={() => setOpen(!isOpen)}
        >
          {range.label}
          {zone.value === "utc" && <span class="faint small">UTC</span>}
          <Icon name="down" size={14} />
        </Button>
      </span>
      {isOpen && (
        <Popover anchor={anchor} label="Time range" placement="bottom-end" onClose={() => setOpen(false)}>
          <div class="menu-list">
            {PRESETS.map(({ value, label }) => (
              <button type="button" key={value} onClick={() => choose(value)}>
                {label}
              </button>
            ))}
            <hr />
          </div>
          <CustomRange
            range={range}
            onApply={({ from, to }) => {
              setQuery({ range: null, from, to, cursor: null })
              setOpen(false)
            }}
          />
        </Popover>
      )}
    </>
  )
}

/** A form for any range, which is stored in the URL. */
export function CustomRange(props: {
  range: Pick<Range, "from" | "to">
  onApply: (range: { from: string; to: string }) => void
}) {
  const { range, onApply } = props
  const [from, setFrom] = useState(toInput(range.from))
  const [to, setTo] = useState(toInput(range.to))
  const isOrdered = fromInput(from) < fromInput(to)
  const apply = (event: Event) => {
    event.preventDefault()
    if (!isOrdered) return
    onApply({ from: new Date(fromInput(from)).toISOString(), to: new Date(fromInput(to)).toISOString() })
  }
  return (
    <form class="stack tight range-form" onSubmit={apply}>
      <TextField label="From" type="datetime-local" value={from} onChange={setFrom} />
      <TextField
        label="To"
        type="datetime-local"
        value={to}
        onChange={setTo}
        fault={isOrdered ? undefined : "must be after the start"}
      />
      <div class="row between">
        <Segmented
          label="Time zone"
          value={zone.value}
          onChange={chooseZone}
          options={[
            {
              value: "local",
              label: zoneName() === "UTC" ? "Local" : (zoneName().split("/").at(-1) ?? "Local").replace("_", " "),
            },
            { value: "utc", label: "UTC" },
          ]}
        />
        <Button type="submit" kind="primary">
          Apply
        </Button>
      </div>
    </form>
  )
}
