import { inDeclaredRegion } from "../../byok/usable-credentials.ts"
import { callerOf, type Caller } from "../../policy/call-policy.ts"
import { createRoute } from "@hono/zod-openapi"
import type { Context, MiddlewareHandler } from "hono"
import * as z from "zod"
import { GatewayError } from "../../errors/errors.ts"
import { acceptJson, acceptJsonOrForm, newRouter } from "../../http/router.ts"
import { jsonBody, ok, queryIntegerOr } from "../../http/schema.ts"
import { withoutCosts } from "../../formats/usage.ts"
import { regionOf } from "../../http/request/region.ts"
import type { App } from "../../access/app.ts"
import { isObject, parseJson } from "../../support/text/json.ts"
import { readText } from "../../support/text/read-text.ts"
import { messageFilterOf } from "../../guardrails/create-screening.ts"
import { reachableProviders } from "../../providers/configured.ts"
import { isInRegion, type Provider, providerUrl } from "../../providers/provider.ts"
import { masterKeysOf } from "../../secrets/master-key.ts"
import { createDeps, FAILURES, incomingCall, MAX_INFERENCE_BYTES, requestMetaOf } from "../context.ts"
import { modelOrDefault } from "../input/defaults.ts"
import type { InferenceRequest } from "../inference-request.ts"
import { handlePlainInference } from "../pipeline.ts"
import type { Deps } from "../deps.ts"
import { MAX_FORM_BYTES, readImageEdit, readTranscription } from "./forms.ts"
import { moderationRequest, withModerationModel } from "./moderation.ts"
import { imageEditRequest, imageRequest, speechRequest, transcriptionRequest, videoRequest } from "./requests.ts"
import { rerankRequest } from "./rerank.ts"
import {
  ImageRequest,
  ImageResult,
  ModerationRequest,
  ModerationResult,
  RerankRequest,
  RerankResult,
  SpeechRequest,
  TranscriptionRequest,
  TranscriptionResult,
  VideoJob,
  VideoRequest,
} from "./schemas.ts"
import { withProviderFormat, writeTranscript } from "./transcript-formats.ts"
import {
  makerOf,
  type Order,
  readJobId,
  requireVisibleJob,
  toJob,
  toJobId,
  orderInit,
  videoType,
} from "./video-jobs.ts"
import { resourceScopeOf } from "../../access/principal.ts"

const post = <Path extends string>(path: Path, operationId: string, summary: string) => ({
  method: "post" as const,
  path,
  operationId,
  tags: ["Media"],
  summary,
  middleware: [acceptJson(MAX_INFERENCE_BYTES)] as [MiddlewareHandler<App>],
})

const rerank = createRoute({
  ...post("/rerank", "rerank", "Rank documents by relevance"),
  request: { body: jsonBody(RerankRequest) },
  responses: { 200: ok(RerankResult, "The most relevant first."), ...FAILURES },
})

const moderations = createRoute({
  ...post("/moderations", "createModeration", "Classify texts and images"),
  request: { body: jsonBody(ModerationRequest) },
  responses: { 200: ok(ModerationResult, "A result for each text, or one for all parts."), ...FAILURES },
})

const images = <Path extends string>(path: Path, operationId: string) =>
  createRoute({
    ...post(path, operationId, "Create images"),
    request: { body: jsonBody(ImageRequest) },
    responses: { 200: ok(ImageResult, "The images."), ...FAILURES },
  })

const speech = createRoute({
  ...post("/audio/speech", "createSpeech", "Create speech"),
  request: { body: jsonBody(SpeechRequest) },
  responses: { 200: { description: "The audio.", content: { "audio/*": { schema: z.unknown() } } }, ...FAILURES },
})

const TRANSCRIPT = {
  ...ok(TranscriptionResult, "The text; with `response_format` `text`, `srt` or `vtt` as such."),
  content: {
    ...ok(TranscriptionResult, "").content,
    "text/plain": { schema: z.string() },
    "text/vtt": { schema: z.string() },
  },
}

const transcripts = <Path extends string>(path: Path, operationId: string, summary: string) =>
  createRoute({
    ...post(path, operationId, summary),
    description: "Takes JSON with the audio in base64, or `multipart/form-data` with a `file`.",
    middleware: [acceptJsonOrForm(MAX_FORM_BYTES)] as const,
    responses: { 200: TRANSCRIPT, ...FAILURES },
  })

