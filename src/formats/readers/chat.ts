import { normaliseChunk } from "../chat/normalize.ts"
import { errorIn, isMeaningful, newReading, readAnswer } from "../chat/meter.ts"
import { isObject } from "../../support/json.ts"
import { toChunks } from "../chat/from-result.ts"
import { toResult } from "../chat/to-result.ts"
import type { Wire } from "./reader.ts"

/** The chat wire: what most providers speak, and the one between which and the others is translated. */
export const chatWire: Wire = {
  name: "chat",
  read: readAnswer,
  isMeaningful,
  errorIn,
  isAnswer: hasAnswer,
  normalise: normaliseChunk,
  toOpening: toChunks,
  toResult: (bytes) => toResult(bytes, chatWire),
}

/** A choice that says something, or at least says that it is over. */
function hasAnswer(result: Record<string, unknown>): boolean {
  const { choices } = result
  if (!Array.isArray(choices) || !choices.some(isObject)) return false
  const reading = newReading()
  readAnswer(reading, result)
  return reading.units > 0 || reading.finishReason !== null
}
