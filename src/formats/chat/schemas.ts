import * as z from "zod"

const Usage = z.looseObject({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
  cost: z.number().nullish().meta({ description: "USD charged for this call" }),
})

/** Guaranteed fields of a chat response. Other fields of providers pass through. */
export const ChatResult = z
  .looseObject({
    id: z.string(),
    object: z.literal("chat.completion"),
    created: z.int(),
    model: z.string(),
    system_fingerprint: z.string().nullable(),
    service_tier: z.string().nullable(),
    choices: z.array(
      z.looseObject({
        index: z.int(),
        finish_reason: z.string().nullable(),
        message: z.looseObject({ role: z.literal("assistant"), content: z.unknown() }),
      }),
    ),
    usage: Usage.optional(),
  })
  .meta({ id: "ChatResult" })

export const ChatChunk = z
  .looseObject({
    id: z.string(),
    object: z.literal("chat.completion.chunk"),
    created: z.int(),
    model: z.string(),
    choices: z.array(z.looseObject({ index: z.int(), delta: z.looseObject({}), finish_reason: z.string().nullable() })),
    usage: Usage.optional(),
    error: z.looseObject({ code: z.int(), message: z.string() }).optional(),
  })
  .meta({ id: "ChatChunk" })
