import { concat } from "../support/bytes.ts"

/** Shorter values also occur by chance; they are redacted only if this request sent them. */
const MIN_LENGTH = 8
const MIN_SENT_LENGTH = 4
/** For a complete header: the matcher looks for pairs of bytes. */
const MIN_PATTERN_LENGTH = 2

type HiddenSecret = { value: string; placeholder: string }
/** `exact`: set if case matters; other patterns match in any case. */
type Pattern = { folded: Uint8Array; exact: Uint8Array | undefined; replacement: Uint8Array }

/** `released`: the sent headers with values, each with the agent's original text. */
export type RedactionInput = { released: readonly (readonly [string, string])[]; secrets: readonly HiddenSecret[] }

export type Redactor = {
  text: (text: string) => string
  bytes: (bytes: Uint8Array) => Uint8Array
  /** Delays only the last bytes of a chunk that may begin a value. */
  stream: () => TransformStream<Uint8Array, Uint8Array>
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/**
 * Replaces secret values that a host echoes with their placeholders: in the encodings below, in any letter case, and
 * headers made of them. No protection against a host that reveals a value on purpose, which can encode it differently.
 */
export function redactorFor({ released, secrets }: RedactionInput): Redactor {
  const matcher = new Matcher(patternsOf({ released, secrets }))
  const bytes = (input: Uint8Array): Uint8Array => {
    const { parts } = matcher.scan(input, true)
    return parts.length === 0 ? input : concat(parts)
  }
  return {
    bytes,
    text: (text) => {
      const input = encoder.encode(text)
      const output = bytes(input)
      return output === input ? text : decoder.decode(output)
    },
    stream: () => {
      let rest: Uint8Array = new Uint8Array(0)
      const pass = (chunk: Uint8Array, isLast: boolean, sink: TransformStreamDefaultController<Uint8Array>) => {
        const input = rest.byteLength === 0 ? chunk : concat([rest, chunk])
        const { parts, end } = matcher.scan(input, isLast)
        const output = parts.length === 0 ? input.subarray(0, end) : concat(parts)
        rest = input.slice(end)
        if (output.byteLength > 0) sink.enqueue(output)
      }
      return new TransformStream({
        transform: (chunk, sink) => pass(chunk, false, sink),
        flush: (sink) => pass(new Uint8Array(0), true, sink),
      })
    },
  }
}

function patternsOf({ released, secrets }: RedactionInput): Pattern[] {
  const replacements = new Map<string, string>()
  const add = (form: string, replacement: string, minLength: number) => {
    if (form.length >= minLength && !replacements.has(form)) replacements.set(form, replacement)
  }
  for (const [sent, requested] of released) {
    for (const [form, replacement] of withoutScheme(sent, requested)) {
      add(form, replacement, MIN_PATTERN_LENGTH)
      add(JSON.stringify(form).slice(1, -1), JSON.stringify(replacement).slice(1, -1), MIN_PATTERN_LENGTH)
      for (const encoded of base64Forms(encoder.encode(form))) add(encoded, replacement, MIN_LENGTH)
    }
  }
  for (const { value, placeholder } of secrets) {
    const isSent = released.some(([sent]) => sent.includes(value))
    for (const form of formsOf(value)) add(form, placeholder, isSent ? MIN_SENT_LENGTH : MIN_LENGTH)
  }
  const patterns = [...replacements].map(([form, text]) => toPattern(encoder.encode(form), encoder.encode(text)))
  for (const { value, placeholder } of secrets.filter(({ value: { length } }) => length >= MIN_LENGTH)) {
    for (const isLittle of [true, false]) patterns.push(toPattern(utf16(value, isLittle), utf16(placeholder, isLittle)))
  }
  return patterns
}

function toPattern(bytes: Uint8Array, replacement: Uint8Array): Pattern {
  return { folded: bytes.map(fold), exact: bytes.byteLength < MIN_LENGTH ? bytes : undefined, replacement }
}

/** ASCII letters in lower case. */
function fold(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte
}

/**
 * Encodes a text as UTF-16, in which a host may respond. Omits the outer zero byte, so that ASCII is the same in both
 * byte orders.
 */
function utf16(text: string, isLittle: boolean): Uint8Array {
  const view = new DataView(new ArrayBuffer(text.length * 2))
  for (let at = 0; at < text.length; at++) view.setUint16(at * 2, text.charCodeAt(at), isLittle)
  const bytes = new Uint8Array(view.buffer)
  return isLittle ? bytes.subarray(0, -1) : bytes.subarray(1)
}

/** A sent header; for Basic credentials also the part after the scheme. */
function withoutScheme(sent: string, requested: string): [string, string][] {
  const scheme = /^Basic +/i
  const asSent: [string, string] = [sent, requested]
  return scheme.test(sent) ? [asSent, [sent.replace(scheme, ""), requested.replace(scheme, "")]] : [asSent]
}

/** Encodings in which services commonly echo text. A header loses its outer spaces in transit. */
function formsOf(value: string): Set<string> {
  const trimmed = value.replaceAll(/^[\t ]+|[\t ]+$/g, "")
  const bytes = encoder.encode(value)
  const texts = new Set([value, trimmed, binaryOf(bytes)])
  const forms = [...texts].flatMap((text) => textForms(text))
  forms.push(Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join(""))
  for (const form of base64Forms(bytes)) {
    forms.push(form, form.replaceAll("+", "-").replaceAll("/", "_"), form.replaceAll("/", "\\/"))
  }
  return new Set(forms)
}

function textForms(text: string): string[] {
  const json = JSON.stringify(text).slice(1, -1)
  const ascii = json.replaceAll(/[^\x20-\x7e]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`)
  const url = encodeURIComponent(text.toWellFormed())
  const strictUrl = url.replaceAll(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16)}`)
  const forms = [text, json, json.replaceAll("/", "\\/"), ascii, ascii.replaceAll("/", "\\/")]
  forms.push(url, strictUrl, url.replaceAll("%20", "+"), strictUrl.replaceAll("%20", "+"))
  return [...forms, ...htmlForms(text)]
}

/** HTML escapes of PHP, Python, Go, Mustache and browsers. */
function htmlForms(text: string): string[] {
  const html = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;")
  const quoted = html.replaceAll('"', "&quot;")
  const go = html.replaceAll('"', "&#34;").replaceAll("'", "&#39;").replaceAll("+", "&#43;")
  const mustache = quoted.replaceAll("/", "&#x2F;").replaceAll("`", "&#x60;").replaceAll("=", "&#x3D;")
  const singles = ["&#39;", "&#039;", "&#x27;", "&apos;"].map((quote) => quoted.replaceAll("'", quote))
  return [html, quoted, ...singles, go, ...["&#39;", "&#x27;"].map((quote) => mustache.replaceAll("'", quote))]
}

/** Base64 characters that depend only on the value, for the three possible alignments in an encoded text. */
function base64Forms(bytes: Uint8Array): string[] {
  return [0, 1, 2].map((offset) => {
    const padded = new Uint8Array(offset + bytes.byteLength)
    padded.set(bytes, offset)
    const encoded = toBase64(padded).replaceAll("=", "")
    const start = [0, 2, 3][offset]
    return encoded.slice(start, padded.byteLength % 3 === 0 ? undefined : -1)
  })
}

function toBase64(bytes: Uint8Array): string {
  return btoa(binaryOf(bytes))
}

/** One character per byte: UTF-8 that a host decoded as Latin-1. */
function binaryOf(bytes: Uint8Array): string {
  let binary = ""
  for (let at = 0; at < bytes.byteLength; at += 8_192) binary += String.fromCharCode(...bytes.subarray(at, at + 8_192))
  return binary
}

/** Finds the longest pattern at each position. */
class Matcher {
  /** By their first two bytes, longest first. */
  readonly #patterns = new Map<number, Pattern[]>()
  readonly #isPair = new Uint8Array(65_536)
  readonly #isFirst = new Uint8Array(256)

  constructor(patterns: readonly Pattern[]) {
    for (const pattern of patterns) {
      const [first = 0, second = 0] = pattern.folded
      const pair = (first << 8) | second
      this.#isFirst[first] = 1
      this.#isPair[pair] = 1
      this.#patterns.set(pair, [...(this.#patterns.get(pair) ?? []), pattern])
    }
    for (const group of this.#patterns.values()) group.sort((a, b) => b.folded.byteLength - a.folded.byteLength)
  }

  /**
   * `end`: where an incomplete match may begin, unless the input is the last. `parts`: the output up to there; empty if
   * nothing was replaced.
   */
  scan(input: Uint8Array, isLast: boolean): { parts: Uint8Array[]; end: number } {
    const parts: Uint8Array[] = []
    let [at, from] = [0, 0]
    while (at < input.byteLength) {
      const found = this.#match(input, at, isLast)
      const end = found && found !== "partial" ? this.#endOf(input, at, found, isLast) : found
      if (end === "partial") break
      if (found && found !== "partial" && end !== undefined) {
        parts.push(input.subarray(from, at), found.replacement)
        at = end
        from = at
      } else at += 1
    }
    if (parts.length > 0) parts.push(input.subarray(from, at))
    return { parts, end: at }
  }

  /** End of the last overlapping pattern: a pattern that begins inside another is redacted with it. */
  #endOf(input: Uint8Array, at: number, { folded }: Pattern, isLast: boolean): number | "partial" {
    let end = at + folded.byteLength
    for (let inside = at + 1; inside < end; inside++) {
      const found = this.#match(input, inside, isLast)
      if (found === "partial") return found
      if (found) end = Math.max(end, inside + found.folded.byteLength)
    }
    return end
  }

  #match(input: Uint8Array, at: number, isLast: boolean): Pattern | "partial" | undefined {
    const first = fold(input[at] ?? 0)
    if (this.#isFirst[first] !== 1) return undefined
    if (at === input.byteLength - 1) return isLast ? undefined : "partial"
    const pair = (first << 8) | fold(input[at + 1] ?? 0)
    if (this.#isPair[pair] !== 1) return undefined
    for (const pattern of this.#patterns.get(pair) ?? []) {
      const { folded, exact } = pattern
      const length = Math.min(folded.byteLength, input.byteLength - at)
      const isWhole = length === folded.byteLength
      if (!isWhole && isLast) continue
      let same = 0
      while (same < length && folded[same] === fold(input[at + same] ?? 0)) same += 1
      if (same < length || (exact && exact.some((byte, index) => index < length && byte !== input[at + index])))
        continue
      return isWhole ? pattern : "partial"
    }
    return undefined
  }
}
