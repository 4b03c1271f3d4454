import { decodeBase64 } from "../../../support/text/encoding.ts"
import { COST, type WorkBudget } from "../../content/work-budget.ts"
import type { ObfuscationCandidates } from "../../prefilter/obfuscation.ts"
import type { PrefilterResult } from "../../prefilter/prefilter.ts"
import type { MatchRange } from "../detector.ts"
import { hasLiteral } from "../detector-prefilter.ts"
import { HINT_PATTERNS, ENCODING_HINTS, type Obfuscation } from "./encodings.ts"

/** A decoded part of a text. `range`: its position in the text. */
export type DecodedText = { text: string; range: MatchRange }

const SPACED = /(?:[\p{L}\p{N}][\s.\-_*|/]{1,3}){8,400}[\p{L}\p{N}]/gu
const BASE64 = /[A-Za-z0-9+/_-]{24,8192}={0,2}/g
const HEX = /(?:[0-9a-f]{2}[ :]?){20,4096}/gi
/** Applied only near an encoding hint. */
const SHORT_BASE64 = /(?<![A-Za-z0-9+/_-])(?=[a-z+/]*[A-Z0-9])[A-Za-z0-9+/_-]{8,1024}={0,2}/g
const SHORT_HEX = /(?:\b[0-9a-f]{2}[ :]?){8,1024}/gi
const BINARY = /(?:[01]{8}\s?){5,512}/g
/** Percent and numeric character escapes in a row with plain characters between them. */
const ESCAPES =
  /(?:[\w.,-]{0,40}(?:%[0-9a-f]{2}|&#x?[0-9a-f]{2,6};|\\u[0-9a-f]{4}|\\x[0-9a-f]{2})){3,400}[\w.,-]{0,40}/gi
const ESCAPE = /%[0-9a-f]{2}|&#x[0-9a-f]{2,6};|&#\d{2,6};|\\u[0-9a-f]{4}|\\x[0-9a-f]{2}/gi
const ANY_ESCAPE = /%[0-9a-f]{2}|&#x?[0-9a-f]{2}|\\[ux][0-9a-f]{2}/i
const ESCAPE_STARTS = ["%", "&#", "\\u", "\\x"]
/** Longer than one escape with the plain characters around it. */
const ESCAPE_CONTEXT = 60
const QUOTED = /["“«„「]([^"”“»」\n]{1,80})["”“»」]/g

/** Length of text near a hint to decode, and the maximum number of times. */
const HINT_DISTANCE = 400
const MAX_POSITIONS = { reversed: 8, rot13: 8, concatenated: 8, encoded: 8, caesar: 2 } as const satisfies Record<
  Obfuscation,
  number
>
const ALPHABET = 26
const HALF_ALPHABET = 13
const SHIFTS = Array.from({ length: ALPHABET - 1 }, (_, at) => at + 1)
const MIN_LETTERS = 4
const READABLE = /^[\t\n\r\x20-\x7e\u00a0-\ufffb]+$/

type Prefiltered = { prefilter: PrefilterResult; obfuscation: ObfuscationCandidates | undefined }

/** The decoded parts of a text. */
export function decodeObfuscated(
  text: string,
  { prefilter, obfuscation }: Prefiltered,
  budget: WorkBudget,
): DecodedText[] {
  const decoded: DecodedText[] = []
  const decodeMatches = (pattern: RegExp, ranges: readonly number[], decode: (match: string) => string | undefined) => {
    for (let at = 0; at < ranges.length; at += 2) {
      const [from = 0, to = 0] = [ranges[at], ranges[at + 1]]
      budget.spend((to - from) * COST.regexCharacter)
      for (const { index, 0: match } of text.slice(from, to).matchAll(pattern)) {
        const plain = decode(match)
        if (plain !== undefined) decoded.push({ text: plain, range: [from + index, from + index + match.length] })
      }
    }
  }
  const everywhere = [0, text.length]
  if (!obfuscation || obfuscation.hasSpacedLetters) decodeMatches(SPACED, everywhere, joinSpacedLetters)
  // Includes the padding after a Base64 run.
  const base64 = obfuscation?.base64.map((bound, at) => (at % 2 === 0 ? bound : Math.min(text.length, bound + 2)))
  decodeMatches(BASE64, base64 ?? everywhere, fromBase64)
  decodeMatches(HEX, obfuscation?.hex ?? everywhere, fromHex)
  const nearHints = hasHint("encoded", prefilter) ? rangesNearHints("encoded", text, budget) : []
  decodeMatches(SHORT_BASE64, nearHints, fromBase64)
  decodeMatches(SHORT_HEX, nearHints, fromHex)
  decodeMatches(BINARY, nearHints, fromBinary)
  if (ESCAPE_STARTS.some((start) => text.includes(start)))
    decodeMatches(ESCAPES, escapeRange(text, budget), decodeEscapes)
  decoded.push(...decodeNearHints(text, prefilter, budget))
  return decoded
}

/** From the first escape to the last, with the plain characters around them. */
function escapeRange(text: string, budget: WorkBudget): number[] {
  budget.spend(text.length * COST.regexCharacter)
  const [first, last] = [text.search(ANY_ESCAPE), Math.max(...ESCAPE_STARTS.map((start) => text.lastIndexOf(start)))]
  // A failed search reads the plain characters before each position again.
  if (first !== -1) budget.spend(Math.max(0, last - first) * COST.allPhrasesCharacter)
  return first === -1
    ? []
    : [Math.max(0, first - ESCAPE_CONTEXT), Math.min(text.length, Math.max(first, last) + ESCAPE_CONTEXT)]
}

function decodeNearHints(text: string, prefilter: PrefilterResult, budget: WorkBudget): DecodedText[] {
  const decoded: DecodedText[] = []
  const each = (obfuscation: Obfuscation, decode: (context: string) => Pick<DecodedText, "text">[]) => {
    const ranges = hasHint(obfuscation, prefilter) ? rangesNearHints(obfuscation, text, budget) : []
    for (let at = 0; at < ranges.length; at += 2) {
      const range: MatchRange = [ranges[at] ?? 0, ranges[at + 1] ?? 0]
      for (const { text: plain } of decode(text.slice(range[0], range[1]))) {
        budget.spend(plain.length * COST.regexCharacter)
        decoded.push({ text: plain, range })
      }
    }
  }
  each("reversed", (context) => [{ text: Array.from(context).toReversed().join("") }])
  each("rot13", (context) => [{ text: shiftLetters(context, HALF_ALPHABET) }])
  each("caesar", (context) => SHIFTS.map((shift) => ({ text: shiftLetters(context, shift) })))
  each("concatenated", (context) => joinQuoted(context).map((one) => ({ text: one })))
  return decoded
}

const hasHint = (obfuscation: Obfuscation, prefilter: PrefilterResult) =>
  ENCODING_HINTS[obfuscation].some((hint) => hasLiteral(prefilter, hint))

/** The ranges of a text near the hints of an obfuscation. */
function rangesNearHints(obfuscation: Obfuscation, text: string, budget: WorkBudget): number[] {
  budget.spend(text.length * COST.regexCharacter)
  const ranges: number[] = []
  for (const { index } of text.matchAll(HINT_PATTERNS[obfuscation])) {
    const [from, to] = [Math.max(0, index - HINT_DISTANCE), Math.min(text.length, index + HINT_DISTANCE)]
    const last = ranges.length - 1
    if (last > 0 && from <= (ranges[last] ?? 0)) {
      if (to - (ranges[last - 1] ?? 0) <= 4 * HINT_DISTANCE) ranges[last] = to
    } else if (ranges.length < 2 * MAX_POSITIONS[obfuscation]) ranges.push(from, to)
  }
  budget.spend(ranges.length * HINT_DISTANCE * COST.regexCharacter)
  return ranges
}

function shiftLetters(text: string, shift: number): string {
  return text.replaceAll(/[a-z]/gi, (letter) => {
    const first = letter < "a" ? 65 : 97
    return String.fromCharCode(first + ((letter.charCodeAt(0) - first + shift) % ALPHABET))
  })
}

/** Joins quoted pieces to one text, without and with blanks. */
function joinQuoted(text: string): string[] {
  const pieces = Array.from(text.matchAll(QUOTED), ([, piece = ""]) => piece)
  return pieces.length < 2 ? [] : [pieces.join(""), pieces.join(" ")]
}

/** If single blanks separate letters, two or more separate words. */
function joinSpacedLetters(spaced: string): string {
  const separated = spaced.split(/[\s.\-_*|/]{2,}/)
  return separated.map((word) => word.replaceAll(/[^\p{L}\p{N}\p{M}]/gu, "")).join(" ")
}

function readable(text: string | undefined): string | undefined {
  return text !== undefined && READABLE.test(text) && (text.match(/\p{L}/gu)?.length ?? 0) >= MIN_LETTERS
    ? text
    : undefined
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

function decoded(bytes: Uint8Array | undefined): string | undefined {
  if (!bytes) return undefined
  try {
    return readable(utf8.decode(bytes))
  } catch {
    return undefined
  }
}

function fromBase64(encoded: string): string | undefined {
  return decoded(decodeBase64(encoded.replaceAll("-", "+").replaceAll("_", "/").replace(/=+$/, "")))
}

function fromHex(encoded: string): string | undefined {
  const pairs = encoded.replaceAll(/[^0-9a-f]/gi, "").match(/../g) ?? []
  return decoded(Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16)))
}

function fromBinary(encoded: string): string | undefined {
  const bytes = encoded.replaceAll(/[^01]/g, "").match(/.{8}/g) ?? []
  return decoded(Uint8Array.from(bytes, (byte) => Number.parseInt(byte, 2)))
}

function decodeEscapes(escaped: string): string | undefined {
  const text = escaped.replaceAll(ESCAPE, (escape) => {
    const isDecimal = /^&#\d/.test(escape)
    const code = Number.parseInt(escape.replaceAll(/^(?:%|&#x?|\\[ux])|;$/gi, ""), isDecimal ? 10 : 16)
    return code > 0 && code <= 0xffff ? String.fromCharCode(code) : ""
  })
  return readable(text)
}
