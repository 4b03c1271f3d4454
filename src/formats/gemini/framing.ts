import { toFrame } from "../sse/frames.ts"
import type { Json } from "../../support/text/json.ts"

/** How the events of a stream of the Gemini API are sent: with `alt=sse` as frames, otherwise as one JSON array. */
export type Framing = {
  contentType: string
  event: (event: Json) => Uint8Array
  /** The last event, and the end of the stream. */
  last: (event: Json) => Uint8Array
}

const encoder = new TextEncoder()

export function newFraming(isSse: boolean): Framing {
  if (isSse) return { contentType: "text/event-stream", event: toFrame, last: toFrame }
  let isOpen = false
  const element = (event: Json, end = "") => {
    const before = isOpen ? ",\r\n" : "["
    isOpen = true
    return encoder.encode(`${before}${JSON.stringify(event)}${end}`)
  }
  return { contentType: "application/json", event: (event) => element(event), last: (event) => element(event, "\n]") }
}
