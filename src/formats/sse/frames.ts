import { concat } from "../../support/bytes.ts"
import { isObject, type Json, parseJson } from "../../support/json.ts"

/**
 * Server-sent events as bytes: cut at event boundaries and nowhere else, so that what passes through stays as it came.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
 */

const LF = 10
const CR = 13
const decoder = new TextDecoder()
const encoder = new TextEncoder()
const EMPTY = new Uint8Array(0)

/** A larger frame is taken for a stream of something else. */
export const MAX_FRAME_BYTES = 8 * 1024 * 1024

export type FrameHandler = {
  onFrame: (frame: Uint8Array) => void
  /** Handles the frame that starts at `at`, and returns its end; -1 leaves the frame to `onFrame`. */
  take?: (bytes: Uint8Array, at: number) => number
}

/** Cuts a byte stream into frames, each with the blank line that ends it. Lines end in LF, CRLF or CR, mixed or not. */
export class FrameSplitter {
  /** The unfinished frame stands at the start of this, and room for more behind it. */
  #buffer: Uint8Array = EMPTY
  #size = 0
  /** How far the unfinished frame was searched, and whether the search stands at the start of a line. */
  #searched = 0
  #lineStart = true

  /** The frames that `chunk` completes, in order. */
  push(chunk: Uint8Array): Uint8Array[] {
    const frames: Uint8Array[] = []
    this.each(chunk, { onFrame: (frame) => frames.push(frame) })
    return frames
  }

  /** Calls `onFrame` for each frame that `chunk` completes, except for those that `take` recognizes. */
  each(chunk: Uint8Array, { take, onFrame }: FrameHandler): void {
    const bytes = this.#size === 0 ? chunk : this.#append(chunk)
    let start = 0
    let at = this.#searched
    let lineStart = this.#lineStart
    while (at < bytes.byteLength) {
      if (take && lineStart && at === start) {
        for (let end = take(bytes, at); end > at; end = take(bytes, at)) at = start = end
        if (at === bytes.byteLength) break
      }
      const byte = bytes[at]
      if (byte !== LF && byte !== CR) {
        lineStart = false
        at = nextLineEnd(bytes, at + 1)
        continue
      }
      // Whether a CR is followed by an LF is known only with the next byte.
      if (byte === CR && at + 1 === bytes.byteLength) break
      at += byte === CR && bytes[at + 1] === LF ? 2 : 1
      if (lineStart) {
        onFrame(bytes.slice(start, at))
        start = at
      }
      lineStart = true
    }
    this.#keep(bytes.subarray(start))
    this.#searched = at - start
    this.#lineStart = lineStart
    if (this.#size > MAX_FRAME_BYTES) throw new Error("An event of the provider's stream never ends.")
  }

  /** Behind what is there, in a buffer that doubles: a frame that comes in many pieces is not copied for each. */
  #append(chunk: Uint8Array): Uint8Array {
    const size = this.#size + chunk.byteLength
    if (size > this.#buffer.byteLength) {
      const larger = new Uint8Array(size * 2)
      larger.set(this.#buffer.subarray(0, this.#size))
      this.#buffer = larger
    }
    this.#buffer.set(chunk, this.#size)
    this.#size = size
    return this.#buffer.subarray(0, size)
  }

  #keep(rest: Uint8Array): void {
    const isOurs = rest.buffer === this.#buffer.buffer
    if (isOurs) this.#buffer.copyWithin(0, rest.byteOffset, rest.byteOffset + rest.byteLength)
    else if (rest.byteLength > this.#buffer.byteLength) this.#buffer = rest.slice()
    else this.#buffer.set(rest)
    this.#size = rest.byteLength
  }

  /** What came after the last complete frame. */
  get rest(): Uint8Array {
    return this.#buffer.slice(0, this.#size)
  }

  /** The last frame of a stream that ended without its blank line, if it is whole in every other way. */
  finish(): Uint8Array | undefined {
    const { rest } = this
    this.#size = 0
    this.#searched = 0
    this.#lineStart = true
    return rest.byteLength === 0 ? undefined : concat([rest, encoder.encode("\n\n")])
  }
}

/** The frames of a stream that has been read completely. */
export function framesOf(bytes: Uint8Array): Uint8Array[] {
  const splitter = new FrameSplitter()
  const frames = splitter.push(bytes)
  const last = splitter.finish()
  return last ? [...frames, last] : frames
}

function nextLineEnd(bytes: Uint8Array, from: number): number {
  const lf = bytes.indexOf(LF, from)
  const end = lf === -1 ? bytes.byteLength : lf
  const cr = bytes.subarray(from, end).indexOf(CR)
  return cr === -1 ? end : from + cr
}

/** The data of a frame, its lines joined; undefined for a frame that carries none (a comment, a blank line). */
export function dataOf(frame: Uint8Array): string | undefined {
  const text = decoder.decode(frame)
  // The one shape nearly every frame has.
  if (
    text.startsWith("data: ") &&
    text.endsWith("\n\n") &&
    text.indexOf("\n") === text.length - 2 &&
    !text.includes("\r")
  ) {
    return text.slice(6, -2)
  }
  let data: string | undefined
  for (const line of text.split(/\r\n|\n|\r/)) {
    if (line !== "data" && !line.startsWith("data:")) continue
    const value = line.slice(5)
    const content = value.startsWith(" ") ? value.slice(1) : value
    data = data === undefined ? content : `${data}\n${content}`
  }
  return data
}

/** The event in the data of a frame; undefined for data that is not a JSON object. */
export function parseData(data: string): Json | undefined {
  const event = parseJson(data)
  return isObject(event) ? event : undefined
}

export const DONE = "[DONE]"

export function toFrame(value: unknown): Uint8Array {
  return encoder.encode(`data: ${JSON.stringify(value)}\n\n`)
}

/**
 * An event that is named, as those of the Responses and Messages wires are. On the first `[DONE]` follows the last
 * event as on the chat wire; the second has none, and `message_stop` is its last word.
 */
export function toEventFrame(event: { type: string } & Record<string, unknown>): Uint8Array {
  return encoder.encode(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
}

export const DONE_FRAME = encoder.encode(`data: ${DONE}\n\n`)
export const KEEPALIVE_FRAME = encoder.encode(": keepalive\n\n")
