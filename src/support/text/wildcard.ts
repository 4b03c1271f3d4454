import * as z from "zod"

const MAX_PATTERNS = 1_024
const MAX_LENGTH = 1_024
const MAX_TOTAL_LENGTH = 65_536

/** A list of model patterns, such as `author/*` and `*:free`. */
export const Patterns = z
  .array(
    z
      .string({ error: "must be a string" })
      .min(1, "must not be empty")
      .max(MAX_LENGTH, `must be at most ${MAX_LENGTH} characters`),
    { error: "must be an array of model patterns" },
  )
  .max(MAX_PATTERNS, `must be at most ${MAX_PATTERNS} patterns`)
  .refine((patterns) => patterns.reduce((length, pattern) => length + pattern.length, 0) <= MAX_TOTAL_LENGTH, {
    error: `must be at most ${MAX_TOTAL_LENGTH} characters in all`,
  })

/**
 * Whether a name matches one of these patterns; `*` matches anything, and case is ignored. The pieces between stars are
 * searched once each, from left to right, which suffices for `*` without backtracking.
 */
export function matcher(patterns: readonly string[]): (name: string) => boolean {
  const prepared = patterns.map((pattern) => pattern.toLowerCase().split("*"))
  return (name) => {
    const lower = name.toLowerCase()
    return prepared.some((pieces) => matches(lower, pieces))
  }
}

/** Like `matcher`, but case-sensitive: for subjects of tokens (RFC 7519, section 4.1.2) and paths of URLs. */
export function caseSensitiveMatcher(patterns: readonly string[]): (name: string) => boolean {
  const prepared = patterns.map((pattern) => pattern.split("*"))
  return (name) => prepared.some((pieces) => matches(name, pieces))
}

function matches(name: string, pieces: readonly string[]): boolean {
  const [first = "", ...others] = pieces
  const last = others.pop()
  if (last === undefined) return name === first
  const end = name.length - last.length
  if (!name.startsWith(first) || !name.endsWith(last)) return false
  let at = first.length
  for (const piece of others) {
    const found = name.indexOf(piece, at)
    if (found === -1) return false
    at = found + piece.length
  }
  return at <= end
}
