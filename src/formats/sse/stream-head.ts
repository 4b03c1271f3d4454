import { type ProviderError } from "../chat/meter.ts"
import { isObject } from "../../support/json.ts"
import type { ResponseReader } from "../readers/reader.ts"
import { concat } from "../../support/bytes.ts"
import { dataOf, DONE, FrameSplitter } from "./frames.ts"

/** The start of a stream up to its first content, and where the rest of it comes from. */
export type StreamHead = {
  ok: true
  /** Complete frames, comments among them. */
  frames: Uint8Array[]
  /** Bytes after the last complete frame. */
  rest: Uint8Array
  /** What has not been read, or null when all of it has. */
  body: ReadableStream<Uint8Array> | null
}

export type StreamHeadError = { ok: false; error: ProviderError | null; reason: string }

/**
 * Reads a stream until it shows content. Before that nothing has been sent to the client, so an error, an early end or a
 * frame that is not a chunk is a rejection, and dispatch fails over.
 */
export async function readStreamHead(
  body: ReadableStream<Uint8Array>,
  reader: ResponseReader,
  signal: AbortSignal,
): Promise<StreamHead | StreamHeadError> {
  const bytes = body.getReader()
  const splitter = new FrameSplitter()
  const frames: Uint8Array[] = []
  const refuse = (error: ProviderError | null, reason: string): StreamHeadError => {
    bytes.cancel().catch(() => undefined)
    return { ok: false, error, reason }
  }
  const giveUp = () => void bytes.cancel().catch(() => undefined)
  signal.addEventListener("abort", giveUp, { once: true })
  try {
    for (;;) {
      const { done, value } = await bytes.read()
      if (signal.aborted) throw signal.reason
      const last = done ? splitter.finish() : undefined
      const arrived = done ? (last ? [last] : []) : splitter.push(value)
      let begun = false
      for (const frame of arrived) {
        const data = dataOf(frame)
        if (!begun && data !== undefined && data !== "") {
          const kind = classify(data, reader)
          if (kind.is === "error") return refuse(kind.error, "an error")
          if (kind.is === "end") return refuse(null, "an empty stream")
          if (kind.is === "noise") return refuse(null, "something that is not a completion stream")
          begun = kind.is === "content"
        }
        frames.push(frame)
      }
      if (begun) {
        bytes.releaseLock()
        return { ok: true, frames, rest: splitter.rest, body: done ? null : body }
      }
      if (done) return refuse(null, "an empty stream")
    }
  } finally {
    signal.removeEventListener("abort", giveUp)
  }
}

type Kind = { is: "content" | "preamble" | "end" | "noise" } | { is: "error"; error: ProviderError }

function classify(data: string, reader: ResponseReader): Kind {
  if (data === DONE) return { is: "end" }
  let chunk: unknown
  try {
    chunk = JSON.parse(data)
  } catch {
    return { is: "noise" }
  }
  if (!isObject(chunk)) return { is: "noise" }
  const error = reader.errorIn(chunk)
  if (error) return { is: "error", error }
  return { is: reader.hasContent(chunk) ? "content" : "preamble" }
}

export function streamHeadBytes(head: StreamHead): Uint8Array {
  return concat([...head.frames, head.rest])
}
