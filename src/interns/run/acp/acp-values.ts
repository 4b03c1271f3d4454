import type { Json } from "../../../support/text/json.ts"

/** Lenient reads of values that an agent sent. */

export function record(value: unknown): Json {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {}
}

export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : []
}

export function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined
}
