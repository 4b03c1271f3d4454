import { listOf } from "./meter.ts"
import { isObject, type Json } from "../../support/json.ts"

/**
 * Content that a provider answers with in parts, as clients of the wire read it: its text as one string, beside it what
 * was thought and what was drawn. Parts of other kinds say nothing in words, and are left out. The same object where the
 * content is none of parts.
 */
export function flattenContent(message: Json): Json {
  if (!Array.isArray(message["content"])) return message
  const parts = message["content"] as unknown[]
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

/** The words of a text, of a part, or of a list of either. */
function textOf(message: unknown): string {
  if (typeof message === "string") return message
  if (Array.isArray(message)) return (message as unknown[]).map(textOf).join("")
  return isObject(message) && typeof message["text"] === "string" ? message["text"] : ""
}
