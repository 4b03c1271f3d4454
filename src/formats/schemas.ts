import * as z from "zod"
import { fileId } from "./file-id.ts"
import { ProviderPreferences } from "./provider-preferences.ts"
import { Trace } from "./trace.ts"

/**
 * The chat request. Fields that the gateway reads are validated; unknown fields are forwarded. Ranges follow the
 * contract, other shapes the published client of this API family.
 */

const between = (min: number, max: number) =>
  z
    .number({ error: `must be a number from ${min} to ${max}` })
    .min(min, `must be from ${min} to ${max}`)
    .max(max, `must be from ${min} to ${max}`)

const integer = (rule: string, min: number, max = Number.MAX_SAFE_INTEGER) =>
  z.int({ error: rule }).min(min, rule).max(max, rule)

const text = z.string({ error: "must be a string" })
const flag = z.boolean({ error: "must be true or false" })

const textPart = z.looseObject({ type: z.literal("text"), text })
const contentPart = z.discriminatedUnion(
  "type",
  [
    textPart,
    z.looseObject({ type: z.literal("image_url"), image_url: z.looseObject({ url: text }) }),
    z.looseObject({ type: z.literal("input_audio"), input_audio: z.looseObject({ data: text, format: text }) }),
    z.looseObject({
      type: z.literal("file"),
      file: z.looseObject({ file_data: text.optional(), file_id: fileId.optional(), filename: text.nullish() }),
    }),
    z.looseObject({ type: z.literal("video_url"), video_url: z.looseObject({ url: text }) }),
    z.looseObject({ type: z.literal("input_video"), video_url: z.looseObject({ url: text }) }),
    z.looseObject({ type: z.literal("refusal"), refusal: text }),
  ],
  { error: "must have a type: text, image_url, input_audio, file, video_url or refusal" },
)

const partsOr = <T extends z.ZodType>(part: T) =>
  z.union([text, z.array(part)], { error: "must be a string or an array of content parts" })

const toolCall = z.looseObject({
  id: text,
  type: z.literal("function", { error: 'accepts "function"' }).optional(),
  function: z.looseObject({ name: text, arguments: text }),
})

const instruction = { content: partsOr(textPart), name: text.nullish() }

const message = z.discriminatedUnion(
  "role",
  [
    z.looseObject({ role: z.literal("system"), ...instruction }),
    z.looseObject({ role: z.literal("developer"), ...instruction }),
    z.looseObject({ role: z.literal("user"), content: partsOr(contentPart), name: text.nullish() }),
    z.looseObject({
      role: z.literal("assistant"),
      content: partsOr(contentPart).nullish(),
      name: text.nullish(),
      tool_calls: z.array(toolCall, { error: "must be an array of tool calls" }).nullish(),
      refusal: text.nullish(),
      reasoning: text.nullish(),
      reasoning_details: z.array(z.looseObject({ type: text })).nullish(),
    }),
    z.looseObject({ role: z.literal("tool"), content: partsOr(contentPart), tool_call_id: text }),
  ],
  { error: "must have a role: system, developer, user, assistant or tool" },
)

const functionName = text.regex(/^[\w-]{1,64}$/, "must be 1 to 64 letters, digits, _ or -")
const tool = z.union(
  [
    z.looseObject({
      type: z.literal("function"),
      function: z.looseObject({
        name: functionName,
        description: text.nullish(),
        parameters: z.record(z.string(), z.unknown()).optional(),
        strict: flag.nullish(),
      }),
    }),
    z.looseObject({ type: text.refine((type) => type !== "function", "needs a function object") }),
  ],
  { error: "must be a tool with a type" },
)

const toolChoice = z.union(
  [
    z.enum(["none", "auto", "required"]),
    z.literal("any").transform(() => "required" as const), // sent by Mistral's clients
    z.looseObject({ type: z.literal("function"), function: z.looseObject({ name: text }) }),
    z.looseObject({ type: text }),
  ],
  { error: 'accepts "none", "auto", "required" or an object that names a tool' },
)

