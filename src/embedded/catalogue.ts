import type { Endpoint, Model } from "../models/catalogue.ts"
import { COMMON_PARAMETERS, FORMAT_PARAMETERS, MODEL_DEFAULTS, TOOL_PARAMETERS } from "../models/custom-models.ts"
import type { Pricing } from "../money/pricing.ts"
import { mediaModels, type MediaModel } from "./media/models.ts"
import { realtimeModels, type RealtimeModel } from "./realtime/models.ts"
import { embeddedModels, formatSlugs, type EmbeddedModel } from "./models.ts"

const REASONING_PARAMETERS = ["reasoning", "include_reasoning", "reasoning_effort"]

/** Simulated prices: balances change visibly, and cached tokens are cheaper. */
const EMBEDDED_PRICING: Pricing = { prompt: "0.000001", completion: "0.000002", input_cache_read: "0.0000001" }
const EMBEDDINGS_PRICING: Pricing = { prompt: "0.0000001", completion: "0" }
/** Each kind of token has a separate price. */
const REALTIME_PRICING: Pricing = {
  ...EMBEDDED_PRICING,
  audio: "0.000008",
  input_audio_cache: "0.0000004",
  audio_output: "0.000016",
}
const FREE: Pricing = { prompt: "0", completion: "0" }
const MEDIA_PRICING: Record<MediaModel["makes"], Pricing> = {
  rerank: { ...FREE, request: "0.001" },
  decisions: FREE,
  image: { ...FREE, image_output: "0.02" },
  // Per character.
  speech: { ...FREE, prompt: "0.000015" },
  transcription: { ...FREE, second: "0.0001" },
  video: { ...FREE, second: "0.05" },
}
/** The longest scripted response has 4,000. */
const EMBEDDED_MAX_COMPLETION = 4_096
const EMBEDDED_CONTEXT = 128_000

/** When these models were first released, in Unix seconds. */
const EMBEDDED_CREATED = Date.UTC(2026, 10, 22) / 1_000

/** Paths of the embedded upstream, one per API format, and the authors of their models. */
const EMBEDDED_FORMATS = [
  { author: "sim", provider: "embedded", nameSuffix: "", slugs: embeddedModels.map(({ slug }) => slug) },
  { author: "sim-responses", provider: "embedded-responses", nameSuffix: " (Responses)", slugs: formatSlugs },
  { author: "sim-messages", provider: "embedded-messages", nameSuffix: " (Messages)", slugs: formatSlugs },
]

/** The scripted models of the embedded upstream, as `sim/…`, and the same models in the other API formats. */
export const embeddedCatalogue: readonly Model[] = [
  ...EMBEDDED_FORMATS.flatMap(({ author, provider, nameSuffix, slugs }) =>
    embeddedModels
      .filter(({ slug }) => slugs.includes(slug))
      .map((model) => toTextModel({ ...model, name: model.name + nameSuffix }, model.author ?? author, provider)),
  ),
  ...mediaModels.map(toMediaModel),
  ...realtimeModels.map(toRealtimeModel),
]

function toTextModel(model: EmbeddedModel, author: string, provider: string): Model {
  const { slug, embeddings } = model
  const pricing =
    slug.endsWith(":free") || model.author !== undefined ? FREE : embeddings ? EMBEDDINGS_PRICING : EMBEDDED_PRICING
  const supportedParameters = [
    ...(embeddings ? [] : COMMON_PARAMETERS),
    ...(model.tools ? TOOL_PARAMETERS : []),
    ...(model.structured ? FORMAT_PARAMETERS : []),
    ...(model.reasoning ? REASONING_PARAMETERS : []),
  ]
  const offer = { provider, pricing, supportedParameters, maxCompletionTokens: EMBEDDED_MAX_COMPLETION }
  return toEmbeddedModel(`${author}/${slug}`, model, offer, embeddings ? { outputModalities: ["embeddings"] } : {})
}

function toMediaModel(model: MediaModel): Model {
  const { slug, takes, makes } = model
  const pricing = MEDIA_PRICING[makes]
  const offer = { provider: "embedded", pricing, supportedParameters: [], maxCompletionTokens: null }
  return toEmbeddedModel(`sim/${slug}`, model, offer, { inputModalities: [takes], outputModalities: [makes] })
}

function toRealtimeModel(model: RealtimeModel): Model {
  const pricing = REALTIME_PRICING
  const offer = { provider: "embedded", pricing, supportedParameters: [], maxCompletionTokens: EMBEDDED_MAX_COMPLETION }
  const modalities = { inputModalities: ["text", "audio"], outputModalities: ["realtime"] }
  return toEmbeddedModel(`sim/${model.slug}`, model, offer, modalities)
}

function toEmbeddedModel(
  id: string,
  { slug, name, description }: Pick<EmbeddedModel, "slug" | "name" | "description">,
  offer: Pick<Endpoint, "provider" | "pricing" | "supportedParameters" | "maxCompletionTokens">,
  modalities: Partial<Pick<Model, "inputModalities" | "outputModalities">>,
): Model {
  const endpoint: Endpoint = {
    model: id,
    upstreamId: slug,
    ...offer,
    contextLength: EMBEDDED_CONTEXT,
    quantization: null,
    zeroRetention: true,
    collectsData: false,
  }
  return {
    ...MODEL_DEFAULTS,
    id,
    name: id.startsWith("sim") ? `Simulated: ${name}` : `Embedded: ${name}`,
    description,
    created: EMBEDDED_CREATED,
    contextLength: EMBEDDED_CONTEXT,
    ...modalities,
    endpoints: [endpoint],
  }
}
