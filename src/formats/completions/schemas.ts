import * as z from "zod"
import { ChatRequest, rejectContradictions } from "../schemas.ts"

/** The legacy text completions format: a prompt in place of messages. Other fields are those of the chat format. */

const MAX_PROMPTS = 128
const PROMPT_RULE = `must be a string, or an array of 1 to ${MAX_PROMPTS} strings`
const LOGPROBS_RULE = "must be an integer from 0 to 20"
const text = z.string({ error: "must be a string" })
const absent = z.null({ error: "is a field of /chat/completions; send prompt instead" }).optional()

export const CompletionsRequest = z
  .looseObject({
    ...ChatRequest.shape,
    messages: absent,
    tools: absent,
    tool_choice: absent,
    stop_server_tools_when: absent,
    max_tokens: ChatRequest.shape.max_tokens.meta({ deprecated: false }),
    prompt: z
      .union([text, z.array(text).min(1).max(MAX_PROMPTS)], { error: PROMPT_RULE })
      .transform((prompt) => (Array.isArray(prompt) && prompt.length === 1 ? (prompt[0] ?? "") : prompt)),
    suffix: text.nullish(),
    echo: z.boolean({ error: "must be true or false" }).nullish(),
    logprobs: z
      .union([z.boolean(), z.int().min(0).max(20)], { error: LOGPROBS_RULE })
      .transform((count) => (count === false ? null : Number(count)))
      .nullish(),
    best_of: z.literal(1, { error: "must be 1: a call is charged for the choices that it returns" }).nullish(),
  })
  .superRefine(rejectContradictions)
  .meta({ id: "CompletionsRequest" })

export type CompletionsRequest = z.infer<typeof CompletionsRequest>

/** The format of Mistral's API: one prompt, and the code after it. */
export const FimRequest = z
  .looseObject({
    ...CompletionsRequest.shape,
    prompt: text,
    echo: z.null({ error: "is a field of /completions" }).optional(),
    logprobs: z.null({ error: "is a field of /completions" }).optional(),
    random_seed: ChatRequest.shape.seed.meta({ description: "Mistral's name of `seed`" }),
  })
  .superRefine(rejectContradictions)
  .transform(({ random_seed: seed, ...request }) => (seed == null ? request : { ...request, seed }))
  .meta({ id: "FimRequest" })

const Choice = z.looseObject({
  index: z.int(),
  text: z.string(),
  finish_reason: z.string().nullable(),
  logprobs: z.looseObject({}).nullable(),
})

const Usage = z.looseObject({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
  cost: z.number().nullish().meta({ description: "USD charged for this call" }),
})

const fields = {
  id: z.string(),
  object: z.literal("text_completion"),
  created: z.int(),
  model: z.string(),
  choices: z.array(Choice),
  usage: Usage.optional(),
}

export const CompletionsResult = z.looseObject(fields).meta({ id: "CompletionsResult" })

export const CompletionsChunk = z
  .looseObject({ ...fields, error: z.looseObject({ code: z.int(), message: z.string() }).optional() })
  .meta({ id: "CompletionsChunk" })
