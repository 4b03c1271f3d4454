/**
 * Spellings of one character in the responses of services: in JSON, JavaScript, URLs and HTML. Every service escapes
 * other characters, so each character of a value is matched in all of its spellings.
 */

/** The byte sequences that stand for one character: `plain` is the character itself, `escaped` begins with an escape. */
export type Unit = { plain: readonly Uint8Array[]; escaped: readonly Uint8Array[] }

const encoder = new TextEncoder()
const MAX_CACHED = 4_096

const ESCAPED = /["'`/\\]/
const CONTROLS: Readonly<Record<string, string>> = { "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t" }
const ENTITIES: Readonly<Record<string, string>> = { "&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "apos" }

/** Whether a byte begins an escape: `&`, `%` and the backslash. */
export function isEscape(byte: number): boolean {
  return byte === 0x26 || byte === 0x25 || byte === 0x5c
}

/** A unit for each character of a text. */
export function unitsOf(text: string): Unit[] {
  return Array.from(text, (char) => readCached(textUnits, char, spellingsOf))
}

/** The same for base64, whose last two digits have other characters in URLs. */
export function base64Units(encoded: string): Unit[] {
  return Array.from(encoded, (char) => readCached(digitUnits, char, digitSpellings))
}

/** Bytes without other spellings. */
export function literalUnits(bytes: Uint8Array): Unit[] {
  return Array.from(bytes, (byte) => LITERAL[byte] ?? { plain: [], escaped: [] })
}

const LITERAL: readonly Unit[] = Array.from({ length: 256 }, (_, byte) => ({
  plain: [Uint8Array.of(byte)],
  escaped: [],
}))

const textUnits = new Map<string, Unit>()
const digitUnits = new Map<string, Unit>()

function readCached(cache: Map<string, Unit>, char: string, read: (char: string) => string[]): Unit {
  const stored = cache.get(char)
  if (stored) return stored
  const spellings = [...new Set(read(char))].map((text) => encoder.encode(text))
  const isEscaped = (bytes: Uint8Array) => bytes.byteLength > 1 && isEscape(bytes[0] ?? 0)
  const unit = { plain: spellings.filter((bytes) => !isEscaped(bytes)), escaped: spellings.filter(isEscaped) }
  if (cache.size < MAX_CACHED) cache.set(char, unit)
  return unit
}

const IN_URLS: Readonly<Record<string, string>> = { "+": "-", "/": "_" }

function digitSpellings(char: string): string[] {
  const other = IN_URLS[char]
  return other === undefined ? spellingsOf(char) : [...spellingsOf(char), ...spellingsOf(other)]
}

function spellingsOf(char: string): string[] {
  const point = char.codePointAt(0) ?? 0
  const [entity, control] = [ENTITIES[char], CONTROLS[char]]
  return [
    char,
    ...inBothCases((digits) => Array.from(encoder.encode(char), (byte) => `%${digits(byte, 2)}`).join("")),
    ...inBothCases((digits) =>
      char
        .split("")
        .map((unit) => `\\u${digits(unit.charCodeAt(0), 4)}`)
        .join(""),
    ),
    ...(point < 256 ? inBothCases((digits) => `\\x${digits(point, 2)}`) : []),
    ...(ESCAPED.test(char) ? [`\\${char}`] : []),
    ...(control === undefined ? [] : [`\\${control}`]),
    `&#${point};`,
    `&#0${point};`,
    ...inBothCases((digits) => `&#x${digits(point, 1)};`),
    ...inBothCases((digits) => `&#x0${digits(point, 1)};`),
    ...(entity === undefined ? [] : [`&${entity};`]),
    ...(char === " " ? ["+"] : []),
  ]
}

/** With hexadecimal digits in lower and upper case. */
function inBothCases(spell: (digits: (code: number, length: number) => string) => string): string[] {
  const lower = (code: number, length: number) => code.toString(16).padStart(length, "0")
  return [spell(lower), spell((code, length) => lower(code, length).toUpperCase())]
}

/** An ASCII letter in lower case. */
export function foldByte(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte
}
