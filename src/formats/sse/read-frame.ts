import { isObject } from "../../support/json.ts"
import type { Reading } from "../chat/meter.ts"
import type { Wire } from "../readers/reader.ts"
import { dataOf, DONE } from "./frames.ts"

/** Take one frame into the reading. Returns its event when it holds one. */
export function readFrame(
  frame: Uint8Array,
  reading: Reading,
  wire: Wire,
): Record<string, unknown> | "done" | "empty" | "broken" {
  const data = dataOf(frame)
  if (data === undefined || data === "") return "empty"
  if (data === DONE) {
    reading.done = true
    return "done"
  }
  let chunk: unknown
  try {
    chunk = JSON.parse(data)
  } catch {
    return "broken"
  }
  if (!isObject(chunk)) return "broken"
  wire.read(reading, chunk)
  return chunk
}
