/** A formatter takes milliseconds to make: it is made when it is first used. */
function format(options: Intl.NumberFormatOptions): (value: number) => string {
  let made: Intl.NumberFormat | undefined
  return (value) => (made ??= new Intl.NumberFormat("en-US", options)).format(value)
}

const compactNumber = format({ notation: "compact", maximumFractionDigits: 1 })
const cents = format({ minimumFractionDigits: 2, maximumFractionDigits: 2 })

export const count = format({})

/** 12,345 stays; 1,234,567 becomes 1.2M. */
export function compact(value: number): string {
  return Math.abs(value) < 100_000 ? count(Math.round(value)) : compactNumber(value)
}

/**
 * USD with the digits that matter: two from a dollar up, and otherwise three significant ones. No rounding to zero of
 * what was charged.
 */
export function usd(value: number): string {
  const sign = value < 0 ? "−" : ""
  const amount = Math.abs(value)
  if (amount === 0) return "$0"
  if (amount >= 1) return `${sign}$${cents(amount)}`
  const digits = Math.min(9, Math.max(2, 2 - Math.floor(Math.log10(amount))))
  const text = amount.toFixed(digits)
  return `${sign}$${text.replace(/(\.\d\d\d*?)0+$/, "$1")}`
}

/** USD to the nano-dollar. */
export function exactUsd(value: number): string {
  if (value === 0) return "$0"
  const text = value.toFixed(9).replace(/(\.\d\d\d*?)0+$/, "$1")
  return `$${text}`
}

/** The API has prices as USD a token; people compare them by the million. */
export function pricePerMillion(perToken: string | number): string {
  const value = Number(perToken) * 1e6
  return value === 0 ? "free" : usd(Math.round(value * 1e6) / 1e6)
}

/** USD a million tokens, with at most six decimals, as USD a token: exact, since prices are money. */
export function perToken(perMillion: string): string {
  const [whole = "", fraction = ""] = perMillion.split(".")
  const digits = (BigInt(whole || "0") * 1_000_000n + BigInt(fraction.padEnd(6, "0"))).toString().padStart(13, "0")
  const decimals = digits.slice(-12).replace(/0+$/, "")
  return decimals === "" ? digits.slice(0, -12) : `${digits.slice(0, -12)}.${decimals}`
}

export function percent(share: number, digits = 1): string {
  const value = share * 100
  return `${value !== 0 && Math.abs(value) < 10 ? value.toFixed(digits) : Math.round(value)} %`
}

/** Change against an earlier value: `+12 %`, or null where there was nothing to compare with. */
export function change(now: number, before: number): string | null {
  if (before === 0) return null
  const share = (now - before) / before
  if (Math.abs(share) >= 10) return `${share > 0 ? "×" : "−"}${Math.round(Math.abs(now / before))}`
  return `${share > 0 ? "+" : share < 0 ? "−" : "±"}${Math.abs(share * 100).toFixed(Math.abs(share) < 0.1 ? 1 : 0)} %`
}

export function bytes(value: number): string {
  if (value < 1000) return `${value} B`
  const units = ["kB", "MB", "GB"]
  const power = Math.min(units.length, Math.floor(Math.log10(value) / 3))
  return `${(value / 1000 ** power).toFixed(1)} ${units[power - 1] ?? "GB"}`
}
