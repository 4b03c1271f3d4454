import { decodeBase64 } from "../../support/text/encoding.ts"
import { GatewayError } from "../../errors/errors.ts"
import { TOKENS_PER_MEDIA_PART } from "../accounting/cost-bound.ts"
import { type ResponseMeter } from "../../formats/chat/meter.ts"
import { isArray, isInteger, isObject, type Json, objectsOf } from "../../support/text/json.ts"
import type { InferenceRequest } from "../inference-request.ts"
import type { UpstreamRequest } from "../../formats/upstream.ts"
import { plainReader } from "../../formats/readers/plain.ts"
import type { Target } from "../../routing/target.ts"
import type { ResponseReader } from "../../formats/readers/reader.ts"
import { promptMessages } from "../input/prompt-messages.ts"
import { maxTokensIn } from "../../support/tokens.ts"
import { forwardedFields, plainRequest, SPECIAL_TOKENS, tokensIn } from "./media-request.ts"
import type { ImageRequest, SpeechRequest, TranscriptionRequest, VideoRequest } from "./schemas.ts"

/** Upstream request, response reader and billable units of each media endpoint. */

const imageReader = meter(
  plainReader((response) => imagesIn(response).length > 0 && imagesIn(response).every(isImage)),
  (response, generated) => {
    generated.pictures = Math.max(1, imagesIn(response).length)
  },
)

/** The images of a response; SiliconFlow has them in `images`. */
function imagesIn({ data, images }: Json): Json[] {
  return objectsOf(isArray(data) ? data : images)
}

function isImage(image: Json): boolean {
  return typeof image["b64_json"] === "string" || typeof image["url"] === "string"
}

export function imageRequest(request: ImageRequest): InferenceRequest {
  const { input_references: references } = request
  return toImageRequest(request, isArray(references) ? references.length : 0, (body) => ({
    reader: imageReader,
    path: "/images/generations",
    body,
  }))
}

/** Input images of an edit, sent as they are. */
export type ImageFiles = { images: readonly File[]; mask: File | undefined }

export function imageEditRequest(request: ImageRequest, { images, mask }: ImageFiles): InferenceRequest {
  return toImageRequest(request, images.length + (mask ? 1 : 0), (body) => {
    const form = toForm(body)
    // Some providers accept only this name for one image.
    for (const image of images) form.append(images.length === 1 ? "image" : "image[]", image)
    if (mask) form.append("mask", mask)
    return { reader: imageReader, path: "/images/edits", body, form }
  })
}

/** Charged per input image, per generated image and per counted token. */
function toImageRequest(
  request: ImageRequest,
  inputImages: number,
  toUpstream: (body: Json) => UpstreamRequest,
): InferenceRequest {
  const { prompt, n } = request
  return plainRequest(request, {
    apiType: "image",
    output: "image",
    promptBound: maxTokensIn(prompt) + SPECIAL_TOKENS + inputImages * TOKENS_PER_MEDIA_PART,
    promptEstimate: tokensIn(prompt),
    messages: promptMessages([prompt]),
    completionBound: TOKENS_PER_MEDIA_PART,
    pieces: { images: inputImages, pictures: n ?? 1 },
    buildUpstreamRequest: (outgoing) => toUpstream({ ...forwardedFields(request, outgoing), ...(n != null && { n }) }),
    complete: ({ images, data, ...response }, { tokens: { prompt: promptTokens, completion } }) => ({
      ...response,
      data: imagesIn({ data, images }),
      created: Math.floor(typeof response["created"] === "number" ? response["created"] : Date.now() / 1_000),
      usage: {
        // The names of OpenAI's API, which its clients require.
        input_tokens: promptTokens,
        input_tokens_details: { text_tokens: promptTokens, image_tokens: 0 },
        output_tokens: completion,
        ...(isObject(response["usage"]) ? response["usage"] : {}),
        prompt_tokens: promptTokens,
        completion_tokens: completion,
        total_tokens: promptTokens + completion,
      },
    }),
  })
}

/** Media subtype per audio format, for providers that send no content type. */
const AUDIO_TYPES: Record<string, string> = {
  wav: "wav",
  opus: "ogg",
  aac: "aac",
  flac: "flac",
  pcm: "pcm",
  mp3: "mpeg",
}

/** Charged per character that the model reads, because providers count no tokens for speech. */
export function speechRequest(request: SpeechRequest): InferenceRequest {
  const { input, instructions } = request
  const length = input.length + (instructions?.length ?? 0)
  return plainRequest(request, {
    apiType: "tts",
    output: "speech",
    promptBound: length,
    promptEstimate: length,
    messages: promptMessages([input], instructions),
    buildUpstreamRequest: (outgoing) => ({
      reader: plainReader(() => false),
      path: "/audio/speech",
      body: forwardedFields(request, outgoing),
      bytes: /^(?:audio\/|(?:application|binary)\/octet-stream$)/,
      bytesType: `audio/${AUDIO_TYPES[request.response_format ?? "mp3"] ?? "mpeg"}`,
    }),
  })
}

const transcriptionReader = meter(
  plainReader(({ text }) => typeof text === "string"),
  ({ usage, duration }, generated) => {
    const counts = isObject(usage) ? usage : {}
    const reported = [counts["seconds"], counts["duration"], counts["prompt_audio_seconds"], duration]
    const seconds = reported.map(toSeconds).find((one) => one !== undefined)
    if (seconds !== undefined) generated.seconds = seconds
  },
)

