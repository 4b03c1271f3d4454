import { isObject } from "../../support/json.ts"
import type { ResponseMeter } from "../chat/meter.ts"
import type { ResponseReader } from "../readers/reader.ts"
import { dataOf, DONE } from "./frames.ts"

/** Take one frame into the reading. Returns its event when it holds one. */
export function readFrame(
  frame: Uint8Array,
  meter: ResponseMeter,
  reader: ResponseReader,
): Record<string, unknown> | "done" | "empty" | "broken" {
  const data = dataOf(frame)
  if (data === undefined || data === "") return "empty"
  if (data === DONE) {
    meter.done = true
    return "done"
  }
  let chunk: unknown
  try {
    chunk = JSON.parse(data)
  } catch {
    return "broken"
  }
  if (!isObject(chunk)) return "broken"
  reader.read(meter, chunk)
  return chunk
}
