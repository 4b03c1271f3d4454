import { isTooDeep } from "../../support/text/depth.ts"
import { isObject, type Json, parseJson } from "../../support/text/json.ts"

/** Below the limit of request bodies: clients send the object back in the next request, some levels down. */
const MAX_DEPTH = 350

/**
 * The object in the arguments of a tool call, which models write as text. Undefined if the text is not a JSON object, or
 * is nested too deeply to be sent back.
 */
export function parseArguments(text: string): Json | undefined {
  const value = parseJson(text)
  return isObject(value) && !isTooDeep(value, MAX_DEPTH) ? value : undefined
}

/**
 * The input of a tool in the Messages format, which must be an object. Truncated or invalid JSON must not look complete
 * to the tool.
 */
export function toToolInput(text: string): Json {
  return parseArguments(text) ?? { unparsed: text }
}