const responseFormat = z.discriminatedUnion(
  "type",
  [
    z.looseObject({ type: z.literal("text") }),
    z.looseObject({ type: z.literal("json_object") }),
    z.looseObject({
      type: z.literal("json_schema"),
      json_schema: z.looseObject({
        name: functionName,
        description: text.nullish(),
        schema: z.record(z.string(), z.unknown()).optional(),
        strict: flag.nullish(),
      }),
    }),
    z.looseObject({ type: z.literal("grammar"), grammar: text }),
    z.looseObject({ type: z.literal("python") }),
  ],
  { error: "must have a type: text, json_object, json_schema, grammar or python" },
)

const EFFORTS = ["max", "xhigh", "high", "medium", "low", "minimal", "none"] as const
const effort = z.enum(EFFORTS, { error: `accepts ${EFFORTS.join(", ")} or null` })
const SERVICE_TIERS = ["auto", "default", "fast", "flex", "priority", "scale"] as const

const PLUGINS =
  "auto-router auto-beta-router context-compression file-parser fusion moderation pareto-router response-healing switchyard-router web web-fetch".split(
    " ",
  )

const steps = "must be an integer of at least 1"
const stopCondition = z.discriminatedUnion(
  "type",
  [
    z.looseObject({ type: z.literal("step_count_is"), step_count: integer(steps, 1) }),
    z.looseObject({ type: z.literal("finish_reason_is"), reason: text }),
    z.looseObject({ type: z.literal("has_tool_call"), tool_name: text }),
    z.looseObject({ type: z.literal("max_cost"), max_cost_in_dollars: z.number().min(0) }),
    z.looseObject({ type: z.literal("max_tokens_used"), max_tokens: integer(steps, 1) }),
  ],
  { error: "must have a type: step_count_is, finish_reason_is, has_tool_call, max_cost or max_tokens_used" },
)

export const MAX_SESSION_ID_LENGTH = 256
const MAX_METADATA_PAIRS = 16
const metadata = z
  .record(z.string().max(64, "must have at most 64 characters"), text.max(512, "must be at most 512 characters"), {
    error: "must be an object of strings",
  })
  .refine((pairs) => Object.keys(pairs).length <= MAX_METADATA_PAIRS, `must have at most ${MAX_METADATA_PAIRS} pairs`)

const modelName = text.min(1, "must not be empty").max(256, "must be at most 256 characters")
const atLeastOne = "must be an integer of at least 1"

type CheckedFields = {
  stream: boolean
  reasoning?: { effort?: string | null | undefined } | null | undefined
  reasoning_effort?: string | null | undefined
  debug?: { echo_upstream_body?: boolean | null | undefined } | null | undefined
}

/** Adds an issue for fields that contradict each other. */
export function rejectContradictions(request: CheckedFields, context: z.RefinementCtx): void {
  const reject = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message })
  const { reasoning, reasoning_effort: shorthand } = request
  if (shorthand != null && reasoning?.effort != null && shorthand !== reasoning.effort) {
    reject("reasoning_effort", `differs from reasoning.effort (${reasoning.effort}); send one of them`)
  }
  if (request.debug?.echo_upstream_body && !request.stream) reject("debug", "requires stream: true")
}

