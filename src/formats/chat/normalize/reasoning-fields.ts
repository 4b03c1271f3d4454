import { isObject, type Json, listOf } from "../../../support/text/json.ts"
import { reasoningInDetails } from "./provider-spellings.ts"

/** The choices whose provider sends `reasoning` beside `reasoning_details`. */
export type Reasoned = Set<number>

/**
 * A delta with the text of its details in `reasoning`, which most clients read. Returns the same object if the provider
 * sends both. Some send the complete details after the text.
 */
export function withReasoningOfDetails(delta: Json, reasoned: Reasoned, choice: number): Json {
  const { reasoning, reasoning_details: details } = delta
  if (typeof reasoning === "string" && reasoning !== "") reasoned.add(choice)
  else if (details !== undefined && !reasoned.has(choice)) return withText(delta)
  return delta
}

/** A complete message with the text of its details in `reasoning`. */
export function withReasoningOfDetailsInMessage(message: Json): Json {
  const { reasoning, reasoning_details: details } = message
  const hasText = typeof reasoning === "string" && reasoning !== ""
  return hasText || !listOf(details).some(isObject) ? message : withText(message)
}

function withText(message: Json): Json {
  const reasoning = reasoningInDetails(message)
  return reasoning === "" ? message : { ...message, reasoning }
}
