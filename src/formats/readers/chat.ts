import { normalizeChunk } from "../chat/normalize/normalize.ts"
import { hasContent, isName, newMeter, readResponse } from "../chat/meter.ts"
import { errorInChat } from "../chat/provider-error.ts"
import { isObject } from "../../support/text/json.ts"
import { toChunks } from "../chat/from-result.ts"
import { toResult } from "../chat/to-result.ts"
import { variableStrings } from "../chat/normalize/variable-strings.ts"
import type { ResponseReader } from "./reader.ts"

/** The chat format. Most providers support it, and all other formats are translated to and from it. */
export const chatReader: ResponseReader = {
  name: "chat",
  read: (meter, body) => {
    meter.error ??= errorInChat(body)
    readResponse(meter, body)
  },
  hasContent,
  errorIn: errorInChat,
  isResponse: hasOutput,
  normalize: normalizeChunk,
  variableStrings,
  toStreamHead: toChunks,
  toResult: (items) => toResult(items, chatReader),
}

/** A choice with content or a finish reason. */
function hasOutput(result: Record<string, unknown>): boolean {
  const { choices } = result
  if (!Array.isArray(choices) || !choices.some(isObject)) return false
  if (choices.some((choice) => isObject(choice) && isName(choice["finish_reason"]))) return true
  const meter = newMeter()
  readResponse(meter, result)
  return meter.units > 0 || meter.finishReason !== null
}
