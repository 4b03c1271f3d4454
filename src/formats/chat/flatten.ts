import { listOf } from "./meter.ts"
import { isObject, type Json } from "../../support/json.ts"

/**
 * Content that a provider answers with in parts, as clients of the wire read it: its text as one string, beside it what
 * was thought and what was drawn. Parts of other kinds say nothing in words, and are left out. The same object where the
 * content is none of parts.
 */
export function flattenContent(said: Json): Json {
  if (!Array.isArray(said["content"])) return said
  const parts = said["content"] as unknown[]
  const thoughts = parts.filter(isThought)
  const drawn = parts.filter((part) => isObject(part) && isObject(part["image_url"]))
  const details = listOf(said["reasoning_details"])
  const thought = thoughts.map(({ thinking }) => wordsOf(thinking)).join("")
  return {
    ...said,
    content: wordsOf(parts.filter((part) => !isThought(part))),
    ...(thought !== "" && { reasoning: wordsOf(said["reasoning"]) + thought }),
    ...(thoughts.length > 0 && { reasoning_details: [...details, ...thoughts.map(toDetail)] }),
    ...(drawn.length > 0 && { images: [...listOf(said["images"]), ...drawn] }),
  }
}

function isThought(part: unknown): part is Json {
  return isObject(part) && part["type"] === "thinking"
}

function toDetail({ thinking, signature }: Json, index: number): Json {
  const signed = typeof signature === "string" && signature !== "" ? { signature } : {}
  return { type: "reasoning.text", text: wordsOf(thinking), ...signed, index }
}

/** The words of a text, of a part, or of a list of either. */
function wordsOf(said: unknown): string {
  if (typeof said === "string") return said
  if (Array.isArray(said)) return (said as unknown[]).map(wordsOf).join("")
  return isObject(said) && typeof said["text"] === "string" ? said["text"] : ""
}
