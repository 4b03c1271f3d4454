import type { Json } from "../../support/text/json.ts"
import type { InputPart } from "./input-schemas.ts"
import { withoutNulls } from "../../support/text/json.ts"

/** Converts Responses content parts to chat content parts. */

export type ChatContent = string | Json[]

/** A single plain text becomes a string, which every provider accepts. */
export function toContent(content: string | readonly InputPart[]): ChatContent {
  if (typeof content === "string") return content
  const parts = content.map(toPart)
  const [only] = parts
  return parts.length === 1 && only && isPlainText(only) ? only.text : parts
}

/** The content of an assistant message: refusals separately, plain texts joined to one string. */
export function toText(content: string | readonly InputPart[] | null | undefined): {
  content: ChatContent | null
  refusal: string | null
} {
  if (content === null || content === undefined || typeof content === "string") {
    return { content: content ?? null, refusal: null }
  }
  const refusals = content.flatMap((part) => (part.type === "refusal" ? [part.refusal] : []))
  const parts = content.filter((part) => part.type !== "refusal").map(toPart)
  const message = parts.every(isPlainText) ? parts.map((part) => part.text).join("") : parts
  return {
    content: parts.length === 0 ? null : message,
    refusal: refusals.length === 0 ? null : refusals.join(""),
  }
}

export function joinContent(first: ChatContent | null, second: ChatContent | null): ChatContent | null {
  if (first === null || second === null) return first ?? second
  if (typeof first === "string" && typeof second === "string") return first + second
  return [...toParts(first), ...toParts(second)]
}

function toParts(content: ChatContent): Json[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content
}

function isPlainText(part: Json): part is { type: "text"; text: string } {
  return part["type"] === "text" && typeof part["text"] === "string" && Object.keys(part).length === 2
}

function toPart(part: InputPart): Json {
  switch (part.type) {
    case "input_text": {
      const { type: _, ...rest } = part
      return { ...withoutNulls(rest), type: "text" }
    }
    // Annotations and logprobs belong to a response and are not valid in a request.
    case "output_text":
      return { type: "text", text: part.text }
    case "refusal":
      return { type: "refusal", refusal: part.refusal }
    case "input_image":
      return toImage(part)
    case "input_file": {
      const { type: _, file_url: url, file_data: data, file_id: id, filename, ...rest } = part
      // The chat format has one field for both the bytes and the URL of a file.
      const file = withoutNulls({ file_data: data ?? url, file_id: id, filename })
      return { ...withoutNulls(rest), type: "file", file }
    }
    case "input_audio":
      return part
    case "input_video": {
      const { type: _, video_url: url, processing, ...rest } = part
      return { ...withoutNulls(rest), type: "video_url", video_url: withoutNulls({ url, processing }) }
    }
  }
}

function toImage(part: Extract<InputPart, { type: "input_image" }>): Json {
  const { type: _, image_url: url, file_id: id, detail, ...rest } = part
  if (url == null) return { ...withoutNulls(rest), type: "file", file: { file_id: id } }
  return { ...withoutNulls(rest), type: "image_url", image_url: withoutNulls({ url, detail }) }
}
