import { isObject, type Json } from "../../support/text/json.ts"
import type { ByteBuffer } from "../../support/byte-buffer.ts"
import { dataOf } from "./frames.ts"

/** A string that varies between events. */
export type VariableString = {
  path: readonly (string | number)[]
  /** Its text is part of the response and is metered. */
  isMetered: boolean
  /** An empty string still matches the shape. */
  mayBeEmpty?: boolean
  /** The part of the transcript for content logging. */
  transcript?: "content" | "reasoning"
}

/** Receives the metered text of a matched frame: its length in UTF-16 units, and the text if required. */
export type TextMeter = {
  wantsText: boolean
  add: (units: number, texts: readonly (readonly [VariableString, string])[]) => void
}

const QUOTE = 0x22
const BACKSLASH = 0x5c
const decoder = new TextDecoder()
const encoder = new TextEncoder()

/**
 * The constant bytes of successive frames. Most frames of a response differ only in one or two strings. Such a frame is
 * matched by comparing bytes and rewritten by copying them, without decoding, parsing and serializing it.
 */
export class FrameShape {
  readonly #strings: readonly VariableString[]
  /** Bytes around the strings: one element more than strings. */
  readonly #input: readonly Uint8Array[]
  /** Bytes of the frame to send, and indexes where strings are inserted; null sends the original frame. */
  readonly #output: readonly (Uint8Array | number)[] | null
  /** The index of the string in each place of `#output`. */
  readonly slots: readonly number[]
  /** The path of each string, such as `.choices.0.delta.content`. */
  readonly paths: readonly string[]
  /** Start and end of each string of the last match. */
  readonly spans: number[]

  private constructor(
    strings: readonly VariableString[],
    input: readonly Uint8Array[],
    output: readonly (Uint8Array | number)[] | null,
  ) {
    this.#strings = strings
    this.#input = input
    this.#output = output
    this.slots = (output ?? []).filter((part) => typeof part === "number")
    this.paths = strings.map(({ path }) => `.${path.join(".")}`)
    this.spans = strings.flatMap(() => [0, 0])
  }

  /**
   * Learns the shape of a frame whose data is `event`; undefined if the strings are not found in its bytes. `rewrite`
   * returns the frame to send for an event, null for the same bytes. It must not depend on the strings.
   */
  static learn(
    frame: Uint8Array,
    event: Json,
    { strings, rewrite }: { strings: readonly VariableString[]; rewrite: (event: Json) => Uint8Array | null },
  ): FrameShape | undefined {
    const spans = findStrings(frame, strings)
    if (!spans) return undefined
    const order = spans.map((_, index) => index).toSorted((a, b) => (spans[a]?.start ?? 0) - (spans[b]?.start ?? 0))
    const sorted = order.flatMap((index) => strings[index] ?? [])
    const input = splitAtSpans(
      frame,
      order.flatMap((index) => spans[index] ?? []),
    )
    const marked = parse(joinMarks(input))
    if (!marked || JSON.stringify(marked) !== JSON.stringify(withMarks(event, sorted))) return undefined
    const rewritten = rewrite(marked)
    const output = rewritten && splitMarks(decoder.decode(rewritten))
    return new FrameShape(sorted, input, output)
  }

