import type { Json } from "../../support/text/json.ts"
import type { ResponseMeter } from "../chat/meter.ts"
import type { ResponseReader } from "../readers/reader.ts"
import { errorOfName, readStray } from "./frame-error.ts"
import { dataOf, isDone, isKeepAlive, parseEvent } from "./frames.ts"
import type { StreamItem } from "./stream-item.ts"

/**
 * Meters one item of a stream. Returns its event, if it has one. `comment`: a frame that is only comments. `clean`
 * changes an event before it is read.
 */
export function readItem(
  item: StreamItem,
  meter: ResponseMeter,
  reader: ResponseReader,
  clean: (event: Json) => Json = (event) => event,
): Json | "done" | "comment" | "empty" | "malformed" {
  if (!(item instanceof Uint8Array)) {
    const event = clean(item)
    reader.read(meter, event)
    return event
  }
  const data = dataOf(item)
  const stray = readStray(item, data, reader.errorIn)
  if (stray === "unknown") return "malformed"
  meter.error ??= stray ?? null
  if (data === undefined || data === "") return item[0] === COLON && data === undefined ? "comment" : "empty"
  if (isDone(data)) {
    meter.done = true
    return "done"
  }
  const error = errorOfName(item, data, reader.errorIn)
  if (error) {
    meter.error ??= error
    return "empty"
  }
  const parsed = parseEvent(item, data)
  if (!parsed) return isKeepAlive(item, data) ? "empty" : "malformed"
  const event = clean(parsed)
  reader.read(meter, event)
  return event
}

const COLON = 0x3a