/** No audio file has fewer bytes per second, so this bounds its duration before it is decoded. */
const MIN_BYTES_PER_SECOND = 1_000
const MAX_SECONDS = 1_000_000

function toSeconds(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 && value <= MAX_SECONDS ? value : undefined
}

/** A transcription request without its audio, which is passed separately. */
export type Transcription = Record<string, unknown> &
  Pick<TranscriptionRequest, "model" | "provider" | "response_format" | "session_id" | "user">

export type AudioFile = { bytes: Uint8Array; name: string; type: string }

/** Charged per second, or per counted token. */
export function transcriptionRequest(
  request: Transcription,
  file: AudioFile,
  api: "transcriptions" | "translations",
): InferenceRequest {
  const prompt = typeof request["prompt"] === "string" ? request["prompt"] : ""
  return plainRequest(request, {
    apiType: "stt",
    output: "transcription",
    promptBound: maxTokensIn(prompt) + TOKENS_PER_MEDIA_PART,
    promptEstimate: tokensIn(prompt),
    messages: promptMessages([prompt]),
    completionBound: TOKENS_PER_MEDIA_PART,
    pieces: { images: 0, seconds: Math.ceil(file.bytes.byteLength / MIN_BYTES_PER_SECOND) },
    buildUpstreamRequest: (outgoing): UpstreamRequest => {
      const { input_audio: _, ...body } = forwardedFields(request, outgoing)
      const form = toForm(body)
      form.append("file", new File([file.bytes], file.name, { type: file.type }))
      return { reader: transcriptionReader, path: `/audio/${api}`, body, form }
    },
    complete: ({ segments, ...response }) => ({
      ...response,
      ...(isArray(segments) && { segments: withSegmentIds(segments) }),
    }),
  })
}

/** Segments with their position as id, which strict clients require and some providers leave out. */
function withSegmentIds(segments: unknown[]): Json[] {
  return objectsOf(segments).map((one, at) => ({ ...one, id: isInteger(one["id"]) ? one["id"] : at }))
}

/** Providers accept files only in a multipart form. */
function toForm(fields: Json): FormData {
  const form = new FormData()
  for (const [key, value] of Object.entries(fields)) {
    const values = isArray(value) ? value : [value]
    const name = isArray(value) ? `${key}[]` : key
    for (const fieldValue of values)
      form.append(name, typeof fieldValue === "string" ? fieldValue : JSON.stringify(fieldValue))
  }
  return form
}

/** Decodes the base64 audio of a JSON request. */
export function toAudioFile({ data, format }: TranscriptionRequest["input_audio"]): AudioFile {
  const bytes = decodeBase64(data.replace(/^data:[^,]*,/, ""))
  if (!bytes || bytes.byteLength === 0) {
    throw new GatewayError("invalid_request", "input_audio.data: must be base64-encoded audio.")
  }
  const safe = /^[a-z0-9]{1,8}$/i.test(format) ? format.toLowerCase() : "wav"
  return { bytes, name: `audio.${safe}`, type: `audio/${safe}` }
}

const ASSUMED_VIDEO_SECONDS = 60
const videoReader = plainReader(({ id }) => typeof id === "string" && id !== "")

/** Charged per second when the job is created: its result is known only minutes later. */
export function videoRequest(
  request: VideoRequest,
  toJob: (job: Json, by: Target | undefined) => Json,
): InferenceRequest {
  const { duration, seconds: asText } = request
  if (duration != null && asText != null && duration !== Number(asText)) {
    throw new GatewayError("invalid_request", `seconds: differs from duration (${duration}); send one of them.`)
  }
  const seconds = duration ?? (asText == null ? undefined : Number(asText))
  const normalized = plainRequest(request, {
    apiType: "video",
    output: "video",
    promptBound: maxTokensIn(request.prompt ?? ""),
    promptEstimate: tokensIn(request.prompt ?? ""),
    messages: promptMessages([request.prompt ?? ""]),
    pieces: { images: 0, pictures: 1, seconds: seconds ?? ASSUMED_VIDEO_SECONDS },
    buildUpstreamRequest: (outgoing, { quirks }) => {
      const { duration: _, seconds: __, ...body } = forwardedFields(request, outgoing)
      // The OpenAI API names the length `seconds` and takes it as a string.
      const length = seconds === undefined ? {} : quirks.isStrict ? { seconds: String(seconds) } : { duration: seconds }
      return { reader: videoReader, path: "/videos", body: { ...body, ...length } }
    },
  })
  return {
    ...normalized,
    encoderFor: (call) => {
      const encoder = normalized.encoderFor(call)
      return {
        ...encoder,
        document: (...reported) => ({
          ...toJob(encoder.document(...reported), call.servingTarget),
          generation_id: call.draft.id,
        }),
      }
    },
  }
}

/** Wraps a reader to also count the generated units. */
function meter(
  apiFormat: ResponseReader,
  take: (response: Json, generated: ResponseMeter["generated"]) => void,
): ResponseReader {
  return {
    ...apiFormat,
    read: (state, response) => {
      apiFormat.read(state, response)
      take(response, state.generated)
    },
  }
}
