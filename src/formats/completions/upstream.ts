import { isObject, type Json, objectsOf } from "../../support/text/json.ts"
import { dataOf, parseData } from "../sse/frames.ts"
import type { FrameTranslator } from "../sse/stream-item.ts"
import type { Translation } from "../upstream.ts"

/**
 * Translates the responses of a provider's completions API to the chat format. Some of these APIs respond in the chat
 * format, which passes.
 */
export const completionsTranslation: Translation = {
  stream: () => translateFrame,
  document: (result) => withChoices(result, toMessage),
}

const translateFrame: FrameTranslator = (frame) => {
  const event = parseData(dataOf(frame) ?? "")
  return [event ? withChoices(event, toDelta) : frame]
}

function withChoices(response: Json, map: (choice: Json) => Json): Json {
  return "choices" in response ? { ...response, choices: objectsOf(response["choices"]).map(map) } : response
}

function toDelta(choice: Json): Json {
  const { text, ...rest } = choice
  return isText(choice) ? { ...rest, delta: { content: text } } : choice
}

function toMessage(choice: Json): Json {
  const { text, ...rest } = choice
  return isText(choice) ? { ...rest, message: { role: "assistant", content: text } } : choice
}

function isText({ text, delta, message }: Json): boolean {
  return typeof text === "string" && !isObject(delta) && !isObject(message)
}
