import * as z from "zod"
import { fileId } from "../file-id.ts"

/** Content blocks of the Messages format. */

const text = z.string({ error: "must be a string" })
const nonEmpty = text.min(1, "must not be empty")

export const CacheControl = z.looseObject({
  type: z.literal("ephemeral", { error: 'accepts "ephemeral"' }),
  ttl: z.enum(["5m", "1h"], { error: "accepts 5m or 1h" }).optional(),
})
const cacheControl = CacheControl.nullish()

export const TextBlock = z.looseObject({ type: z.literal("text"), text, cache_control: cacheControl })

const base64Source = z.looseObject({ type: z.literal("base64"), media_type: nonEmpty, data: text })
const urlSource = z.looseObject({ type: z.literal("url"), url: nonEmpty })
const fileSource = z.looseObject({ type: z.literal("file"), file_id: fileId.min(1, "must not be empty") })
const textSource = z.looseObject({ type: z.literal("text"), data: text })

const imageBlock = z.looseObject({
  type: z.literal("image"),
  source: z.discriminatedUnion("type", [base64Source, urlSource, fileSource], {
    error: "must have a type: base64, url or file",
  }),
  cache_control: cacheControl,
})

const contentSource = z.looseObject({
  type: z.literal("content"),
  content: z.union([text, z.array(z.discriminatedUnion("type", [TextBlock, imageBlock]))]),
})

const documentBlock = z.looseObject({
  type: z.literal("document"),
  source: z.discriminatedUnion("type", [base64Source, urlSource, fileSource, textSource, contentSource], {
    error: "must have a type: base64, url, file, text or content",
  }),
  title: text.nullish(),
  context: text.nullish(),
  cache_control: cacheControl,
})

const searchResultBlock = z.looseObject({
  type: z.literal("search_result"),
  source: text,
  title: text,
  content: z.array(TextBlock, { error: "must be an array of text blocks" }),
  cache_control: cacheControl,
})

const thinkingBlock = z.looseObject({ type: z.literal("thinking"), thinking: text, signature: text.nullish() })
const redactedBlock = z.looseObject({ type: z.literal("redacted_thinking"), data: text })

const input = z.record(z.string(), z.unknown(), { error: "must be an object" })
const toolUseBlock = z.looseObject({ type: z.literal("tool_use"), id: nonEmpty, name: nonEmpty, input })
const serverToolUseBlock = z.looseObject({ type: z.literal("server_tool_use"), id: nonEmpty, name: nonEmpty, input })

/** A tool that a search of the client has found: the model may call it from now on. */
const toolReferenceBlock = z.looseObject({ type: z.literal("tool_reference"), tool_name: nonEmpty })

const RESULT_RULE = "must have a type: text, image, document, search_result or tool_reference"
const response = [TextBlock, imageBlock, documentBlock, searchResultBlock] as const
const result = z.discriminatedUnion("type", [...response, toolReferenceBlock], { error: RESULT_RULE })
const toolResultBlock = z.looseObject({
  type: z.literal("tool_result"),
  tool_use_id: nonEmpty,
  content: z.union([text, z.array(result)], { error: "must be a string or an array of content blocks" }).nullish(),
  is_error: z.boolean({ error: "must be true or false" }).nullish(),
  cache_control: cacheControl,
})

const KNOWN = [
  TextBlock,
  imageBlock,
  documentBlock,
  searchResultBlock,
  thinkingBlock,
  redactedBlock,
  toolUseBlock,
  serverToolUseBlock,
  toolResultBlock,
] as const
const knownBlock = z.discriminatedUnion("type", KNOWN)
const KNOWN_TYPES: readonly string[] = KNOWN.map(({ shape }) => shape.type.value)

/** Kept for messages.ts to reject by name. Aborts: otherwise a union would report only this branch. */
const unknown = z.looseObject({ type: text.refine((name) => !KNOWN_TYPES.includes(name), { abort: true }) })

export const ContentBlock = z.union([knownBlock, unknown], { error: "must be a content block with a type" })

export type ContentBlock = z.infer<typeof ContentBlock>
export type KnownBlock = z.infer<typeof knownBlock>
export type ResponseBlock = z.infer<(typeof response)[number]>
export type ResultBlock = z.infer<typeof result>
export type ToolResultBlock = z.infer<typeof toolResultBlock>

export function isKnown(block: ContentBlock): block is KnownBlock {
  return KNOWN_TYPES.includes(block.type)
}

const content = z.union([text, z.array(ContentBlock)], { error: "must be a string or an array of content blocks" })
const resultContent = z.union([text, z.array(TextBlock)], { error: "must be a string or an array of text blocks" })

export const Message = z.discriminatedUnion(
  "role",
  [
    z.looseObject({ role: z.literal("user"), content }),
    z.looseObject({ role: z.literal("assistant"), content }),
    z.looseObject({ role: z.literal("system"), content: resultContent }),
  ],
  { error: "must have a role: user, assistant or system" },
)

export type Message = z.infer<typeof Message>
