import * as z from "zod"
import { ProviderPreferences } from "../../formats/provider-preferences.ts"
import { MAX_SESSION_ID_LENGTH } from "../../formats/schemas.ts"
import { Trace } from "../../formats/trace.ts"
import { oneOf } from "../../http/schema.ts"
import { TRANSCRIPT_FORMATS } from "./transcript-formats.ts"

/**
 * Requests for media and ranking. Fields that the gateway reads and those with fixed values are validated; the provider
 * validates the rest.
 * Shapes follow the published client of this API family, and the OpenAI API where it has the endpoint.
 */

const text = z.string({ error: "must be a string" })
const filled = text.min(1, "must not be empty")
const integerBetween = (min: number, max: number) => {
  const rule = `must be an integer from ${min} to ${max}`
  return z.int({ error: rule }).min(min, rule).max(max, rule)
}

const shared = {
  model: z.string({ error: "is required: author/slug, as GET /models lists" }).min(1).max(256),
  // Lists of models are supported for conversations only.
  models: z.null({ error: "is not supported here; name one model" }).optional(),
  provider: ProviderPreferences.nullish(),
  session_id: text.max(MAX_SESSION_ID_LENGTH, `must be at most ${MAX_SESSION_ID_LENGTH} characters`).nullish(),
  trace: Trace.nullish(),
  user: text.max(256, "must be at most 256 characters").nullish(),
  safety_identifier: text.max(256, "must be at most 256 characters").nullish(),
}

const document = z.union([text, z.looseObject({ text: text.optional(), image: text.optional() })], {
  error: "must be a string or an object with text or image",
})

export const RerankRequest = z
  .looseObject({
    ...shared,
    query: filled,
    documents: z
      .array(document, { error: "must be an array of documents" })
      .min(1, "must have at least 1 document")
      .max(10_000, "must have at most 10000 documents"),
    top_n: integerBetween(1, 10_000).nullish(),
  })
  .meta({ id: "RerankRequest" })
export type RerankRequest = z.infer<typeof RerankRequest>

export const RerankResult = z
  .looseObject({
    id: z.string().optional(),
    model: z.string(),
    provider: z.string().optional(),
    results: z.array(z.looseObject({ index: z.int(), relevance_score: z.number() })),
    usage: z.looseObject({ cost: z.number().optional(), search_units: z.number().optional() }).optional(),
  })
  .meta({ id: "RerankResult" })

const moderated = z.union(
  [
    z.looseObject({ type: z.literal("text"), text }),
    z.looseObject({ type: z.literal("image_url"), image_url: z.looseObject({ url: filled }) }),
  ],
  { error: "must be a part of type text or image_url" },
)
const MAX_MODERATED = 2_048

export const ModerationRequest = z
  .looseObject({
    ...shared,
    model: shared.model.optional(),
    input: z.union([text, z.array(text).min(1).max(MAX_MODERATED), z.array(moderated).min(1).max(MAX_MODERATED)], {
      error: `must be a string, or an array of 1 to ${MAX_MODERATED} strings or content parts`,
    }),
  })
  .meta({ id: "ModerationRequest" })
export type ModerationRequest = z.infer<typeof ModerationRequest>

export const ModerationResult = z
  .looseObject({
    id: z.string().optional(),
    model: z.string(),
    provider: z.string().optional(),
    results: z.array(
      z.looseObject({
        flagged: z.boolean(),
        categories: z.record(z.string(), z.boolean()),
        category_scores: z.record(z.string(), z.number()),
      }),
    ),
    usage: z.looseObject({ cost: z.number().optional() }).optional(),
  })
  .meta({ id: "ModerationResult" })

const notStreamed = z.literal(false, { error: "must be false: images are not streamed" }).nullish()

const VIDEO_RATIOS = ["16:9", "9:16", "1:1", "4:3", "3:4", "3:2", "2:3", "21:9", "9:21"] as const
const MORE_RATIOS = ["1:2", "1:4", "1:8", "2:1", "2.35:1", "4:1", "4:5", "5:2", "5:4", "8:1"] as const
const PHONE_RATIOS = ["9:19.5", "19.5:9", "9:20", "20:9"] as const
const IMAGE_RATIOS = [...VIDEO_RATIOS, ...MORE_RATIOS, ...PHONE_RATIOS, "auto"] as const
/** The last two are OpenAI's, of older models. */
const QUALITIES = ["auto", "low", "medium", "high", "xhigh", "max", "standard", "hd"] as const
const VIDEO_RESOLUTIONS = ["360p", "480p", "720p", "768p", "1080p", "1K", "2K", "4K"] as const