  /** The end of a frame of this shape that starts at `at`; -1 for another shape or an incomplete frame. */
  match(bytes: Uint8Array, at: number): number {
    let position = at
    for (let index = 0; ; index += 1) {
      const segment = this.#input[index]
      if (!segment || !startsWith(bytes, position, segment)) return -1
      position += segment.byteLength
      if (index === this.#strings.length) return position
      const end = endOfString(bytes, position)
      if (end === -1) return -1
      this.spans[2 * index] = position
      this.spans[2 * index + 1] = end
      position = end
    }
  }

  /**
   * Meters the frame that `match` found and appends the bytes to send. Returns false without side effects if a string
   * is empty or not valid JSON.
   */
  take(bytes: Uint8Array, at: number, end: number, { out, meter }: { out: ByteBuffer; meter: TextMeter }): boolean {
    let units = 0
    const texts: [VariableString, string][] = []
    for (const [index, string] of this.#strings.entries()) {
      const [from = 0, to = 0] = [this.spans[2 * index], this.spans[2 * index + 1]]
      if (from === to && !string.mayBeEmpty) return false
      const isPlain = isPlainText(bytes, from, to)
      const text = isPlain && !meter.wantsText ? undefined : decodeString(bytes.subarray(from, to))
      if (text === undefined && !isPlain) return false
      if (!string.isMetered) continue
      units += text?.length ?? to - from
      if (text !== undefined && meter.wantsText) texts.push([string, text])
    }
    if (units > 0) meter.add(units, texts)
    if (!this.#output) out.append(bytes, at, end)
    else for (const part of this.#output) this.#append(part, bytes, out)
    return true
  }

  /** The decoded strings that `match` found; undefined if one is empty or not valid JSON. */
  texts(bytes: Uint8Array): string[] | undefined {
    const texts: string[] = []
    for (const [index, { mayBeEmpty }] of this.#strings.entries()) {
      const [from = 0, to = 0] = [this.spans[2 * index], this.spans[2 * index + 1]]
      const text = decodeString(bytes.subarray(from, to))
      if (text === undefined || (text === "" && !mayBeEmpty)) return undefined
      texts.push(text)
    }
    return texts
  }

  /** Meters the texts of a frame, in the order of `texts`. */
  meterTexts(texts: readonly string[], meter: TextMeter): void {
    const metered = this.#strings.flatMap((string, at) =>
      string.isMetered ? [[string, texts[at] ?? ""] as const] : [],
    )
    const units = metered.reduce((sum, [, text]) => sum + text.length, 0)
    if (units > 0) meter.add(units, metered)
  }

  /** Appends the frame with other texts, in the order of `slots`. */
  write(texts: readonly string[], out: ByteBuffer): void {
    let at = 0
    for (const part of this.#output ?? []) {
      if (typeof part === "number") out.appendJson(texts[at++] ?? "")
      else out.append(part, 0, part.byteLength)
    }
  }

  #append(part: Uint8Array | number, bytes: Uint8Array, out: ByteBuffer): void {
    if (typeof part === "number") out.append(bytes, this.spans[2 * part] ?? 0, this.spans[2 * part + 1] ?? 0)
    else out.append(part, 0, part.byteLength)
  }
}

function startsWith(bytes: Uint8Array, at: number, segment: Uint8Array): boolean {
  const length = segment.byteLength
  if (at + length > bytes.byteLength) return false
  for (let index = 0; index < length; index += 1) if (bytes[at + index] !== segment[index]) return false
  return true
}

/** The position of the quote that ends a JSON string; -1 for a string without an end or with a control character. */
function endOfString(bytes: Uint8Array, from: number): number {
  for (let at = from; at < bytes.byteLength; at += 1) {
    const byte = bytes[at] ?? 0
    if (byte === QUOTE) return at
    if (byte < 0x20) return -1
    if (byte === BACKSLASH) at += 1
  }
  return -1
}

/** Whether the text is ASCII without escapes, with as many UTF-16 units as bytes. */
function isPlainText(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at += 1) {
    const byte = bytes[at] ?? 0
    if (byte >= 0x80 || byte === BACKSLASH) return false
  }
  return true
}

function decodeString(bytes: Uint8Array): string | undefined {
  const literal = decoder.decode(bytes)
  // Escapes are rare.
  if (isPlainText(bytes, 0, bytes.byteLength)) return literal
  // Invalid UTF-8 decodes to this character. The frame is then decoded and encoded completely.
  if (literal.includes("\uFFFD")) return undefined
  try {
    const text: unknown = JSON.parse(`"${literal}"`)
    return typeof text === "string" ? text : undefined
  } catch {
    return undefined
  }
}

/** One character per byte, so that string positions equal byte positions. */
const byteDecoder = new TextDecoder("latin1")

/** By key. The readers of the API formats use only a few. */
const literals = new Map<string, RegExp>()

function literalOf(key: string): RegExp {
  const pattern = literals.get(key) ?? new RegExp(`"${key}"\\s*:\\s*"((?:[^"\\\\]|\\\\.)*)"`, "g")
  literals.set(key, pattern)
  return pattern
}

type Span = { start: number; end: number }

/** Positions of the strings in the frame, found by key; undefined if a key does not occur exactly once. */
function findStrings(frame: Uint8Array, strings: readonly VariableString[]): Span[] | undefined {
  const text = byteDecoder.decode(frame)
  const spans: Span[] = []
  for (const { path } of strings) {
    const [only, ...others] = text.matchAll(literalOf(String(path.at(-1))))
    if (!only || others.length > 0) return undefined
    const end = only.index + only[0].length - 1
    spans.push({ start: end - (only[1]?.length ?? 0), end })
  }
  return spans
}

function splitAtSpans(frame: Uint8Array, spans: readonly Span[]): Uint8Array[] {
  const starts = [0, ...spans.map(({ end }) => end)]
  return starts.map((start, index) => frame.slice(start, spans[index]?.start))
}

const markOf = (index: number) => `\u241F${index}\u241F`
const MARK = /\u241F(\d+)\u241F/

function joinMarks(segments: readonly Uint8Array[]): string {
  return segments.map((segment, index) => (index === 0 ? "" : markOf(index - 1)) + decoder.decode(segment)).join("")
}

function parse(frame: string): Json | undefined {
  try {
    const event: unknown = JSON.parse(dataOf(encoder.encode(frame)) ?? "")
    return isObject(event) ? event : undefined
  } catch {
    return undefined
  }
}

function withMarks(event: Json, strings: readonly VariableString[]): unknown {
  const copy: unknown = JSON.parse(JSON.stringify(event))
  for (const [index, { path }] of strings.entries()) {
    let parent: unknown = copy
    for (const key of path.slice(0, -1)) parent = isContainer(parent) ? Reflect.get(parent, key) : undefined
    const key = path.at(-1)
    if (isContainer(parent) && key !== undefined) Reflect.set(parent, key, markOf(index))
  }
  return copy
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null
}

function splitMarks(frame: string): (Uint8Array | number)[] {
  return frame.split(MARK).map((part, index) => (index % 2 === 1 ? Number(part) : encoder.encode(part)))
}