const imageEdits = createRoute({
  ...post("/images/edits", "editImages", "Edit images"),
  description:
    "Takes `multipart/form-data`: a part `image` or several `image[]`, an optional `mask`, and the fields of `POST /images`.",
  middleware: [acceptJsonOrForm(MAX_FORM_BYTES)] as const,
  responses: { 200: ok(ImageResult, "The images."), ...FAILURES },
})

const videos = createRoute({
  ...post("/videos", "createVideo", "Create a video"),
  request: { body: jsonBody(VideoRequest) },
  responses: { 202: ok(VideoJob, "The video job. Poll it at polling_url."), ...FAILURES },
})

const JobPath = z.object({ jobId: z.string().min(1).max(2_048) })

const VideoQuery = z.object({
  index: queryIntegerOr(0, 0, Number.MAX_SAFE_INTEGER, "must be an integer of at least 0").meta({
    description: "Which video of the job. A job makes one video, so any other than 0 is not found.",
  }),
})

const videoJob = createRoute({
  method: "get",
  path: "/videos/{jobId}",
  operationId: "getVideo",
  tags: ["Media"],
  summary: "Get a video job",
  request: { params: JobPath },
  responses: { 200: ok(VideoJob, "The video job."), ...FAILURES },
})

const videoContent = createRoute({
  method: "get",
  path: "/videos/{jobId}/content",
  operationId: "getVideoContent",
  tags: ["Media"],
  summary: "Download a video",
  request: { params: JobPath, query: VideoQuery },
  responses: { 200: { description: "The video.", content: { "video/mp4": { schema: z.unknown() } } }, ...FAILURES },
})

/** Both names of the routing metadata. */
const METADATA = ["service_metadata", "openrouter_metadata"]

function withImageModel(request: z.infer<typeof ImageRequest>, { defaults }: Caller) {
  return { ...request, model: modelOrDefault(request.model, defaults.imageModel) }
}

/** Runs the call. The cast: a route's type describes JSON that the handler builds, not a response of the pipeline. */
async function respond<Request extends object>(
  c: Context<App>,
  request: Request,
  toRequest: (request: Request) => InferenceRequest,
  finish: (response: Response) => Promise<Response> = async (response) => response,
): Promise<never> {
  const incoming = incomingCall(c)
  const call = { body: request, meta: requestMetaOf(incoming), caller: incoming.caller }
  return (await finish(await handlePlainInference(call, toRequest, await createDeps(incoming)))) as never
}

async function transcribe(c: Context<App>, api: "transcriptions" | "translations"): Promise<never> {
  const { request, file } = await readTranscription({ raw: c.req.raw, json: () => c.req.json() })
  const toRequest = (body: typeof request) => transcriptionRequest(body, file, api)
  const write = (response: Response) => writeTranscript(response, request.response_format ?? "json")
  return respond(c, withProviderFormat(request), toRequest, write)
}

