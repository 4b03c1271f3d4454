const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"] as const
const WEEKDAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"] as const
const MINUTE = 60_000

const two = (value: number) => String(value).padStart(2, "0")

/**
 * An instant in the calendar of a zone that is `offset` minutes ahead of UTC. Without Intl, whose first formatter takes
 * longer than all other dates of a page.
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
