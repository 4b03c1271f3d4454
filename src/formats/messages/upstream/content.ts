import { GatewayError } from "../../../errors/errors.ts"
import { decodeBase64 } from "../../../support/text/encoding.ts"
import { isObject, type Json, objectsOf } from "../../../support/text/json.ts"

/** Converts chat content parts to Messages content blocks. */

export type Block = { type: string } & Json

/** Path for error messages, and the lifetime of cache breakpoints without one. */
export type ContentContext = { path: string; ttl: string | undefined }

export function invalidField(path: string, text: string): GatewayError {
  return new GatewayError("invalid_request", `${path}: ${text}.`)
}

/** Omits blank text blocks, which the API rejects. */
export function toTextBlock(text: string, further: Json = {}): Block[] {
  return text.trim() === "" ? [] : [{ type: "text", text, ...further }]
}

/** The content of a user or tool message. */
export function toBlocks(content: unknown, context: ContentContext): Block[] {
  if (typeof content === "string") return toTextBlock(content)
  return toParts(content).flatMap((part, at) => toBlock(part, { ...context, path: `${context.path}.content[${at}]` }))
}

/** The content of a system or assistant message, which is text only. */
export function toTextBlocks(content: unknown, context: ContentContext): Block[] {
  if (typeof content === "string") return toTextBlock(content)
  return toParts(content).flatMap((part, at) => {
    const text = part["text"] ?? part["refusal"]
    if (typeof text === "string") return toTextBlock(text, toCacheControl(part, context.ttl))
    throw invalidField(`${context.path}.content[${at}].type`, `${String(part["type"])} is not supported here; use text`)
  })
}

function toParts(content: unknown): Json[] {
  return objectsOf(content)
}

function toBlock(part: Json, { path, ttl }: ContentContext): Block[] {
  const cacheControl = toCacheControl(part, ttl)
  const inside = (key: string) => (isObject(part[key]) ? part[key] : {})
  switch (part["type"]) {
    case "text":
    case "refusal": {
      const text = part["text"] ?? part["refusal"]
      return typeof text === "string" ? toTextBlock(text, cacheControl) : []
    }
    case "image_url":
      return [{ type: "image", source: toImageSource(inside("image_url")["url"], path), ...cacheControl }]
    case "file":
      return [{ ...toDocument(inside("file"), path), ...cacheControl }]
    default: {
      const text = `${String(part["type"])} is not supported by this provider; use text, image_url or file`
      throw invalidField(`${path}.type`, text)
    }
  }
}

/** The `cache_control` of a part, or the equivalent of its `prompt_cache_breakpoint`. */
export function toCacheControl(part: Json, ttl: string | undefined): Json {
  if (isObject(part["cache_control"])) return { cache_control: part["cache_control"] }
  if (!isObject(part["prompt_cache_breakpoint"])) return {}
  return { cache_control: { type: "ephemeral", ...(ttl !== undefined && { ttl }) } }
}

function toImageSource(url: unknown, path: string): Json {
  const data = readDataUrl(url)
  if (data) {
    const mediaType = data.mediaType === "image/jpg" ? "image/jpeg" : data.mediaType
    return { type: "base64", media_type: mediaType, data: data.base64 }
  }
  if (isWebUrl(url)) return { type: "url", url }
  throw invalidField(`${path}.image_url.url`, "must be an http or https URL, or a data: URL in base64")
}

function toDocument(file: Json, path: string): Block {
  const { file_data: message, file_id: id, filename } = file
  const title = typeof filename === "string" && filename !== "" ? { title: filename } : {}
  if (typeof id === "string" && id !== "") return { type: "document", source: { type: "file", file_id: id }, ...title }
  if (isWebUrl(message)) return { type: "document", source: { type: "url", url: message }, ...title }
  const data = readDataUrl(message)
  if (!data) throw invalidField(`${path}.file.file_data`, "must be an http or https URL, or a data: URL in base64")
  if (data.mediaType.startsWith("image/")) return { type: "image", source: toImageSource(message, path) }
  if (data.mediaType.startsWith("text/")) {
    const source = { type: "text", media_type: "text/plain", data: toText(data.base64, path) }
    return { type: "document", source, ...title }
  }
  return { type: "document", source: { type: "base64", media_type: data.mediaType, data: data.base64 }, ...title }
}

function isWebUrl(url: unknown): url is string {
  return typeof url === "string" && /^https?:\/\//i.test(url)
}

/** Only the start is searched: the data may have many megabytes. */
const MAX_HEAD_LENGTH = 256

function readDataUrl(url: unknown): { mediaType: string; base64: string } | null {
  if (typeof url !== "string") return null
  const comma = url.slice(0, MAX_HEAD_LENGTH).indexOf(",")
  const [, mediaType] = /^data:([^;,]+)(?:;[^,]*)?;base64$/i.exec(url.slice(0, Math.max(0, comma))) ?? []
  return mediaType === undefined ? null : { mediaType: mediaType.toLowerCase(), base64: url.slice(comma + 1) }
}

function toText(base64: string, path: string): string {
  const bytes = decodeBase64(base64)
  if (!bytes) throw invalidField(`${path}.file.file_data`, "is not valid base64")
  return new TextDecoder().decode(bytes)
}