export const ChatRequest = z
  .looseObject({
    messages: z.array(message, { error: "must be an array of messages" }).min(1, "must have at least 1 message"),
    model: modelName.optional(),
    models: z.array(modelName, { error: "must be an array of models" }).max(32, "must be at most 32 models").nullish(),
    preset: text
      .min(1, "must not be empty")
      .max(256, "must be at most 256 characters")
      .nullish()
      .meta({ description: "The slug of a preset. `model` can also name one: `@preset/slug`, `model@preset/slug`." }),
    stream: flag.nullable().default(false).transform(Boolean),
    stream_options: z.looseObject({ include_usage: flag.nullish() }).nullish(),

    max_completion_tokens: integer(atLeastOne, 1).nullish(),
    max_tokens: integer(atLeastOne, 1).nullish().meta({ deprecated: true }),
    temperature: between(0, 2).nullish(),
    top_p: between(0, 1).nullish(),
    top_k: integer("must be an integer of at least -1", -1).nullish(),
    top_a: between(0, 1).nullish(),
    min_p: between(0, 1).nullish(),
    frequency_penalty: between(-2, 2).nullish(),
    presence_penalty: between(-2, 2).nullish(),
    repetition_penalty: between(0, 2).nullish(),
    seed: z
      .int({ error: `must be an integer from -${Number.MAX_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}` })
      .nullish(),
    stop: z
      .union([text, z.array(text).max(4, "must be at most 4 sequences")], {
        error: "must be a string or an array of up to 4 strings",
      })
      .nullish(),
    logit_bias: z.record(z.string(), z.number(), { error: "must be an object of numbers" }).nullish(),
    logprobs: flag.nullish(),
    top_logprobs: integer("must be an integer from 0 to 20", 0, 20).nullish(),
    n: integer("must be an integer from 1 to 128", 1, 128).nullish(),

    tools: z.array(tool, { error: "must be an array of tools" }).nullish(),
    tool_choice: toolChoice.nullish(),
    parallel_tool_calls: flag.nullish(),
    stop_server_tools_when: z.array(stopCondition).min(1, "must have at least 1 condition").nullish(),
    response_format: responseFormat.nullish(),
    modalities: z
      .array(z.enum(["text", "image", "audio"], { error: "accepts text, image or audio" }), {
        error: "must be an array",
      })
      .nullish(),
    prediction: z
      .looseObject({ type: z.literal("content", { error: 'accepts "content"' }), content: partsOr(textPart) })
      .nullish(),
    reasoning: z
      .looseObject({
        effort: effort.nullish(),
        summary: z.enum(["auto", "concise", "detailed"], { error: "accepts auto, concise or detailed" }).nullish(),
      })
      .nullish(),
    reasoning_effort: effort.nullish(),
    service_tier: z.enum(SERVICE_TIERS, { error: `accepts ${SERVICE_TIERS.join(", ")} or null` }).nullish(),

    cache_control: z
      .looseObject({
        type: z.literal("ephemeral", { error: 'accepts "ephemeral"' }),
        ttl: z.enum(["5m", "1h"]).optional(),
      })
      .nullish(),
    prompt_cache_key: text.nullish(),
    prompt_cache_options: z
      .looseObject({ mode: z.literal("explicit", { error: 'accepts "explicit"' }), ttl: text.nullish() })
      .nullish(),
    image_config: z.record(z.string(), z.unknown()).nullish(),

    provider: ProviderPreferences.nullish(),
    plugins: z
      .array(
        z.looseObject({ id: z.enum(PLUGINS, { error: `accepts ${PLUGINS.join(", ")}` }), enabled: flag.optional() }),
      )
      .nullish(),
    route: z
      .enum(["fallback", "sort"], { error: 'accepts "fallback", "sort" or null' })
      .nullish()
      .meta({ deprecated: true }),
    session_id: text.max(MAX_SESSION_ID_LENGTH, `must be at most ${MAX_SESSION_ID_LENGTH} characters`).nullish(),
    user: text.max(256, "must be at most 256 characters").nullish(),
    safety_identifier: text.max(256, "must be at most 256 characters").nullish(),
    metadata: metadata.nullish(),
    trace: Trace.nullish(),
    usage: z.looseObject({ include: flag.nullish() }).nullish(),
    debug: z.looseObject({ echo_upstream_body: flag.nullish() }).nullish(),
  })
  .superRefine(rejectContradictions)
  .meta({ id: "ChatRequest" })

export type ChatRequest = z.infer<typeof ChatRequest>
