import { jsonrepair } from "jsonrepair"

/** Positions in a text at which JSON is tried. */
const MAX_ATTEMPTS = 20
const MAX_LENGTH = 2_000_000

/**
 * The JSON that a text was meant to be; null if it was not meant to be JSON. Valid JSON is unchanged; otherwise only an
 * object or array counts, since any word can be repaired into a string.
 */
export function heal(text: string): string | null {
  if (isJson(text)) return text
  if (text.length > MAX_LENGTH) return null
  for (const fenced of fencedBlocks(text)) {
    const healed = healPiece(fenced)
    if (healed !== null) return healed
  }
  let at = 0
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const start = nextOpening(text, at)
    if (start === -1) return null
    const end = endOf(text, start)
    // Up to the closing bracket; to the end of the text if broken quotes hide that bracket.
    const healed = healPiece(text.slice(start, end)) ?? healPiece(text.slice(start))
    if (healed !== null) return healed
    // JSON that could not be repaired is skipped completely: a piece of it would be a different response.
    at = looksLikeJson(text.slice(start, end)) ? end : start + 1
  }
  return null
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Contents of code fences; the last fence may be unclosed. */
function fencedBlocks(text: string): string[] {
  return [...text.matchAll(/```[ \t]*[\w-]*[ \t]*\r?\n([\s\S]*?)(?:```|$)/g)].map((match) => match[1] ?? "")
}

/** A piece that begins like an object or array, repaired if necessary. */
function healPiece(piece: string): string | null {
  const trimmed = piece.trim()
  if (!looksLikeJson(trimmed)) return null
  if (isJson(trimmed)) return trimmed
  try {
    const repaired = jsonrepair(trimmed)
    const value: unknown = JSON.parse(repaired)
    return typeof value === "object" && value !== null ? repaired : null
  } catch {
    // Not repairable, or nested too deeply for the stack.
    return null
  }
}

/**
 * `{"a"`, `{'a'`, `{a:` and `{}` begin an object; `[` before a JSON value begins an array. Prose has placeholders as a
 * word in braces, and footnotes as a number in brackets.
 */
function looksLikeJson(text: string): boolean {
  return /^\{\s*(?:["'“‘]|[\w$-]+\s*:|\}|$)/.test(text) || /^\[\s*(?:[{["'“‘]|-?\d[\d.eE+-]*\s*,|\]\s*$|$)/.test(text)
}

function nextOpening(text: string, from: number): number {
  const found = /[{[]/.exec(text.slice(from))
  return found ? from + found.index : -1
}

/**
 * The position after the bracket that closes the one at `start`, ignoring strings; the end of the text if there is
 * none.
 */
function endOf(text: string, start: number): number {
  let depth = 0
  let isInString = false
  for (let at = start; at < text.length; at++) {
    const character = text[at]
    if (isInString) {
      if (character === "\\") at++
      else if (character === '"') isInString = false
    } else if (character === '"') isInString = true
    else if (character === "{" || character === "[") depth++
    else if ((character === "}" || character === "]") && --depth === 0) return at + 1
  }
  return text.length
}
