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
 * Read a stream until the model has begun to answer. Before that nothing is promised to the caller: an error, an end or
 * something that is no chunk is a refusal like any other.
 */
export async function readStreamHead(
  body: ReadableStream<Uint8Array>,
  wire: ResponseReader,
  signal: AbortSignal,
): Promise<StreamHead | StreamHeadError> {
  const reader = body.getReader()
  const splitter = new FrameSplitter()
  const frames: Uint8Array[] = []
  const refuse = (error: ProviderError | null, reason: string): StreamHeadError => {
    reader.cancel().catch(() => undefined)
    return { ok: false, error, reason }
  }
  const giveUp = () => void reader.cancel().catch(() => undefined)
  signal.addEventListener("abort", giveUp, { once: true })
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (signal.aborted) throw signal.reason
      const last = done ? splitter.finish() : undefined
      const arrived = done ? (last ? [last] : []) : splitter.push(value)
      let begun = false
      for (const frame of arrived) {
        const data = dataOf(frame)
        if (!begun && data !== undefined && data !== "") {
          const kind = classify(data, wire)
          if (kind.is === "error") return refuse(kind.error, "an error")
          if (kind.is === "end") return refuse(null, "an empty stream")
          if (kind.is === "noise") return refuse(null, "something that is not a completion stream")
          begun = kind.is === "content"
        }
        frames.push(frame)
      }
      if (begun) {
        reader.releaseLock()
        return { ok: true, frames, rest: splitter.rest, body: done ? null : body }
      }
      if (done) return refuse(null, "an empty stream")
    }
  } finally {
    signal.removeEventListener("abort", giveUp)
  }
}

type Kind = { is: "content" | "preamble" | "end" | "noise" } | { is: "error"; error: ProviderError }

function classify(data: string, wire: ResponseReader): Kind {
  if (data === DONE) return { is: "end" }
  let chunk: unknown
  try {
    chunk = JSON.parse(data)
  } catch {
    return { is: "noise" }
  }
  if (!isObject(chunk)) return { is: "noise" }
  const error = wire.errorIn(chunk)
  if (error) return { is: "error", error }
  return { is: wire.hasContent(chunk) ? "content" : "preamble" }
}

export function streamHeadBytes(head: StreamHead): Uint8Array {
  return concat([...head.frames, head.rest])
}
