import { type ProviderError, toProviderError } from "../chat/provider-error.ts"
import type { Json } from "../../support/text/json.ts"
import type { ResponseReader } from "../readers/reader.ts"
import { isErrorEvent, parseData, strayText } from "./frames.ts"

/** The error that the name of a frame announces, whatever its data is. */
export function errorOfName(frame: Uint8Array, data: string, errorIn: ResponseReader["errorIn"]): ProviderError | null {
  if (!isErrorEvent(frame)) return null
  const event: Json | undefined = parseData(data)
  return (event && errorIn(event)) ?? toProviderError(event ?? data)
}

/** Reads text between the events: the error if it is one in JSON. Undefined for a frame without such text. */
export function readStray(
  frame: Uint8Array,
  data: string | undefined,
  errorIn: ResponseReader["errorIn"],
): ProviderError | "unknown" | undefined {
  const text = strayText(frame, data)
  if (text === undefined) return undefined
  const event = parseData(text)
  return (event && errorIn(event)) ?? "unknown"
}
