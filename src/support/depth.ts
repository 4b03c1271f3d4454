import { isArray, isObject } from "./json.ts"

/** Deeper than any real request or response, and far below the depth that overflows the call stack. */
const MAX_DEPTH = 500

/** Whether a value is nested deeper than its texts are scanned, or than it can be serialized. */
export function isTooDeep(value: unknown): boolean {
  let level: unknown[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_DEPTH) return true
    level = level.flatMap((one) => (isArray(one) ? one : isObject(one) ? Object.values(one) : []))
  }
  return false
}
