import type { Json } from "../../support/text/json.ts"
import { readJson, toRecord } from "../chat-request.ts"
import { invalid, unknownModel } from "../statuses.ts"
import { EMPTY_MP4, findVideoJob, newVideoJob } from "./video.ts"
import { mediaModels, type MediaModel } from "./models.ts"
import { toPicture } from "./image.ts"
import { decide } from "./moderation.ts"
import { rerank } from "./rerank.ts"
import { BYTES_PER_SECOND, tone, toWav } from "./audio.ts"

type Serve = (request: Request) => Promise<Response>

/** Media endpoints of the embedded upstream, by method and path. */
export const mediaRoutes: readonly (readonly [string, Serve])[] = [
  ["POST /v1/rerank", jsonRoute("rerank", order)],
  ["POST /v1/moderations", jsonRoute("decisions", moderate)],
  ["POST /v1/images/generations", jsonRoute("image", paint)],
  ["POST /v1/audio/speech", jsonRoute("speech", synthesizeSpeech)],
  ["POST /v1/images/edits", edit],
  ["POST /v1/audio/transcriptions", transcribe],
  ["POST /v1/audio/translations", transcribe],
  ["POST /v1/videos", jsonRoute("video", (body) => Response.json(newVideoJob(body)))],
]

const VIDEO_PATH = /^\/v1\/videos\/([^/]+)(\/content)?$/

/** A requested video or its content; undefined for any other path. */
export function findVideo(pathname: string): Response | undefined {
  const [, id, content] = VIDEO_PATH.exec(pathname) ?? []
  if (id === undefined) return undefined
  const order = findVideoJob(decodeURIComponent(id))
  if (!order) return invalid(404, `There is no video '${id}'.`, "id", "video_not_found")
  return content ? new Response(EMPTY_MP4, { headers: { "content-type": "video/mp4" } }) : Response.json(order)
}

function jsonRoute(makes: MediaModel["makes"], respond: (body: Json) => Response): Serve {
  return async (request) => {
    const body = await readJson(request)
    if (body === undefined) return invalid(400, "We could not parse the JSON body of your request.", null, null)
    return rejectModel(toRecord(body)["model"], makes) ?? respond(toRecord(body))
  }
}

function rejectModel(model: unknown, makes: MediaModel["makes"]): Response | undefined {
  return mediaModels.some((one) => one.slug === model && one.makes === makes) ? undefined : unknownModel(String(model))
}

function order({ model, query, documents, top_n: top }: Json): Response {
  if (typeof query !== "string") return invalid(400, "'query' must be a string.", "query", null)
  if (!Array.isArray(documents)) return invalid(400, "'documents' must be an array.", "documents", null)
  const ranked = rerank(query, documents as unknown[], typeof top === "number" ? top : documents.length)
  return Response.json({ id: `rerank-${crypto.randomUUID()}`, model, ...ranked })
}

function moderate({ model, input }: Json): Response {
  const results = decide(input)
  if (!results) return invalid(400, "'input' must be a string, or an array of strings or content parts.", "input", null)
  return Response.json({ id: `modr-${crypto.randomUUID()}`, model, results })
}

function paint({ prompt, n }: Json): Response {
  if (typeof prompt !== "string") return invalid(400, "'prompt' must be a string.", "prompt", null)
  const data = Array.from({ length: typeof n === "number" ? n : 1 }, (_, at) => {
    // The prompt determines two of the colours; the third differs for each image of a response.
    const picture = toPicture(prompt.length & 0xff, prompt.charCodeAt(0) & 0xff, at)
    return { b64_json: btoa(String.fromCharCode(...picture)) }
  })
  return Response.json({ created: Math.floor(Date.now() / 1_000), data })
}

async function edit(request: Request): Promise<Response> {
  const form = await request.formData().catch(() => undefined)
  const images = [...(form?.getAll("image") ?? []), ...(form?.getAll("image[]") ?? [])]
  if (images.length === 0) return invalid(400, "'image' must be a part of the form.", "image", null)
  const { prompt, n } = Object.fromEntries(form ?? [])
  return rejectModel(form?.get("model"), "image") ?? paint({ prompt, n: n === undefined ? 1 : Number(n) })
}

const SOUNDS = new Map([
  ["wav", { type: "audio/wav", encode: toWav }],
  ["pcm", { type: "audio/pcm", encode: (samples: Uint8Array) => samples }],
])

function synthesizeSpeech({ input, response_format: format }: Json): Response {
  if (typeof input !== "string") return invalid(400, "'input' must be a string.", "input", null)
  const sound = typeof format === "string" ? SOUNDS.get(format) : SOUNDS.get("wav")
  if (!sound) return invalid(400, "'response_format' must be wav or pcm.", "response_format", null)
  return new Response(sound.encode(tone(input)), { headers: { "content-type": sound.type } })
}

async function transcribe(request: Request): Promise<Response> {
  const form = await request.formData().catch(() => undefined)
  const file = form?.get("file")
  if (!(file instanceof File)) return invalid(400, "'file' must be a part of the form.", "file", null)
  const rejected = rejectModel(form?.get("model"), "transcription")
  if (rejected) return rejected
  const seconds = Math.ceil(file.size / BYTES_PER_SECOND)
  const transcript = { text: `${file.size} bytes of ${file.type}`, usage: { type: "duration", seconds } }
  if (form?.get("response_format") !== "verbose_json") return Response.json(transcript)
  const task = new URL(request.url).pathname.endsWith("translations") ? "translate" : "transcribe"
  const granularities = form.getAll("timestamp_granularities[]")
  const verbose = { task, language: "english", duration: seconds, ...transcript }
  return Response.json({
    ...verbose,
    ...(!isOnly(granularities, "word") && { segments: [segmentOf(transcript.text, seconds)] }),
    ...(granularities.includes("word") && Object.fromEntries([["words", timestampsOf(transcript.text, seconds)]])),
  })
}

const isOnly = (values: readonly unknown[], one: string) => values.length > 0 && values.every((value) => value === one)

function segmentOf(text: string, end: number): Json {
  const scores = { temperature: 0, avg_logprob: -0.1, compression_ratio: 1, no_speech_prob: 0 }
  return { id: 0, seek: 0, start: 0, end, text, tokens: [], ...scores }
}

/** Word timestamps, evenly distributed over the audio. */
function timestampsOf(text: string, seconds: number): Json[] {
  const pieces = text.split(" ")
  const length = seconds / pieces.length
  return pieces.map((word, at) => ({ word, start: at * length, end: (at + 1) * length }))
}
