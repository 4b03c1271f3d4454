import * as z from "zod"
import { ChatRequest, rejectContradictions } from "../schemas.ts"
import { InputItem, isAccompanying } from "./input-schemas.ts"

/**
 * The Responses format. Fields that it shares with the chat format use the schemas of the chat request, the others are
 * checked here; unknown fields are forwarded. Shapes follow the contract, then the published client of the API family.
 */

const text = z.string({ error: "must be a string" })
const flag = z.boolean({ error: "must be true or false" })
const only = (value: false, message: string) => z.literal(value, { error: message }).nullish()
const nothing = (message: string) => z.null({ error: message }).optional()
const integer = (message: string, min: number, max = Number.MAX_SAFE_INTEGER) =>
  z.int({ error: message }).min(min, message).max(max, message)
const oneOf = <const T extends readonly string[]>(values: T) =>
  z.enum(values, { error: `accepts ${values.join(", ")} or null` }).nullish()

const shared = ChatRequest.shape
const NAME = /^[\w-]{1,64}$/
const nameRule = "must be 1 to 64 letters, digits, _ or -"
const name = z.string({ error: `${nameRule}; a function is not nested in its tool here` }).regex(NAME, nameRule)
const schema = z.record(z.string(), z.unknown(), { error: "must be a JSON schema object" })

const FunctionTool = z.looseObject({
  type: z.literal("function"),
  name,
  description: text.nullish(),
  parameters: schema.nullish(),
  strict: flag.nullish(),
})
/** Aborts: otherwise a union would report only this branch. */
const typeOtherThan = (...knownTypes: string[]) =>
  z.looseObject({ type: text.refine((type) => !knownTypes.includes(type), { abort: true }) })
const tool = z.union([FunctionTool, typeOtherThan("function")], { error: "must be a tool with a type" })

const toolChoice = z.union(
  [
    z.enum(["none", "auto", "required"]),
    z.looseObject({ type: z.literal("function"), name: text }),
    z.looseObject({
      type: z.literal("allowed_tools"),
      mode: z.enum(["auto", "required"], { error: 'accepts "auto" or "required"' }),
      tools: z.array(z.looseObject({ type: text })),
    }),
    typeOtherThan("function", "allowed_tools"),
  ],
  { error: 'accepts "none", "auto", "required" or an object that names a tool' },
)

const format = z.discriminatedUnion(
  "type",
  [
    z.looseObject({ type: z.literal("text") }),
    z.looseObject({ type: z.literal("json_object") }),
    z.looseObject({
      type: z.literal("json_schema"),
      name: z.string({ error: nameRule }).regex(NAME, nameRule),
      description: text.nullish(),
      schema,
      strict: flag.nullish(),
    }),
  ],
  { error: "must have a type: text, json_object or json_schema" },
)

const INCLUDABLE = [
  "file_search_call.results",
  "message.input_image.image_url",
  "computer_call_output.output.image_url",
  "reasoning.encrypted_content",
  "code_interpreter_call.outputs",
  "web_search_call.action.sources",
  "web_search_call.results",
  "message.output_text.logprobs",
] as const

const MAX_TOOL_CALLS = 30
const TOOL_CALLS_RULE = `must be an integer from 1 to ${MAX_TOOL_CALLS}`
const stateless = "this gateway stores no responses; send the full conversation in input"
const atLeastOne = "must be an integer of at least 1"

/** Providers reject a conversation of reasoning alone, each with another message. */
const InputItems = z
  .array(InputItem)
  .min(1, "must have at least 1 item")
  .refine(
    (items) => items.length === 0 || !items.every(isAccompanying),
    "must have an item besides reasoning and server tools: a message, a function_call or a function_call_output",
  )