export const media = newRouter({ relaysText: true })
  .openapi(rerank, (c) => respond(c, c.req.valid("json"), rerankRequest))
  .openapi(moderations, (c) => respond(c, withModerationModel(c.req.valid("json")), moderationRequest))
  .openapi(images("/images", "createImage"), (c) =>
    respond(c, withImageModel(c.req.valid("json"), callerOf(c.var.principal)), imageRequest),
  )
  // Path of the OpenAI API.
  .openapi(images("/images/generations", "createImageGeneration"), (c) =>
    respond(c, withImageModel(c.req.valid("json"), callerOf(c.var.principal)), imageRequest),
  )
  .openapi(speech, (c) => respond(c, c.req.valid("json"), speechRequest))
  .openapi(imageEdits, async (c) => {
    const { request, files } = await readImageEdit(c.req.raw)
    return respond(c, withImageModel(request, callerOf(c.var.principal)), (edit) => imageEditRequest(edit, files))
  })
  .openapi(transcripts("/audio/transcriptions", "createTranscription", "Transcribe audio"), (c) =>
    transcribe(c, "transcriptions"),
  )
  .openapi(transcripts("/audio/translations", "createTranslation", "Translate audio to English text"), (c) =>
    transcribe(c, "translations"),
  )
  .openapi(videos, async (c) => {
    const { workspaceId } = c.var.principal
    const maker = makerOf(resourceScopeOf(c.var.principal))
    const base = new URL(c.req.url).origin + c.req.path
    const masterKey = c.env.MASTER_KEY ?? ""
    let order: Pick<Order, "provider" | "upstreamId" | "credentialId"> | undefined
    const response: Response = await respond(c, c.req.valid("json"), (request) =>
      videoRequest(request, (result, by) => {
        order = {
          provider: by?.provider.slug ?? "",
          upstreamId: String(result["id"]),
          credentialId: by?.byok?.id ?? null,
        }
        return result
      }),
    )
    const result = await response.json<Record<string, unknown>>()
    const id = await toJobId({ ...NO_ORDER, ...order, workspaceId, maker }, masterKey)
    const provider = reachableProviders(c.env).get(order?.provider ?? "")
    const routed = METADATA.filter((key) => key in result).map((key) => [key, result[key]] as const)
    const job = {
      ...toJob(result, id, base, { provider, filter: undefined }),
      generation_id: result["generation_id"],
      ...Object.fromEntries(routed),
    }
    return Response.json(job, { status: 202, headers: response.headers }) as never
  })
  .openapi(videoJob, async (c) => {
    const { jobId } = c.req.valid("param")
    const { response, provider } = await fetchJob(c, jobId, "")
    const parsed = parseJson((await readText(response, MAX_JOB_BYTES).catch(() => undefined)) ?? "")
    const polled = isObject(parsed) ? parsed : {}
    // The response to POST /videos has the charge. Costs in a polled job are what the operator pays.
    const result = { ...polled, usage: withoutCosts(polled["usage"]) }
    const base = new URL(c.req.url).origin + c.req.path.slice(0, c.req.path.lastIndexOf("/"))
    const filter = messageFilterOf(callerOf(c.var.principal).guardrails)
    return c.json(toJob(result, jobId, base, { provider, filter }) as VideoJob, 200)
  })
  .openapi(videoContent, async (c) => {
    const { index } = c.req.valid("query")
    if (index !== 0) throw new GatewayError("not_found", `index: there is no video ${index}; a job makes one, index 0.`)
    const { response } = await fetchJob(c, c.req.valid("param").jobId, "/content")
    return new Response(response.body, { headers: { "content-type": videoType(response) } })
  })

const NO_ORDER = { provider: "", upstreamId: "", credentialId: null }
const MAX_JOB_BYTES = 1024 * 1024

async function fetchJob(
  c: Context<App>,
  jobId: string,
  path: string,
): Promise<{ response: Response; provider: Provider }> {
  const order = await readJobId(jobId, c.var.principal.workspaceId, masterKeysOf(c.env))
  requireVisibleJob(order, resourceScopeOf(c.var.principal))
  const { upstreamId } = order
  const deps = await createDeps(incomingCall(c))
  const { send } = deps
  const provider = await providerOf(order, deps)
  if (!provider) throw new GatewayError("not_found", "The provider of this video is no longer configured.")
  const region = regionOf(c.req.raw, c.env)
  if (region !== null && !isInRegion(provider, region)) {
    throw new GatewayError("not_found", `The provider of this video is not in the region ${region}.`)
  }
  const url = providerUrl(provider, `/videos/${encodeURIComponent(upstreamId)}${path}`)
  const response = await send(url, orderInit(provider, c.req.raw.signal), provider).catch(() => undefined)
  if (response?.ok) return { response, provider }
  await response?.body?.cancel()
  const { status } = response ?? {}
  if (status === 404) throw new GatewayError("not_found", `${provider.name} no longer has this video.`)
  if (status === 409 || status === 425) throw new GatewayError("conflict", "The video is not ready yet.")
  if (status === 410) throw new GatewayError("gone", "The video has expired.")
  throw new GatewayError("provider_failed", `${provider.name} did not return the video. Retry.`)
}

/** The provider of a video job with the API key that created it. */
async function providerOf({ provider: slug, credentialId }: Order, deps: Deps): Promise<Provider | undefined> {
  if (credentialId === null) return deps.providers.get(slug)
  const key = deps.byok?.keys.find(({ id }) => id === credentialId)
  const provider = deps.byok?.providers.get(slug)
  const apiKey = key && (await deps.openKey(key))
  if (!provider || !key || apiKey === undefined) {
    throw new GatewayError("not_found", "The credential used to create this video no longer exists.")
  }
  return { ...inDeclaredRegion(provider, key), apiKey }
}

// Its routes validate it themselves, since they also take forms.
media.openAPIRegistry.register("TranscriptionRequest", TranscriptionRequest)
