const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"] as const
const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const
const MINUTE = 60_000

const two = (value: number) => String(value).padStart(2, "0")

/**
 * An instant on the clock and the calendar of a zone that is `offset` minutes ahead of UTC. By hand: the first formatter
 * of Intl takes a page that has just been opened longer than the rest of its dates.
 */
export function calendarOf(ms: number, offset: number) {
  const date = new Date(ms + offset * MINUTE)
  return {
    day: date.getUTCDate(),
    month: MONTHS[date.getUTCMonth()] ?? "",
    year: date.getUTCFullYear(),
    weekday: WEEKDAYS[date.getUTCDay()] ?? "",
    hour: two(date.getUTCHours()),
    minute: two(date.getUTCMinutes()),
    second: two(date.getUTCSeconds()),
    /** `UTC+1` */
    zone: zoneOf(offset),
  }
}

function zoneOf(offset: number): string {
  if (offset === 0) return "UTC"
  const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60]
  return `UTC${offset < 0 ? "−" : "+"}${hours}${minutes === 0 ? "" : `:${two(minutes)}`}`
}
