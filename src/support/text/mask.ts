import { isObject, type Json } from "./json.ts"

/** Shorter secrets are masked completely: their ends would reveal too much. */
const MIN_MASKED = 20
const MASKED = /^(.{4})?\.\.\.(.{4})?$/

export function toMask(secret: string): string {
  return secret.length < MIN_MASKED ? "..." : `${secret.slice(0, 4)}...${secret.slice(-4)}`
}

export function isMask(text: string): boolean {
  return MASKED.test(text)
}

/** Masks all values of secrets. */
export function maskValues(secret: Json): Json {
  return Object.fromEntries(
    Object.entries(secret).map(([name, value]) => [name, isObject(value) ? maskValues(value) : toMask(String(value))]),
  )
}