export const ResponsesRequest = z
  .looseObject({
    ...shared,
    // Chat fields that have another name in the Responses format.
    messages: nothing("is a field of /chat/completions; here the conversation goes in input"),
    response_format: nothing("is a field of /chat/completions; here it is text.format"),
    n: z.literal(1, { error: "must be 1: a response has one choice" }).nullish(),
    stream_options: z.looseObject({}).nullish(),

    input: z.union([text, InputItems], {
      error: "must be a string or an array of input items",
    }),
    instructions: text.nullish(),
    max_output_tokens: integer(atLeastOne, 1).nullish(),
    max_tool_calls: z
      .int({ error: TOOL_CALLS_RULE })
      .nullish()
      .meta({ description: `1 to ${MAX_TOOL_CALLS}. Ignored if stop_server_tools_when is set.` }),
    metadata: shared.metadata.refine(
      (pairs) => pairs == null || Object.keys(pairs).every((key) => !/[[\]]/.test(key)),
      "keys must have no brackets",
    ),
    modalities: z
      .array(z.enum(["text", "image"], { error: "accepts text or image" }), { error: "must be an array" })
      .nullish(),
    reasoning: z
      .looseObject({
        effort: shared.reasoning_effort,
        summary: oneOf(["auto", "concise", "detailed"]),
        enabled: flag.nullish(),
        max_tokens: integer(atLeastOne, 1).nullish(),
        context: oneOf(["auto", "all_turns", "current_turn"]),
        mode: oneOf(["standard", "pro"]),
      })
      .nullish(),
    text: z
      .looseObject({ format: format.nullish(), verbosity: oneOf(["low", "medium", "high", "xhigh", "max"]) })
      .nullish(),
    tools: z.array(tool, { error: "must be an array of tools" }).nullish(),
    tool_choice: toolChoice.nullish(),
    truncation: oneOf(["auto", "disabled"]),
    include: z
      .array(z.enum(INCLUDABLE, { error: `accepts ${INCLUDABLE.join(", ")}` }), { error: "must be an array" })
      .nullish(),
    safety_identifier: text.max(256, "must be at most 256 characters").nullish(),

    store: only(false, `accepts false or null, because ${stateless}`),
    background: flag.nullish(),
    conversation: nothing(`is not supported, because ${stateless}`),
    previous_response_id: nothing(`is not supported, because ${stateless}`),
    prompt: nothing(
      "is not supported, because this gateway stores no prompts; send its text in instructions and input",
    ),
  })
  .superRefine(rejectContradictions)
  .superRefine(limitToolCalls)
  .overwrite(withoutIgnored)
  .meta({ id: "ResponsesRequest" })

export type ResponsesRequest = z.infer<typeof ResponsesRequest>

type ToolLimits = { max_tool_calls?: number | null | undefined; stop_server_tools_when?: unknown }

function limitToolCalls(
  { max_tool_calls: limit, stop_server_tools_when: stops }: ToolLimits,
  context: z.RefinementCtx,
) {
  if (stops != null || limit == null || (limit >= 1 && limit <= MAX_TOOL_CALLS)) return
  context.addIssue({ code: "custom", path: ["max_tool_calls"], message: TOOL_CALLS_RULE })
}

/** Without `max_tool_calls` where stop conditions replace it. */
function withoutIgnored<Request extends ToolLimits>(request: Request): Request {
  if (request.stop_server_tools_when == null || request.max_tool_calls == null) return request
  return { ...request, max_tool_calls: undefined }
}

const OutputItem = z.looseObject({ type: z.string().meta({ description: "message, reasoning or function_call" }) })

const Usage = z.looseObject({
  input_tokens: z.int(),
  input_tokens_details: z.looseObject({ cached_tokens: z.int(), cache_write_tokens: z.int() }),
  output_tokens: z.int(),
  output_tokens_details: z.looseObject({ reasoning_tokens: z.int() }),
  total_tokens: z.int(),
  cost: z.number().nullish().meta({ description: "USD charged for this call" }),
})

/** Nullable keys are always present: clients reject a result without them. */
export const ResponsesResult = z
  .looseObject({
    id: z.string(),
    object: z.literal("response"),
    created_at: z.int().meta({ description: "Unix seconds" }),
    completed_at: z.int().nullable(),
    status: z.enum(["completed", "incomplete", "in_progress", "failed"]),
    model: z.string(),
    output: z.array(OutputItem),
    error: z.looseObject({ code: z.string(), message: z.string() }).nullable(),
    error_type: z.string().optional(),
    incomplete_details: z.looseObject({ reason: z.enum(["max_output_tokens", "content_filter"]) }).nullable(),
    instructions: z.string().nullable(),
    max_output_tokens: z.int().nullable(),
    metadata: z.record(z.string(), z.string()).nullable(),
    parallel_tool_calls: z.boolean(),
    tool_choice: z.union([z.string(), z.looseObject({ type: z.string() })]),
    tools: z.array(z.looseObject({ type: z.string() })),
    temperature: z.number().nullable(),
    top_p: z.number().nullable(),
    frequency_penalty: z.number().nullable(),
    presence_penalty: z.number().nullable(),
    usage: Usage.nullable(),
  })
  .meta({ id: "ResponsesResult" })

export type ResponsesResult = z.infer<typeof ResponsesResult>

export const ResponsesEvent = z
  .looseObject({
    type: z.string().meta({ description: "response.created, response.output_text.delta, response.completed, …" }),
    sequence_number: z.int().meta({ description: "0, 1, 2, … without gaps" }),
  })
  .meta({ id: "ResponsesEvent" })

export type ResponsesEvent = z.infer<typeof ResponsesEvent>
