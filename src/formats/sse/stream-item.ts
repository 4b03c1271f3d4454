import type { Json } from "../../support/text/json.ts"
import type { PacedReader } from "./paced-reader.ts"

/** An event of a stream: the bytes of its frame, or the event itself if it was translated. */
export type StreamItem = Uint8Array | Json
/** Translates a frame of the provider's format. Keeps the state of one stream. */
export type FrameTranslator = (frame: Uint8Array) => StreamItem[]

/** The start of a stream up to its first content, and the reader for the rest. */
export type StreamHead = {
  ok: true
  /** Complete events, including comments. */
  items: StreamItem[]
  /** Bytes after the last complete frame. */
  rest: Uint8Array
  /** The unread rest, or null if the stream was read completely. */
  body: PacedReader | null
  translate?: FrameTranslator | undefined
}
