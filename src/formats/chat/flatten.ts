import { isArray, isObject, type Json, listOf } from "../../support/json.ts"

/**
 * Flattens the content parts of a provider's message for chat clients: the text as one string, reasoning and images in
 * fields of their own. Other parts are dropped. Returns the same object where the content is not an array.
 */
export function flattenContent(message: Json): Json {
  if (!isArray(message["content"])) return message
  const parts = message["content"]
  const thoughts = parts.filter(isThought)
  const drawn = parts.filter((part) => isObject(part) && isObject(part["image_url"]))
  const details = listOf(message["reasoning_details"])
  const thought = thoughts.map(({ thinking }) => textOf(thinking)).join("")
  return {
    ...message,
    content: textOf(parts.filter((part) => !isThought(part))),
    ...(thought !== "" && { reasoning: textOf(message["reasoning"]) + thought }),
    ...(thoughts.length > 0 && { reasoning_details: [...details, ...thoughts.map(toDetail)] }),
    ...(drawn.length > 0 && { images: [...listOf(message["images"]), ...drawn] }),
  }
}

function isThought(part: unknown): part is Json {
  return isObject(part) && part["type"] === "thinking"
}

function toDetail({ thinking, signature }: Json, index: number): Json {
  const signed = typeof signature === "string" && signature !== "" ? { signature } : {}
  return { type: "reasoning.text", text: textOf(thinking), ...signed, index }
}

/** The text of a string, of a content part, or of an array of either. */
function textOf(message: unknown): string {
  if (typeof message === "string") return message
  if (isArray(message)) return message.map(textOf).join("")
  return isObject(message) && typeof message["text"] === "string" ? message["text"] : ""
}
