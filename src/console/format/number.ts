import { signal } from "@preact/signals"

/** Whether amounts are shown to the nano-dollar: the user's choice in the session menu. */
export const hasExactAmounts = signal(false)

/** `12,345.678`. Without Intl, whose first formatter takes longer than all numbers of a page. */
function groupDigits(digits: string): string {
  const [integer = "", fraction] = digits.split(".")
  const text = integer.replace(/\B(?=(?:\d{3})+$)/g, ",")
  return fraction === undefined ? text : `${text}.${fraction}`
}

export function count(value: number): string {
  return groupDigits(String(Number.isInteger(value) ? value : Math.round(value * 1000) / 1000))
}

/** `1 key`, `1,200 keys`. */
export function plural(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? "" : "s"}`
}

const POWERS = ["K", "M", "B", "T"] as const

/** 12,345 stays; 1,234,567 becomes 1.2M. */
export function compact(value: number): string {
  if (Math.abs(value) < 100_000) return count(Math.round(value))
  let scaled = value / 1000
  let power = 0
  // A value that would be rounded to 1,000 uses the next power.
  while (Math.abs(scaled) >= 999.95 && power < POWERS.length - 1) {
    scaled /= 1000
    power += 1
  }
  return `${groupDigits(scaled.toFixed(1).replace(/\.0$/, ""))}${POWERS[power]}`
}

/**
 * USD with significant digits: two decimals from one dollar, otherwise three significant digits. Charges are never
 * rounded to zero. With exact amounts, every digit.
 */
export function usd(value: number): string {
  if (hasExactAmounts.value) return exactUsd(value)
  const sign = value < 0 ? "−" : ""
  const amount = Math.abs(value)
  if (amount === 0) return "$0"
  if (amount >= 1) return `${sign}$${groupDigits(amount.toFixed(2))}`
  const digits = Math.min(9, Math.max(2, 2 - Math.floor(Math.log10(amount))))
  const text = amount.toFixed(digits)
  return `${sign}$${text.replace(/(\.\d\d\d*?)0+$/, "$1")}`
}

/** USD to the nano-dollar. */
export function exactUsd(value: number): string {
  if (value === 0) return "$0"
  const text = Math.abs(value)
    .toFixed(9)
    .replace(/(\.\d\d\d*?)0+$/, "$1")
  return `${value < 0 ? "−" : ""}$${groupDigits(text)}`
}

/** The API has prices in USD per token; people compare them per million. */
export function pricePerMillion(perToken: string | number): string {
  const value = Number(perToken) * 1e6
  return value === 0 ? "free" : usd(Math.round(value * 1e6) / 1e6)
}

/** Converts USD per million tokens, with at most six decimals, to USD per token: exact, since prices are money. */
export function perToken(perMillion: string): string {
  const [integer = "", fraction = ""] = perMillion.split(".")
  const digits = (BigInt(integer || "0") * 1_000_000n + BigInt(fraction.padEnd(6, "0"))).toString().padStart(13, "0")
  const decimals = digits.slice(-12).replace(/0+$/, "")
  return decimals === "" ? digits.slice(0, -12) : `${digits.slice(0, -12)}.${decimals}`
}

export function percent(share: number, digits = 1): string {
  const value = share * 100
  return `${value !== 0 && Math.abs(value) < 10 ? value.toFixed(digits) : Math.round(value)} %`
}

/** Change from an earlier value: `+12 %`; null if there was none. */
export function change(now: number, before: number): string | null {
  if (before === 0) return null
  const share = (now - before) / before
  if (Math.abs(share) >= 10) return `${share > 0 ? "×" : "−"}${Math.round(Math.abs(now / before))}`
  return `${share > 0 ? "+" : share < 0 ? "−" : "±"}${Math.abs(share * 100).toFixed(Math.abs(share) < 0.1 ? 1 : 0)} %`
}

export function bytes(value: number): string {
  if (value < 1000) return `${value}\u00A0B`
  const units = ["kB", "MB", "GB"]
  const power = Math.min(units.length, Math.floor(Math.log10(value) / 3))
  return `${(value / 1000 ** power).toFixed(1)}\u00A0${units[power - 1] ?? "GB"}`
}
