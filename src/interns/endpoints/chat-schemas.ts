import * as z from "zod"
import { APPROVAL_MODES, LIMITS } from "../run/run.ts"

/** Only the last message is checked, which must be text. Earlier ones may have images, refusals and other parts. */
const Part = z.looseObject({ type: z.string() })
const content = z.union([z.string(), z.array(Part)]).nullish()

const EchoedCall = z.looseObject({
  id: z.string(),
  function: z.looseObject({ name: z.string(), arguments: z.string() }).optional(),
})

const Message = z.discriminatedUnion(
  "role",
  [
    z.looseObject({ role: z.literal("user"), content }),
    z.looseObject({ role: z.literal("assistant"), content, tool_calls: z.array(EchoedCall).nullish() }),
    z.looseObject({ role: z.literal("tool"), content, tool_call_id: z.string().min(1) }),
    z.looseObject({ role: z.literal("system"), content }),
    z.looseObject({ role: z.literal("developer"), content }),
  ],
  { error: "accepts user, assistant, tool, system, developer" },
)
export type InternMessage = z.infer<typeof Message>

/** Only the last message is read: a user message is a prompt, a tool message answers a question. */
export const InternChatRequest = z
  .looseObject({
    messages: z.array(Message).min(1, "must not be empty"),
    stream: z
      .boolean({ error: "must be true: an intern answers as a stream" })
      .meta({ description: "false starts a background turn, with the header `Prefer: respond-async`." }),
    approval_mode: z.enum(APPROVAL_MODES, { error: `accepts ${APPROVAL_MODES.join(", ")}` }).nullish(),
    session_id: z
      .string()
      .min(1, "must be 1 to 256 characters")
      .max(256, "must be 1 to 256 characters")
      // Ids are rows of the storage and segments of a path.
      .refine((id) => id.isWellFormed(), "must be well-formed Unicode, without halves of surrogate pairs")
      .refine((id) => !/^\.{1,2}$/.test(id), "must not be . or .., which no URL can name")
      .nullish(),
    model: z.string().nullish(),
  })
  .meta({ id: "InternChatRequest" })
export type InternChatRequest = z.infer<typeof InternChatRequest>

const ModelUsage = z
  .object({
    model: z.string().meta({ description: "The model that responded." }),
    calls: z.int(),
    prompt_tokens: z.int(),
    completion_tokens: z.int(),
    cached_tokens: z.int().optional(),
    cost: z.number().meta({ description: "USD." }),
  })
  .meta({ id: "InternModelUsage" })

export const Usage = z.object({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
  prompt_tokens_details: z.object({ cached_tokens: z.int() }).optional(),
  cost: z.number().optional().meta({ description: "USD." }),
  by_model: z
    .array(ModelUsage)
    .optional()
    .meta({ description: "From the calls that the gateway recorded and charged; absent if there are none." }),
})

export const InternChatChunk = z
  .object({
    id: z.string(),
    object: z.literal("chat.completion.chunk"),
    created: z.int(),
    model: z.string(),
    choices: z.array(
      z.object({
        index: z.int(),
        delta: z.object({
          role: z.literal("assistant").optional(),
          content: z.string().optional(),
          reasoning: z.string().optional(),
          tool_calls: z.array(z.looseObject({})).optional(),
        }),
        finish_reason: z.enum(["stop", "tool_calls", "error"]).nullable(),
      }),
    ),
    session_id: z.string().nullable().optional(),
    usage: Usage.nullable().optional(),
    error: z
      .object({
        code: z.int(),
        message: z.string(),
        metadata: z.object({ reason: z.string(), retryable: z.boolean() }),
      })
      .optional(),
  })
  .meta({ id: "InternChatChunk" })

export const InternSteered = z
  .object({
    session_id: z.string(),
    status: z.enum(["steered", "started", "resumed"]).meta({
      description: "`started` and `resumed`: the turn runs in the background.",
    }),
  })
  .meta({ id: "InternSteered" })

export const MAX_PROMPT_CHARS = LIMITS.promptChars
