import * as z from "zod"
import { fileId } from "../file-id.ts"

/** Items of `input` in the Responses format. */

const text = z.string({ error: "must be a string" })
const nonEmpty = text.min(1, "must not be empty")

const DETAILS = ["auto", "low", "high", "original"] as const
const STATUSES = ["in_progress", "completed", "incomplete"] as const
const status = z.enum(STATUSES, { error: `accepts ${STATUSES.join(", ")}` }).nullish()

const inputText = z.looseObject({ type: z.literal("input_text"), text })
const outputText = z.looseObject({ type: z.literal("output_text"), text })
const refusal = z.looseObject({ type: z.literal("refusal"), refusal: text })
const inputImage = z
  .looseObject({
    type: z.literal("input_image"),
    image_url: text.nullish(),
    file_id: fileId.nullish(),
    detail: z.enum(DETAILS, { error: `accepts ${DETAILS.join(", ")}` }).nullish(),
  })
  .refine((part) => part.image_url != null || part.file_id != null, "needs image_url or file_id")
const inputFile = z
  .looseObject({
    type: z.literal("input_file"),
    file_data: text.nullish(),
    file_url: text.nullish(),
    file_id: fileId.nullish(),
    filename: text.nullish(),
  })
  .refine(
    (part) => part.file_data != null || part.file_url != null || part.file_id != null,
    "needs file_data, file_url or file_id",
  )
const inputAudio = z.looseObject({
  type: z.literal("input_audio"),
  input_audio: z.looseObject({ data: text, format: text }),
})
const inputVideo = z.looseObject({ type: z.literal("input_video"), video_url: text })

const textPart = z.discriminatedUnion("type", [inputText, outputText], {
  error: "must have a type: input_text or output_text",
})
const part = z.discriminatedUnion(
  "type",
  [inputText, outputText, refusal, inputImage, inputFile, inputAudio, inputVideo],
  { error: "must have a type: input_text, output_text, refusal, input_image, input_file, input_audio or input_video" },
)
const outputPart = z.discriminatedUnion("type", [inputText, inputImage, inputFile], {
  error: "must have a type: input_text, input_image or input_file",
})

const partsOr = <T extends z.ZodType>(of: T) =>
  z.union([text, z.array(of)], { error: "must be a string or an array of content parts" })

/** `type` is optional in a message. */
const type = z.literal("message").optional()
const message = z.discriminatedUnion(
  "role",
  [
    z.looseObject({ type, role: z.literal("system"), content: partsOr(textPart) }),
    z.looseObject({ type, role: z.literal("developer"), content: partsOr(textPart) }),
    z.looseObject({ type, role: z.literal("user"), content: partsOr(part) }),
    z.looseObject({ type, role: z.literal("assistant"), content: partsOr(part).nullish(), status }),
  ],
  { error: "must have a role: system, developer, user or assistant" },
)

const functionCall = z.looseObject({
  type: z.literal("function_call"),
  call_id: nonEmpty,
  name: nonEmpty,
  namespace: text.nullish(),
  arguments: text,
  status,
})

const customToolCall = z.looseObject({
  type: z.literal("custom_tool_call"),
  call_id: nonEmpty,
  name: nonEmpty,
  namespace: text.nullish(),
  input: text,
  status,
})

const functionCallOutput = z.looseObject({
  type: z.literal("function_call_output"),
  call_id: nonEmpty,
  output: partsOr(outputPart),
  status,
})

const customToolCallOutput = z.looseObject({
  type: z.literal("custom_tool_call_output"),
  call_id: nonEmpty,
  output: partsOr(outputPart),
  status,
})

const reasoning = z.looseObject({
  type: z.literal("reasoning"),
  id: text.nullish(),
  summary: z.array(z.looseObject({ type: z.literal("summary_text"), text })).nullish(),
  content: z.array(z.looseObject({ type: z.literal("reasoning_text"), text })).nullish(),
  encrypted_content: text.nullish(),
  signature: text.nullish(),
  format: text.nullish(),
  status,
})

const KNOWN = [
  "message",
  "function_call",
  "function_call_output",
  "custom_tool_call",
  "custom_tool_call_output",
  "reasoning",
]
const known = z.discriminatedUnion("type", [
  message,
  functionCall,
  functionCallOutput,
  customToolCall,
  customToolCallOutput,
  reasoning,
])
/** Kept for to-chat.ts to reject by name. Aborts: otherwise a union would report only this branch. */
const unknown = z.looseObject({ type: text.refine((name) => !KNOWN.includes(name), { abort: true }) })

export const InputItem = z.union([known, unknown], {
  error: "must be an item: a message with a role, or a function_call, function_call_output or reasoning",
})

export type InputMessage = z.infer<typeof message>
export type InputPart = z.infer<typeof part>
export type FunctionCallItem = z.infer<typeof functionCall>
export type FunctionCallOutputItem = z.infer<typeof functionCallOutput>
export type CustomCallOutputItem = z.infer<typeof customToolCallOutput>
export type ReasoningItem = z.infer<typeof reasoning>
export type KnownItem = z.infer<typeof known>

/** Runs of server tools are restored from the reasoning items. */
export const SERVER_TOOL_ITEM = /^(?:web_search_call$|mcp_call$|mcp_list_tools$|(?:service|openrouter):)/

/** Whether an item only accompanies others, in which the conversation is. */
export function isAccompanying({ type }: { type?: string | undefined }): boolean {
  return type === "reasoning" || (type !== undefined && SERVER_TOOL_ITEM.test(type))
}

export function isKnown(item: z.infer<typeof InputItem>): item is KnownItem {
  return item.type === undefined || KNOWN.includes(item.type)
}
