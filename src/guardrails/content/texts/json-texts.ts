import { isArray, isObject } from "../../../support/text/json.ts"

/** The texts of JSON values, for content filters. */

export type Visit = (text: string) => string

/** Smaller numbers identify nothing, and a list of them would be a text for each. */
const MIN_ID = 1_000

/** Maps an integer as a text: card numbers and ids can be numbers. A changed one becomes a text. */
export function mapNumber(value: number, visit: Visit): number | string {
  if (!Number.isSafeInteger(value) || Math.abs(value) < MIN_ID) return value
  const text = String(value)
  const mapped = visit(text)
  return mapped === text ? value : mapped
}

/** Maps every text of a value with arbitrary field names, and the names with `visitName`. */
export function mapFree(value: unknown, visit: Visit, visitName: Visit): unknown {
  if (typeof value === "string") return visit(value)
  if (typeof value === "number") return mapNumber(value, visit)
  if (isArray(value)) return value.map((one) => mapFree(one, visit, visitName))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [visitName(key), mapFree(one, visit, visitName)]))
}

export function textsOf(map: (visit: Visit) => unknown): string[] {
  const texts: string[] = []
  map((text) => {
    texts.push(text)
    return text
  })
  return texts
}

/** Replaces the texts that `textsOf` found, in the same order. */
export function withTexts(map: (visit: Visit) => unknown, texts: readonly unknown[]): unknown {
  let at = 0
  return map((text) => {
    const next = texts[at++]
    return typeof next === "string" ? next : text
  })
}

/** Names of all fields. */
export function namesIn(value: unknown): string[] {
  if (isArray(value)) return value.flatMap(namesIn)
  return isObject(value) ? Object.entries(value).flatMap(([key, one]) => [key, ...namesIn(one)]) : []
}