export const ImageRequest = z
  .looseObject({
    ...shared,
    model: shared.model.optional(),
    prompt: filled,
    n: integerBetween(1, 10).nullish(),
    aspect_ratio: oneOf(IMAGE_RATIOS).nullish(),
    background: oneOf(["auto", "transparent", "opaque"]).nullish(),
    output_format: oneOf(["png", "jpeg", "webp", "svg"]).nullish(),
    quality: oneOf(QUALITIES).nullish(),
    resolution: oneOf(["512", "1K", "2K", "4K"]).nullish(),
    output_compression: integerBetween(0, 100).nullish(),
    svg: z.null({ error: "is not supported: it selects another model, whose tokens have no price here" }).optional(),
    stream: notStreamed,
  })
  .meta({ id: "ImageRequest" })
export type ImageRequest = z.infer<typeof ImageRequest> & { model: string }

export const ImageResult = z
  .looseObject({
    created: z.int(),
    data: z.array(z.looseObject({ b64_json: z.string().optional(), url: z.string().optional() })),
    usage: z.looseObject({ cost: z.number().optional() }).optional(),
  })
  .meta({ id: "ImageResult" })

export const SpeechRequest = z
  .looseObject({
    ...shared,
    input: filled,
    instructions: text.nullish(),
    // A name, or an object with the id of a voice.
    voice: z.union([text, z.looseObject({})], { error: "must be the name of a voice" }).nullish(),
    speed: z.number().min(0.25, "must be from 0.25 to 4").max(4, "must be from 0.25 to 4").nullish(),
    response_format: text.nullish(),
    stream_format: z.literal("audio", { error: 'accepts "audio"' }).nullish(),
  })
  .meta({ id: "SpeechRequest" })
export type SpeechRequest = z.infer<typeof SpeechRequest>

const FORMAT_RULE = 'accepts "json", "verbose_json", "text", "srt" or "vtt"'
const GRANULARITY_RULE = 'must be an array of "word" and "segment"'

export const TranscriptionRequest = z
  .looseObject({
    ...shared,
    input_audio: z.looseObject(
      { data: filled, format: filled },
      { error: "must be an object with data (base64) and format; or send the file as multipart/form-data" },
    ),
    language: text.nullish(),
    prompt: text.nullish(),
    response_format: z.enum(TRANSCRIPT_FORMATS, { error: FORMAT_RULE }).nullish(),
    temperature: z.number().min(0, "must be from 0 to 1").max(1, "must be from 0 to 1").nullish(),
    timestamp_granularities: z
      .array(z.enum(["word", "segment"], { error: GRANULARITY_RULE }), { error: GRANULARITY_RULE })
      .nullish(),
    stream: z.literal(false, { error: "must be false: transcriptions are not streamed" }).nullish(),
  })
  .meta({ id: "TranscriptionRequest" })
export type TranscriptionRequest = z.infer<typeof TranscriptionRequest>

export const TranscriptionResult = z
  .looseObject({ text: z.string(), usage: z.looseObject({ cost: z.number().optional() }).optional() })
  .meta({ id: "TranscriptionResult" })

export const VideoRequest = z
  .looseObject({
    ...shared,
    prompt: text.nullish(),
    aspect_ratio: oneOf(VIDEO_RATIOS).nullish(),
    resolution: oneOf(VIDEO_RESOLUTIONS).nullish(),
    duration: integerBetween(1, 3_600).nullish(),
    // Name of the length in the OpenAI API.
    seconds: z
      .union([integerBetween(1, 3_600), text.regex(/^[1-9]\d{0,3}$/)], { error: "must be an integer from 1 to 3600" })
      .nullish(),
    n: z.literal(1, { error: "must be 1: a job makes one video" }).nullish(),
    callback_url: z.null({ error: "is not supported: poll polling_url" }).optional(),
  })
  .meta({ id: "VideoRequest" })
export type VideoRequest = z.infer<typeof VideoRequest>

export const VideoJob = z
  .looseObject({
    id: z.string(),
    polling_url: z.string(),
    status: z.enum(["pending", "in_progress", "completed", "failed", "cancelled", "expired"]),
    generation_id: z.string().optional(),
    unsigned_urls: z.array(z.string()).optional(),
    error: z.string().optional(),
  })
  .meta({ id: "VideoJob" })
export type VideoJob = z.infer<typeof VideoJob>
