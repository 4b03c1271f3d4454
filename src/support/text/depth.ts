import { isArray, isObject } from "./json.ts"

/** Deeper than any real request or response, and far below the depth that overflows the call stack. */
const MAX_DEPTH = 500

/** Whether a value is nested deeper than its texts are scanned, or than it can be serialized. */
export function isTooDeep(value: unknown, maxDepth = MAX_DEPTH): boolean {
  if (maxDepth < 0) return true
  if (isArray(value)) return value.some((one) => isTooDeep(one, maxDepth - 1))
  if (!isObject(value)) return false
  // Called for each JSON response: without an array of its values.
  for (const name in value) if (isTooDeep(value[name], maxDepth - 1)) return true
  return false
}

/** A shorter text has fewer brackets than levels are allowed. */
const MIN_LENGTH = 2 * MAX_DEPTH

/** Whether the value of a JSON text is nested too deeply. */
export function isDeepJson(text: string, value: unknown): boolean {
  return text.length > MIN_LENGTH && isTooDeep(value)
}
