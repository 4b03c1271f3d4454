import { isArray, isObject } from "../../support/text/json.ts"

/** Continues the numbering of the previous rounds, because clients merge details by index. */
export function renumber(details: unknown, offset: number): unknown {
  if (offset === 0 || !isArray(details)) return details
  return details.map((detail) =>
    isObject(detail) && typeof detail["index"] === "number" ? { ...detail, index: detail["index"] + offset } : detail,
  )
}

/** The index after the highest of these details. */
export function nextIndex(details: unknown, minIndex: number): number {
  if (!isArray(details)) return minIndex
  return details.reduce<number>((next, detail) => {
    const index = isObject(detail) ? detail["index"] : undefined
    return typeof index === "number" ? Math.max(next, index + 1) : next
  }, minIndex)
}
