import type { Json } from "../../support/text/json.ts"
import type { ResponseBlock } from "./block-schemas.ts"
import { withoutNulls } from "../../support/text/json.ts"

/** Converts Messages content blocks to chat content parts. */

export type ChatContent = string | Json[]

/** The content of a user or tool message. A single plain text becomes a string, which every provider accepts. */
export function toContent(content: string | readonly ResponseBlock[]): ChatContent {
  return typeof content === "string" ? content : simplest(content.flatMap(toParts))
}

export function simplest(parts: Json[]): ChatContent {
  const [only] = parts
  return parts.length === 1 && only && isPlainText(only) ? only.text : parts
}

export function isPlainText(part: Json): part is { type: "text"; text: string } {
  return part["type"] === "text" && typeof part["text"] === "string" && Object.keys(part).length === 2
}

export function toTextPart(text: string, cacheControl?: Json | null): Json {
  return withoutNulls({ type: "text", text, cache_control: cacheControl })
}

export function toParts(block: ResponseBlock): Json[] {
  const mark = withoutNulls({ cache_control: block.cache_control })
  switch (block.type) {
    case "text":
      return [toTextPart(block.text, block.cache_control)]
    case "image":
      return [{ ...toImage(block.source), ...mark }]
    case "search_result": {
      const text = block.content.map(({ text }) => text).join("\n")
      return [toTextPart(`${block.title}\n${block.source}\n\n${text}`, block.cache_control)]
    }
    case "document":
      return mark["cache_control"] === undefined ? toDocument(block) : markLast(toDocument(block), mark)
  }
}

function markLast(parts: Json[], mark: Json): Json[] {
  return parts.map((part, at) => (at === parts.length - 1 ? { ...part, ...mark } : part))
}

function toImage(source: Extract<ResponseBlock, { type: "image" }>["source"]): Json {
  switch (source.type) {
    case "base64":
      return { type: "image_url", image_url: { url: `data:${source.media_type};base64,${source.data}` } }
    case "url":
      return { type: "image_url", image_url: { url: source.url } }
    case "file":
      return { type: "file", file: { file_id: source.file_id } }
  }
}

/** A text document becomes text, which every provider accepts; any other becomes a file. */
function toDocument({ source, title, context }: Extract<ResponseBlock, { type: "document" }>): Json[] {
  const heading = [title, context].filter((line) => line != null && line !== "").join("\n")
  const headed = (text: string) => toTextPart(heading === "" ? text : `${heading}\n\n${text}`)
  const about = context == null || context === "" ? [] : [toTextPart(context)]
  const toFile = (file: Json) => [...about, { type: "file", file: withoutNulls({ filename: title, ...file }) }]
  switch (source.type) {
    case "text":
      return [headed(source.data)]
    case "content":
      if (typeof source.content === "string") return [headed(source.content)]
      return [...(heading === "" ? [] : [toTextPart(heading)]), ...source.content.flatMap(toParts)]
    case "base64":
      return toFile({ file_data: `data:${source.media_type};base64,${source.data}` })
    // The chat format has one field for both the bytes and the URL of a file.
    case "url":
      return toFile({ file_data: source.url })
    case "file":
      return toFile({ file_id: source.file_id })
  }
}
