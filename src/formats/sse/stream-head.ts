import { type ProviderError } from "../chat/provider-error.ts"
import { isObject } from "../../support/text/json.ts"
import type { ResponseReader } from "../readers/reader.ts"
import { errorOfName, readStray } from "./frame-error.ts"
import { dataOf, FrameSplitter, isDone, isKeepAlive, parseEvent } from "./frames.ts"
import type { PacedReader } from "./paced-reader.ts"
import type { FrameTranslator, StreamHead, StreamItem } from "./stream-item.ts"

export type StreamHeadError = { ok: false; error: ProviderError | null; reason: string }

type HeadInput = { reader: ResponseReader; signal: AbortSignal; translate: FrameTranslator | undefined }

/** Comments and other events without content fill the memory of an isolate if there are too many. */
const MAX_PREAMBLE = 10_000

/**
 * Reads a stream until it shows content. Before that nothing has been sent to the client, so an error, an early end or
 * a frame that is not a chunk is a rejection, and dispatch fails over.
 */
export async function readStreamHead(
  body: PacedReader,
  { reader, signal, translate }: HeadInput,
): Promise<StreamHead | StreamHeadError> {
  const splitter = new FrameSplitter()
  const items: StreamItem[] = []
  const reject = (error: ProviderError | null, reason: string): StreamHeadError => {
    body.cancel()
    return { ok: false, error, reason }
  }
  const giveUp = () => body.cancel()
  signal.addEventListener("abort", giveUp, { once: true })
  try {
    for (;;) {
      const { done, value } = await body.read()
      if (signal.aborted) throw signal.reason
      const last = done ? splitter.finish() : undefined
      const frames = done ? (last ? [last] : []) : splitter.push(value)
      let hasContent = false
      for (const item of translate ? frames.flatMap(translate) : frames) {
        const kind: Kind = hasContent ? { is: "preamble" } : classify(item, reader)
        if (kind.is === "error") return reject(kind.error, "an error")
        if (kind.is === "end") return reject(null, "an empty stream")
        if (kind.is === "malformed") return reject(null, "a body that is not a completion stream")
        hasContent ||= kind.is === "content"
        items.push(item)
      }
      if (hasContent) return { ok: true, items, rest: splitter.rest, body: done ? null : body, translate }
      if (done) return reject(null, "an empty stream")
      if (items.length > MAX_PREAMBLE) return reject(null, "a stream without content")
    }
  } finally {
    signal.removeEventListener("abort", giveUp)
  }
}

type Kind = { is: "content" | "preamble" | "end" | "malformed" } | { is: "error"; error: ProviderError }

function classify(item: StreamItem, reader: ResponseReader): Kind {
  const data = item instanceof Uint8Array ? dataOf(item) : undefined
  if (item instanceof Uint8Array) {
    const stray = readStray(item, data, reader.errorIn)
    if (stray === "unknown") return { is: "malformed" }
    const error = stray ?? errorOfName(item, data ?? "", reader.errorIn)
    if (error) return { is: "error", error }
    if (data === undefined || data === "") return { is: "preamble" }
  }
  if (isDone(data)) return { is: "end" }
  const event = data === undefined || !(item instanceof Uint8Array) ? item : parseEvent(item, data)
  if (!event && item instanceof Uint8Array && isKeepAlive(item, data ?? "")) return { is: "preamble" }
  if (!isObject(event) || event instanceof Uint8Array) return { is: "malformed" }
  const error = reader.errorIn(event)
  if (error) return { is: "error", error }
  return { is: reader.hasContent(event) ? "content" : "preamble" }
}
