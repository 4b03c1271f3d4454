import * as z from "zod"
import { ProviderPreferences } from "../../formats/provider-preferences.ts"
import { MAX_SESSION_ID_LENGTH } from "../../formats/schemas.ts"
import { Trace } from "../../formats/trace.ts"

const INPUT_RULE = "must be a string, an array of strings, an array of token ids, or an array of such arrays"
const filled = z.string().min(1, "must not be empty")
const tokenIds = z.array(z.int().min(0)).min(1, "must not be empty")
const MAX_INPUTS = 2_048

/** The embeddings request; unknown fields are forwarded. */
export const EmbeddingsRequest = z
  .looseObject({
    model: z.string({ error: "is required: author/slug, as GET /embeddings/models lists" }).min(1).max(256),
    input: z.union(
      [
        filled,
        z.array(filled).min(1, "must not be empty").max(MAX_INPUTS, `must have at most ${MAX_INPUTS} items`),
        tokenIds,
        z.array(tokenIds).min(1).max(MAX_INPUTS, `must have at most ${MAX_INPUTS} items`),
        z.array(z.looseObject({ content: z.array(z.looseObject({ type: z.string() })) })).min(1),
      ],
      { error: INPUT_RULE },
    ),
    encoding_format: z.enum(["float", "base64"], { error: 'accepts "float" or "base64"' }).optional(),
    dimensions: z
      .int({ error: "must be an integer of at least 1" })
      .min(1, "must be an integer of at least 1")
      .optional(),
    input_type: z.string({ error: "must be a string" }).optional(),
    models: z.null({ error: "is not supported here; name one model" }).optional(),
    provider: ProviderPreferences.nullish(),
    session_id: z.string().max(MAX_SESSION_ID_LENGTH, `must be at most ${MAX_SESSION_ID_LENGTH} characters`).nullish(),
    trace: Trace.nullish(),
    user: z.string().max(256, "must be at most 256 characters").nullish(),
    safety_identifier: z.string().max(256, "must be at most 256 characters").nullish(),
  })
  .meta({ id: "EmbeddingsRequest" })

export type EmbeddingsRequest = z.infer<typeof EmbeddingsRequest>

export const EmbeddingsResult = z
  .looseObject({
    object: z.literal("list"),
    model: z.string(),
    data: z.array(
      z.looseObject({
        object: z.literal("embedding"),
        index: z.int().optional(),
        embedding: z.union([
          z.array(z.number()),
          z.string().meta({ description: "float32, little-endian, in base64" }),
        ]),
      }),
    ),
    usage: z.looseObject({ prompt_tokens: z.int(), total_tokens: z.int(), cost: z.number().optional() }).optional(),
  })
  .meta({ id: "EmbeddingsResult" })
