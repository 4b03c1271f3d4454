import { parseData, toFrame } from "../sse/frames.ts"
import { reencodeStream, type EventStreamMessage } from "./event-stream.ts"

/** The content type of a stream of Converse events. */
export const EVENT_STREAM_TYPE = "application/vnd.amazon.eventstream"

const decoder = new TextDecoder()

/** Converts a binary stream of Converse events to server-sent events for the relay: `{"contentBlockDelta":{...}}`. */
export function converseAsSse(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
  return reencodeStream(body, (message) => toFrame(toEvent(message)))
}

/** Wraps the event in its type, as in the API model of the stream. Exceptions and errors become `exception`. */
function toEvent({ headers, payload }: EventStreamMessage): Record<string, unknown> {
  const kind = headers.get(":message-type")
  if (kind === "error") {
    return { exception: { type: headers.get(":error-code"), message: headers.get(":error-message") } }
  }
  const content = parseData(decoder.decode(payload)) ?? {}
  if (kind === "exception") {
    const message = content["message"] ?? content["Message"] ?? content["originalMessage"]
    return { exception: { type: headers.get(":exception-type"), message } }
  }
  return { [headers.get(":event-type") ?? "unknown"]: content }
}
