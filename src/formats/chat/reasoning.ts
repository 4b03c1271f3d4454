import { isObject, type Json } from "../../support/json.ts"

/** The fields in which providers send reasoning text beside `reasoning`. */
const REASONING_SPELLINGS = ["reasoning_content", "reasoning_text", "thinking"] as const
/** All fields of a message that hold reasoning text. The first with text counts. */
export const REASONING_KEYS = ["reasoning", ...REASONING_SPELLINGS] as const

/**
 * A message or delta with its reasoning in `reasoning` and `reasoning_details`; the same object where no other spelling
 * is used. Some providers send the same text under two names: one of them is kept.
 */
export function withReasoning(message: Json): Json {
  const spelling = REASONING_SPELLINGS.find((key) => key in message)
  if (spelling === undefined) return message
  const { reasoning_content, reasoning_text, thinking, ...rest } = message
  const other = [reasoning_content, reasoning_text, thinking].find((text) => typeof text === "string" && text !== "")
  const text = typeof rest["reasoning"] === "string" && rest["reasoning"] !== "" ? rest["reasoning"] : other
  if (typeof text !== "string") return rest
  const details = rest["reasoning_details"]
  const hasDetails = Array.isArray(details) && details.some(isObject)
  return {
    ...rest,
    reasoning: text,
    reasoning_details: hasDetails ? details : [{ type: "reasoning.text", text, index: 0 }],
  }
}
