import { concat } from "../support/bytes.ts"
import { decodeBase64 } from "../support/text/encoding.ts"
import { Matcher, type Pattern } from "./matcher.ts"
import { base64Units, literalUnits, type Unit, unitsOf } from "./spellings.ts"

/** Shorter values also occur by chance; they are redacted only if this request sent them. */
const MIN_LENGTH = 8
const MIN_SENT_LENGTH = 4
/** For a complete header: the matcher looks for pairs of bytes. */
const MIN_PATTERN_LENGTH = 2

type HiddenSecret = { value: string; placeholder: string }

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
 * headers made of them. Each character may be escaped or not, in every way of spellings.ts. No protection against a host
 * that reveals a value on purpose, which can encode it differently.
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

/** Shorter parts of a key are hints to recognize it by. */
const FRAGMENT = 8

/**
 * Replaces parts of a key, at least 8 characters long. Parts without a digit or letters of both cases are kept: they may
 * be ordinary text.
 */
export function withoutFragments(text: string, key: string): string {
  const parts = new Set(Array.from({ length: Math.max(0, key.length - FRAGMENT + 1) }, (_, at) => partAt(key, at)))
  let result = ""
  for (let at = 0; at < text.length;) {
    let end = at
    while (parts.has(partAt(text, end)) && key.includes(text.slice(at, end + FRAGMENT))) end++
    const part = end === at ? text.charAt(at) : text.slice(at, end + FRAGMENT - 1)
    result += part.length >= FRAGMENT && isRandom(part) ? "[redacted]" : part
    at += part.length
  }
  return result
}

const partAt = (text: string, at: number) => text.slice(at, at + FRAGMENT)
const isRandom = (part: string) => /\d/.test(part) || (/[a-z]/.test(part) && /[A-Z]/.test(part))

function patternsOf({ released, secrets }: RedactionInput): Pattern[] {
  const ofHeaders = released.flatMap(([sent, requested]) =>
    withoutScheme(sent, requested).flatMap(([form, replacement]) => headerPatterns(form, replacement)),
  )
  const sentTexts = released.flatMap(([sent]) => textsIn(sent))
  const ofValues = secrets.flatMap(({ value, placeholder }) => {
    const isSent = sentTexts.some((text) => text.includes(value))
    const minLength = isSent ? MIN_SENT_LENGTH : MIN_LENGTH
    const forms = formsOf(value).filter((units) => units.length >= minLength)
    const utf16Forms =
      value.length < MIN_LENGTH ? [] : [true, false].map((isLittle) => utf16Pattern(value, placeholder, isLittle))
    return [...forms.map((units) => toPattern(units, placeholder)), ...utf16Forms]
  })
  return [...ofHeaders, ...ofValues]
}

/** A sent header, complete and in base64. If its original text has quotes, it is escaped where the sent text may be. */
function headerPatterns(form: string, replacement: string): Pattern[] {
  const escaped = JSON.stringify(replacement).slice(1, -1)
  const complete = escaped === replacement ? [] : [toPattern(literalUnits(encoder.encode(form)), replacement)]
  if (form.length >= MIN_PATTERN_LENGTH) complete.push(toPattern(unitsOf(form), escaped))
  const inBase64 = base64Forms(encoder.encode(form)).filter(({ length }) => length >= MIN_LENGTH)
  return [...complete, ...inBase64.map((encoded) => toPattern(base64Units(encoded), replacement))]
}

/** Letters of a short text match only in their case: it also occurs by chance. */
function toPattern(units: readonly Unit[], replacement: string): Pattern {
  return { units, isExact: units.length < MIN_LENGTH, replacement: encoder.encode(replacement) }
}

function utf16Pattern(value: string, placeholder: string, isLittle: boolean): Pattern {
  return { units: literalUnits(utf16(value, isLittle)), isExact: false, replacement: utf16(placeholder, isLittle) }
}

/** A sent header, and the text of Basic credentials. */
function textsIn(sent: string): string[] {
  const credentials = decodeBase64(/^Basic +(\S+) *$/i.exec(sent)?.[1] ?? "")
  return credentials ? [sent, decoder.decode(credentials)] : [sent]
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
function formsOf(value: string): Unit[][] {
  const trimmed = value.replaceAll(/^[\t ]+|[\t ]+$/g, "")
  const bytes = encoder.encode(value)
  const texts = [...new Set([value, trimmed, binaryOf(bytes)])]
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")
  return [...texts.map(unitsOf), unitsOf(hex), ...base64Forms(bytes).map(base64Units)]
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
