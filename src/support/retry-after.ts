/** `retry-after-ms`, then `Retry-After` in seconds or as a date; null if absent, past or invalid. */
export function parseRetryAfter(headers: Headers, now: number): number | null {
  const ms = Number(headers.get("retry-after-ms") ?? Number.NaN)
  if (Number.isFinite(ms) && ms >= 0) return Math.ceil(ms)
  const value = headers.get("retry-after")?.trim()
  if (!value) return null
  if (/^\d+(\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1_000)
  // A date contains letters; other values that Date.parse accepts are invalid.
  const date = /[a-z]/i.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(date) ? null : Math.max(0, date - now)
}
