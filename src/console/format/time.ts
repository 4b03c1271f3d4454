import { signal } from "@preact/signals"
import { calendarOf } from "./calendar.ts"

export { duration } from "./duration.ts"

const ZONE = "console.zone"

/** The time zone of all dates in the console: of the computer, or UTC. */
export const zone = signal<"local" | "utc">(localStorage.getItem(ZONE) === "utc" ? "utc" : "local")

export function chooseZone(value: "local" | "utc"): void {
  zone.value = value
  localStorage.setItem(ZONE, value)
}

/** Name of the computer's zone: `Europe/Berlin`. Slow the first time, like all of Intl. */
export function zoneName(): string {
  return zone.value === "utc" ? "UTC" : Intl.DateTimeFormat().resolvedOptions().timeZone
}

/** The offset depends on the instant: summer or winter time. */
function partsOf(ms: number) {
  return calendarOf(ms, zone.value === "utc" ? 0 : -new Date(ms).getTimezoneOffset())
}

export function clock(ms: number): string {
  const { hour, minute, second } = partsOf(ms)
  return `${hour}:${minute}:${second}`
}

export function hourMinute(ms: number): string {
  const { hour, minute } = partsOf(ms)
  return `${hour}:${minute}`
}

export function dayMonth(ms: number): string {
  const { day, month } = partsOf(ms)
  return `${day} ${month}`
}

/** With the year unless it is the current one. */
export function dayMonthYear(ms: number): string {
  const { day, month, year } = partsOf(ms)
  return year === partsOf(Date.now()).year ? `${day} ${month}` : `${day} ${month} ${year}`
}

export function weekday(ms: number): string {
  return partsOf(ms).weekday
}

/** `25 Nov 2026, 08:16:50 UTC+1`. */
export function absolute(ms: number): string {
  const { day, month, year, hour, minute, second, zone: name } = partsOf(ms)
  return `${day} ${month} ${year}, ${hour}:${minute}:${second} ${name}`
}

const UNITS = [
  ["s", 1000],
  ["min", 60_000],
  ["h", 3_600_000],
  ["d", 86_400_000],
] as const

function inUnits(ms: number): string {
  const [unit, size] = UNITS.findLast(([, size]) => ms >= size) ?? UNITS[0]
  return `${Math.floor(ms / size)} ${unit}`
}

/** `12 s ago`, `in 3 h`, and a date beyond a month. */
export function relative(ms: number, now: number): string {
  const distance = Math.abs(now - ms)
  if (distance > 30 * 86_400_000) return dayMonthYear(ms)
  if (distance < 1000) return "now"
  return ms <= now ? `${inUnits(distance)} ago` : `in ${inUnits(distance)}`
}

/** The clock for relative times. */
export const now = signal(Date.now())
setInterval(() => {
  if (!document.hidden) now.value = Date.now()
}, 5_000)
