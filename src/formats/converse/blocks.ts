import { isObject, type Json, objectsOf } from "../../support/text/json.ts"
import { type Block, invalidField } from "../messages/upstream/content.ts"

/** Converts Messages content blocks to Converse blocks. */

/** Whether the model supports cache points; others reject a request with one. */
export type BlockContext = { takesCachePoints: boolean }

export function toContent(blocks: readonly Json[], context: BlockContext): Json[] {
  const names = new Map<string, number>()
  return blocks.flatMap((block) => [...toBlock(block, names), ...toCachePoint(block, context)])
}

/** The cache point for the `cache_control` of a block, which follows the block. */
export function toCachePoint({ cache_control: mark }: Json, { takesCachePoints }: BlockContext): Json[] {
  if (!takesCachePoints || !isObject(mark)) return []
  const { ttl } = mark
  return [{ cachePoint: { type: "default", ...(typeof ttl === "string" && { ttl }) } }]
}

function toBlock(block: Json, names: Map<string, number>): Json[] {
  const source = isObject(block["source"]) ? block["source"] : {}
  switch (block["type"]) {
    case "text":
      return [{ text: block["text"] }]
    case "image":
      return [{ image: { format: suffixOf(source["media_type"]), source: { bytes: source["data"] } } }]
    case "document":
      return [{ document: toDocument(source, block["title"], names) }]
    case "tool_use":
      return [{ toolUse: { toolUseId: block["id"], name: block["name"], input: block["input"] } }]
    case "tool_result":
      return [{ toolResult: { toolUseId: block["tool_use_id"], content: toResult(block["content"]) } }]
    case "thinking":
      return [{ reasoningContent: { reasoningText: { text: block["thinking"], signature: block["signature"] } } }]
    case "redacted_thinking":
      return [{ reasoningContent: { redactedContent: block["data"] } }]
    default:
      // Tools that Anthropic runs do not exist in Converse.
      return []
  }
}

/** A tool result needs at least one block and must not have a cache point. */
function toResult(content: unknown): Json[] {
  const isText = typeof content === "string"
  const blocks = isText ? [{ text: content }] : toContent(objectsOf(content), { takesCachePoints: false })
  return blocks.length > 0 ? blocks : [{ text: " " }]
}

const SUFFIXES: Readonly<Record<string, string>> = {
  "application/msword": "doc",
  "application/pdf": "pdf",
  "application/vnd.ms-excel": "xls",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "xlsx",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "docx",
  "text/plain": "txt",
}

function suffixOf(mediaType: unknown): string {
  const type = typeof mediaType === "string" ? mediaType : ""
  return SUFFIXES[type] ?? type.slice(type.indexOf("/") + 1)
}

function toDocument(source: Json, title: unknown, names: Map<string, number>): Json {
  const { type, media_type: mediaType, data } = source
  const bytes = type === "text" && typeof data === "string" ? toBase64(data) : data
  return { format: suffixOf(mediaType), name: toName(title, names), source: { bytes } }
}

/** Names may have letters, digits, single spaces, hyphens and brackets, and must be unique in a message. */
function toName(title: unknown, names: Map<string, number>): string {
  const text = typeof title === "string" ? title.replace(/\.\w{1,5}$/, "") : ""
  const name = text
    .replaceAll(/[^A-Za-z0-9\s()[\]-]+/g, "-")
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, 180)
  const base = name === "" ? "document" : name
  const count = (names.get(base) ?? 0) + 1
  names.set(base, count)
  return count === 1 ? base : `${base} (${count})`
}

function toBase64(text: string): string {
  const bytes = new TextEncoder().encode(text)
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))
}

/** Throws for content by reference: Bedrock accepts it only by value. */
export function requireInline(turns: readonly { content: readonly Block[] }[]): void {
  for (const { content } of turns) {
    for (const block of content) {
      const blocks = block.type === "tool_result" ? objectsOf(block["content"]) : [block]
      if (blocks.some(isByReference)) {
        const rule =
          "images and files must be data: URLs in base64 with this provider, which accepts no URLs and no file ids"
        throw invalidField("messages", rule)
      }
    }
  }
}

function isByReference({ type, source }: Json): boolean {
  if ((type !== "image" && type !== "document") || !isObject(source)) return false
  return source["type"] === "url" || source["type"] === "file"
}
