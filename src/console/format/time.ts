import { signal } from "@preact/signals"

const ZONE = "console.zone"

/** The zone of every date that the console shows: of the computer, or UTC. */
export const zone = signal<"local" | "utc">(localStorage.getItem(ZONE) === "utc" ? "utc" : "local")

export function chooseZone(value: "local" | "utc"): void {
  zone.value = value
  localStorage.setItem(ZONE, value)
}

let localZone: string | undefined

export function zoneName(): string {
  if (zone.value === "utc") return "UTC"
  localZone ??= new Intl.DateTimeFormat().resolvedOptions().timeZone
  return localZone
}

/** A formatter takes milliseconds to make, and a page needs few of them: each is made when it is first used. */
function format(options: Intl.DateTimeFormatOptions): (ms: number) => string {
  const formats: { local?: Intl.DateTimeFormat; utc?: Intl.DateTimeFormat } = {}
  const make = () => new Intl.DateTimeFormat("en-GB", zone.value === "utc" ? { ...options, timeZone: "UTC" } : options)
  return (ms) => (formats[zone.value] ??= make()).format(ms)
}

export const clock = format({ hour: "2-digit", minute: "2-digit", second: "2-digit" })
export const hourMinute = format({ hour: "2-digit", minute: "2-digit" })
export const dayMonth = format({ day: "numeric", month: "short" })
export const weekday = format({ weekday: "long" })
const full = format({
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
})

export function absolute(ms: number): string {
  return `${full(ms)} ${zone.value === "utc" ? "UTC" : zoneName()}`
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
  if (distance > 30 * 86_400_000) return dayMonth(ms)
  if (distance < 1000) return "now"
  return ms <= now ? `${inUnits(distance)} ago` : `in ${inUnits(distance)}`
}

/** Milliseconds as a person reads them: 320 ms, 1.24 s, 2 min 5 s. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 2 : 1)} s`
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`
}

/** The clock by which relative times age. */
export const now = signal(Date.now())
setInterval(() => {
  if (!document.hidden) now.value = Date.now()
}, 5_000)
