import { concat } from "../../support/bytes.ts"
import { errorInList } from "../error-message.ts"
import { isDeepJson } from "../../support/text/depth.ts"
import { isObject, type Json, parseJson } from "../../support/text/json.ts"

/**
 * Splits server-sent events at event boundaries only, so that frames keep their bytes.
 * https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
 */

const LF = 10
const CR = 13
const decoder = new TextDecoder()
const encoder = new TextEncoder()
const EMPTY = new Uint8Array(0)

/** A larger frame means that the stream is not an event stream. */
export const MAX_FRAME_BYTES = 8 * 1024 * 1024

/** More frames of a stream that is read completely would fill the memory of an isolate, however small they are. */
const MAX_FRAMES = 200_000

export type FrameHandler = {
  onFrame: (frame: Uint8Array) => void
  /** Handles the frame that starts at `at`, and returns its end; -1 leaves the frame to `onFrame`. */
  take?: (bytes: Uint8Array, at: number) => number
}

/** Splits a byte stream into frames, including their final blank line. Lines end in LF, CRLF or CR, also mixed. */
export class FrameSplitter {
  /** Starts with the incomplete frame; the rest is spare capacity. */
  #buffer: Uint8Array = EMPTY
  #size = 0
  /** Position up to which the incomplete frame was searched, and whether that is the start of a line. */
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
      // Only the next byte shows whether an LF follows the CR.
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

  /** Appends to a buffer that doubles, so that a frame in many chunks is not copied for each of them. */
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
    const isInBuffer = rest.buffer === this.#buffer.buffer
    if (isInBuffer) this.#buffer.copyWithin(0, rest.byteOffset, rest.byteOffset + rest.byteLength)
    else if (rest.byteLength > this.#buffer.byteLength) this.#buffer = rest.slice()
    else this.#buffer.set(rest)
    this.#size = rest.byteLength
  }

  /** The bytes after the last complete frame. */
  get rest(): Uint8Array {
    return this.#buffer.slice(0, this.#size)
  }

  /** The last frame of a stream that ended without the final blank line, if it is otherwise complete. */
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
  const frames: Uint8Array[] = []
  const onFrame = (frame: Uint8Array) => {
    if (frames.length === MAX_FRAMES) throw new Error("The provider's stream has too many events.")
    frames.push(frame)
  }
  splitter.each(bytes, { onFrame })
  const last = splitter.finish()
  return last ? [...frames, last] : frames
}

function nextLineEnd(bytes: Uint8Array, from: number): number {
  const lf = bytes.indexOf(LF, from)
  const end = lf === -1 ? bytes.byteLength : lf
  const cr = bytes.subarray(from, end).indexOf(CR)
  return cr === -1 ? end : from + cr
}

/** The data of a frame, with its lines joined; undefined for a frame without data (a comment, a blank line). */
export function dataOf(frame: Uint8Array): string | undefined {
  const text = decoder.decode(frame)
  // Fast path: nearly every frame has this form.
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

/** The event in the data of a frame; undefined for data that is not a JSON object, or is nested too deeply. */
export function parseData(data: string): Json | undefined {
  const parsed = parseJson(data)
  const event = isObject(parsed) ? parsed : errorInList(parsed)
  return event && !isDeepJson(data, event) ? event : undefined
}

/** The event of a frame with this data. Some servers of formats with named events leave out `type`. */
export function parseEvent(frame: Uint8Array, data: string): Json | undefined {
  const event = parseData(data)
  if (!event || frame[0] !== E || typeof event["type"] === "string") return event
  const type = NAMED_EVENT.exec(decoder.decode(frame))?.[1]
  if (type === undefined) return event
  const named = { ...event, type }
  typed.add(named)
  return named
}

const typed = new WeakSet<Json>()

/** Whether the type of an event is only in the name of its frame, so that clients need other bytes. */
export function isTypedByName(event: Json): boolean {
  return typed.has(event)
}

/** Names of events of the Messages and Responses formats. */
const NAMED_EVENT = /^event: ?((?:message|content_block)_\w+|response\.[\w.]+)\r?$/m

/** Whether a frame whose data is no event only keeps the connection open. */
export function isKeepAlive(frame: Uint8Array, data: string): boolean {
  return data.trim() === "null" || KEEP_ALIVE_LINE.test(decoder.decode(frame))
}

const KEEP_ALIVE_LINE = /^event: ?(?:ping|heartbeat|keep-?alive)\r?$/m

/** Whether a frame has the event name of an error. */
export function isErrorEvent(frame: Uint8Array): boolean {
  const end = simpleNameEnd(frame)
  if (end === undefined) return ERROR_LINE.test(decoder.decode(frame))
  return LAST_OF_ERROR.has(frame[end - 1] ?? 0) && ERROR_LINE.test(decoder.decode(frame.subarray(0, end)))
}

const ERROR_LINE = /^event: ?\w*(?:error|exception)\r?$/im
const LAST_OF_ERROR = new Set(encoder.encode("rRnN"))

/**
 * The end of the event name of a frame with a `data` line and at most a name, as nearly every one has: 0 without a name.
 * Undefined for other frames.
 */
function simpleNameEnd(frame: Uint8Array): number | undefined {
  const end = frame.indexOf(LF)
  const [nameEnd, dataEnd] = frame[0] === E ? [end, frame.indexOf(LF, end + 1)] : [0, end]
  const isData = frame[nameEnd === 0 ? 0 : nameEnd + 1] === D
  return isData && dataEnd === frame.byteLength - 2 && !frame.includes(CR) ? nameEnd : undefined
}

const D = 0x64
const E = 0x65

/** The text of a frame that belongs to no field: a page or a message between the events. Undefined without such text. */
export function strayText(frame: Uint8Array, data: string | undefined): string | undefined {
  if (data !== undefined && simpleNameEnd(frame) !== undefined) return undefined
  const lines = decoder.decode(frame).split(/\r\n|\n|\r/)
  const stray = lines.filter((line) => !FIELD.test(line))
  return stray.length === 0 ? undefined : stray.join("\n")
}

/** A comment, a blank line, or a field, which clients ignore if they do not know it. */
const FIELD = /^(?:[\s.]*|:.*|(?!error\b)[\w-]+(?::.*)?)$/i

export const DONE = "[DONE]"
const MAX_PADDED = 32

/** Whether data ends a stream. Some servers pad it with spaces. */
export function isDone(data: string | undefined): boolean {
  return data === DONE || (data !== undefined && data.length <= MAX_PADDED && data.trim() === DONE)
}

/** Whether a frame names its event. */
export function hasEventName(frame: Uint8Array): boolean {
  return EVENT_BYTES.every((byte, at) => frame[at] === byte) || EVENT_LINE.test(decoder.decode(frame))
}

const EVENT_BYTES = [...encoder.encode("event:")]

const EVENT_LINE = /^event:/m

export function toFrame(value: unknown): Uint8Array {
  return encoder.encode(`data: ${JSON.stringify(value)}\n\n`)
}

/**
 * A frame with an event name, as in the Responses and Messages formats. Responses streams end with `[DONE]` like chat;
 * Messages streams end with `message_stop`.
 */
export function toEventFrame(event: { type: string } & Record<string, unknown>): Uint8Array {
  return encoder.encode(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
}

export const DONE_FRAME = encoder.encode(`data: ${DONE}\n\n`)
export const KEEPALIVE_FRAME = encoder.encode(": keepalive\n\n")
