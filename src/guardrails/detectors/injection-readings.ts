import { decodeBase64 } from "../../support/encoding.ts"
import { COST, type Meter } from "../content/meter.ts"
import type { Runs } from "../prefilter/runs.ts"
import type { Survey } from "../prefilter/survey.ts"
import type { Part } from "./detector.ts"
import { CUE_PATTERNS, CUES, type Disguise } from "./injection-cues.ts"
import { numberOf } from "./surveyor.ts"

/** A decoded part of a text. `whole`: its position in the text. */
export type Reading = { text: string; whole: Part }

const SPACED = /(?:[\p{L}\p{N}][\s.\-_*|/]{1,3}){8,400}[\p{L}\p{N}]/gu
const BASE64 = /[A-Za-z0-9+/_-]{24,8192}={0,2}/g
const HEX = /(?:[0-9a-f]{2}[ :]?){20,4096}/gi
/** Applied only near a cue. */
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
const QUOTED = /["“«]([^"”»\n]{1,80})["”»]/g

/** Length of text near a cue to decode, and the maximum number of times. */
const BESIDE = 400
const MAX_POSITIONS = { turned: 8, rotated: 8, joined: 8, packed: 8, shifted: 2 } as const satisfies Record<
  Disguise,
  number
>
const ALPHABET = 26
const HALF_ALPHABET = 13
const SHIFTS = Array.from({ length: ALPHABET - 1 }, (_, at) => at + 1)
const MIN_LETTERS = 4
const READABLE = /^[\t\n\r\x20-\x7e\u00a0-\ufffb]+$/

type Looked = { survey: Survey; runs: Runs | undefined }

/** The decoded parts of a text. */
export function readingsOf(text: string, { survey, runs }: Looked, meter: Meter): Reading[] {
  const readings: Reading[] = []
  const search = (pattern: RegExp, ranges: readonly number[], read: (match: string) => string | undefined) => {
    for (let at = 0; at < ranges.length; at += 2) {
      const [from = 0, to = 0] = [ranges[at], ranges[at + 1]]
      meter.spend((to - from) * COST.searched)
      for (const { index, 0: match } of text.slice(from, to).matchAll(pattern)) {
        const plain = read(match)
        if (plain !== undefined) readings.push({ text: plain, whole: [from + index, from + index + match.length] })
      }
    }
  }
  const whole = [0, text.length]
  if (!runs || runs.hasSpaced) search(SPACED, whole, unspaced)
  // Includes the padding after a Base64 run.
  const base64 = runs?.base64.map((scope, at) => (at % 2 === 0 ? scope : Math.min(text.length, scope + 2)))
  search(BASE64, base64 ?? whole, fromBase64)
  search(HEX, runs?.hex ?? whole, fromHex)
  const packed = hasCue("packed", survey) ? placesOf("packed", text, meter) : []
  search(SHORT_BASE64, packed, fromBase64)
  search(SHORT_HEX, packed, fromHex)
  search(BINARY, packed, fromBinary)
  if (ESCAPE_STARTS.some((start) => text.includes(start))) search(ESCAPES, escapedIn(text, meter), unescaped)
  readings.push(...besideCues(text, survey, meter))
  return readings
}

/** From the first escape to the last, with the plain characters around them. */
function escapedIn(text: string, meter: Meter): number[] {
  meter.spend(text.length * COST.searched)
  const [first, last] = [text.search(ANY_ESCAPE), Math.max(...ESCAPE_STARTS.map((start) => text.lastIndexOf(start)))]
  // A failed search reads the plain characters before each position again.
  if (first !== -1) meter.spend(Math.max(0, last - first) * COST.dearest)
  return first === -1
    ? []
    : [Math.max(0, first - ESCAPE_CONTEXT), Math.min(text.length, Math.max(first, last) + ESCAPE_CONTEXT)]
}

function besideCues(text: string, survey: Survey, meter: Meter): Reading[] {
  const readings: Reading[] = []
  const each = (disguise: Disguise, read: (beside: string) => Pick<Reading, "text">[]) => {
    const ranges = hasCue(disguise, survey) ? placesOf(disguise, text, meter) : []
    for (let at = 0; at < ranges.length; at += 2) {
      const whole: Part = [ranges[at] ?? 0, ranges[at + 1] ?? 0]
      for (const { text: plain } of read(text.slice(whole[0], whole[1]))) {
        meter.spend(plain.length * COST.searched)
        readings.push({ text: plain, whole })
      }
    }
  }
  each("turned", (beside) => [{ text: Array.from(beside).toReversed().join("") }])
  each("rotated", (beside) => [{ text: rotated(beside, HALF_ALPHABET) }])
  each("shifted", (beside) => SHIFTS.map((shift) => ({ text: rotated(beside, shift) })))
  each("joined", (beside) => joined(beside).map((one) => ({ text: one })))
  return readings
}

const hasCue = (disguise: Disguise, { seen }: Survey) => CUES[disguise].some((cue) => seen[numberOf(cue)] === 1)

/** The stretches of a text near the cues of a disguise. */
function placesOf(disguise: Disguise, text: string, meter: Meter): number[] {
  meter.spend(text.length * COST.searched)
  const ranges: number[] = []
  for (const { index } of text.matchAll(CUE_PATTERNS[disguise])) {
    const [from, to] = [Math.max(0, index - BESIDE), Math.min(text.length, index + BESIDE)]
    const last = ranges.length - 1
    if (last > 0 && from <= (ranges[last] ?? 0)) {
      if (to - (ranges[last - 1] ?? 0) <= 4 * BESIDE) ranges[last] = to
    } else if (ranges.length < 2 * MAX_POSITIONS[disguise]) ranges.push(from, to)
  }
  meter.spend(ranges.length * BESIDE * COST.searched)
  return ranges
}

function rotated(text: string, shift: number): string {
  return text.replaceAll(/[a-z]/gi, (letter) => {
    const first = letter < "a" ? 65 : 97
    return String.fromCharCode(first + ((letter.charCodeAt(0) - first + shift) % ALPHABET))
  })
}

/** Joins quoted pieces to one text, without and with blanks. */
function joined(text: string): string[] {
  const pieces = Array.from(text.matchAll(QUOTED), ([, piece = ""]) => piece)
  return pieces.length < 2 ? [] : [pieces.join(""), pieces.join(" ")]
}

/** If single blanks separate letters, two or more separate words. */
function unspaced(spaced: string): string {
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

function unescaped(escaped: string): string | undefined {
  const text = escaped.replaceAll(ESCAPE, (escape) => {
    const isDecimal = /^&#\d/.test(escape)
    const code = Number.parseInt(escape.replaceAll(/^(?:%|&#x?|\\[ux])|;$/gi, ""), isDecimal ? 10 : 16)
    return code > 0 && code <= 0xffff ? String.fromCharCode(code) : ""
  })
  return readable(text)
}
