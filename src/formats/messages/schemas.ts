import * as z from "zod"
import { ChatRequest, rejectContradictions } from "../schemas.ts"
import { CacheControl, Message, TextBlock } from "./block-schemas.ts"

/**
 * The Messages format. Fields that it shares with the chat format use the schemas of the chat request, the others are
 * checked here; unknown fields are forwarded. Shapes follow the published client of the API.
 */

const text = z.string({ error: "must be a string" })
const flag = z.boolean({ error: "must be true or false" })
const elsewhere = (alternative: string) =>
  z.null({ error: `is a field of /chat/completions; here it is ${alternative}` }).optional()
const missing = (alternative: string) =>
  z.null({ error: `is not available on this gateway: ${alternative}` }).optional()
const integer = (message: string, min: number) => z.int({ error: message }).min(min, message)
const atLeastOne = "must be an integer of at least 1"
const unit = (rule = "must be a number from 0 to 1") => z.number({ error: rule }).min(0, rule).max(1, rule)
const oneOf = <const T extends readonly string[]>(values: T) =>
  z.enum(values, { error: `accepts ${values.join(", ")} or null` }).nullish()

const shared = ChatRequest.shape
const schema = z.record(z.string(), z.unknown(), { error: "must be a JSON schema object" })
const nameRule = "must be 1 to 128 letters, digits, _ or -"

const CustomTool = z.looseObject({
  type: z.literal("custom").nullish(),
  name: z.string({ error: nameRule }).regex(/^[\w-]{1,128}$/, nameRule),
  description: text.nullish(),
  input_schema: schema,
  strict: flag.nullish(),
  cache_control: CacheControl.nullish(),
})
/** A tool defined by its type. Aborts: otherwise a union would report only this branch. */
const ServerTool = z.looseObject({ type: text.refine((type) => type !== "custom", { abort: true }) })
const tool = z.union([CustomTool, ServerTool], { error: "must be a tool with an input_schema, or with a type" })

const parallel = { disable_parallel_tool_use: flag.nullish() }
const toolChoice = z.discriminatedUnion(
  "type",
  [
    z.looseObject({ type: z.literal("auto"), ...parallel }),
    z.looseObject({ type: z.literal("any"), ...parallel }),
    z.looseObject({ type: z.literal("none") }),
    z.looseObject({ type: z.literal("tool"), name: text, ...parallel }),
  ],
  { error: "must be an object with a type: auto, any, tool or none" },
)

/** Minimum thinking budget of the Messages API. */
const MIN_BUDGET = 1_024
const budget = `must be an integer of at least ${MIN_BUDGET}`
const thinking = z.discriminatedUnion(
  "type",
  [
    z.looseObject({ type: z.literal("enabled"), budget_tokens: integer(budget, MIN_BUDGET) }),
    z.looseObject({ type: z.literal("adaptive") }),
    z.looseObject({ type: z.literal("between_tools") }),
    z.looseObject({ type: z.literal("disabled") }),
  ],
  { error: "must have a type: enabled, adaptive, between_tools or disabled" },
)

const outputConfig = z.looseObject({
  effort: oneOf(["low", "medium", "high", "xhigh", "max"]),
  format: z.looseObject({ type: z.literal("json_schema", { error: 'accepts "json_schema"' }), schema }).nullish(),
})

/** The error after which tool runners of Anthropic's clients send the full conversation instead. */
const messagesDetails = { error_code: "thread_unsupported_request", unsupported: ["thread"] }
const NO_THREADS = "is not available on this gateway: it stores no messages; send the full conversation in messages"
const thread = z
  .unknown()
  .optional()
  .superRefine((value, context) => {
    if (value === undefined || value === null) return
    context.addIssue({ code: "custom", message: NO_THREADS, params: { messagesDetails } })
  })

const MAX_USER_ID_LENGTH = 512

export const MessagesRequest = z
  .looseObject({
    ...shared,
    // Chat fields that Messages names differently or does not have.
    max_completion_tokens: elsewhere("max_tokens"),
    n: z.literal(1, { error: "must be 1: a message has one choice" }).nullish(),
    parallel_tool_calls: elsewhere("tool_choice.disable_parallel_tool_use"),
    reasoning: elsewhere("thinking and output_config.effort"),
    reasoning_effort: elsewhere("output_config.effort"),
    response_format: elsewhere("output_config.format"),
    stop: elsewhere("stop_sequences"),

    messages: z.array(Message, { error: "must be an array of messages" }).min(1, "must have at least 1 message"),
    max_tokens: integer(atLeastOne, 1),
    system: z.union([text, z.array(TextBlock)], { error: "must be a string or an array of text blocks" }).nullish(),
    temperature: unit().nullish(),
    stop_sequences: z.array(text, { error: "must be an array of strings" }).nullish(),
    tools: z.array(tool, { error: "must be an array of tools" }).nullish(),
    tool_choice: toolChoice.nullish(),
    thinking: thinking.nullish(),
    output_config: outputConfig.nullish(),
    metadata: z
      .looseObject({
        user_id: text.max(MAX_USER_ID_LENGTH, `must be at most ${MAX_USER_ID_LENGTH} characters`).nullish(),
      })
      .nullish(),
    service_tier: z.union([shared.service_tier, z.literal("standard_only")], {
      error: "accepts auto, standard_only, default, fast, flex, priority, scale or null",
    }),
    container: missing("containers are not supported"),
    thread,
    inference_geo: missing("the hostname of the request selects the region"),
    mcp_servers: z
      .array(z.unknown())
      .max(0, "is not available on this gateway: connect to the server yourself and send its tools")
      .nullish(),
  })
  .superRefine(rejectContradictions)
  .superRefine(({ thinking: thinkingConfig, max_tokens: limit }, context) => {
    if (thinkingConfig?.type !== "enabled" || thinkingConfig.budget_tokens < limit) return
    const message = `must be less than max_tokens (${limit}), which includes the thinking`
    context.addIssue({ code: "custom", path: ["thinking", "budget_tokens"], message })
  })
  .meta({ id: "MessagesRequest" })

export type MessagesRequest = z.infer<typeof MessagesRequest>

const Usage = z.looseObject({
  input_tokens: z.int().meta({ description: "Input tokens that were neither read from a cache nor written to one" }),
  cache_creation_input_tokens: z.int().nullish(),
  cache_read_input_tokens: z.int().nullish(),
  output_tokens: z.int(),
  cost: z.number().nullish().meta({ description: "USD charged for this call" }),
})

/** A complete response. */
export const MessagesResult = z
  .looseObject({
    id: z.string(),
    type: z.literal("message"),
    role: z.literal("assistant"),
    model: z.string(),
    content: z.array(
      z.looseObject({ type: z.string().meta({ description: "text, thinking, redacted_thinking, tool_use, …" }) }),
    ),
    stop_reason: z.string().nullable(),
    stop_sequence: z.string().nullable(),
    usage: Usage,
  })
  .meta({ id: "MessagesResult" })

export type MessagesResult = z.infer<typeof MessagesResult>

export const MessagesEvent = z
  .looseObject({
    type: z.string().meta({
      description:
        "message_start, content_block_start, content_block_delta, content_block_stop, message_delta, message_stop, ping or error",
    }),
  })
  .meta({ id: "MessagesEvent" })

export type MessagesEvent = z.infer<typeof MessagesEvent>
