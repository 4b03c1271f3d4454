import * as z from "zod"
import { ModelPrices, PriceListOrNull } from "../money/price-list.ts"

const tokensOrNull = z.int().nullable()
const statistics = z.object({ p50: z.number(), p75: z.number(), p90: z.number(), p99: z.number() }).nullable()

const Architecture = z
  .object({
    modality: z.string().nullable().meta({ example: "text+image->text" }),
    input_modalities: z.array(z.string()),
    output_modalities: z.array(z.string()),
    tokenizer: z.string(),
    instruct_type: z.string().nullable(),
  })
  .meta({ id: "ModelArchitecture" })

/** A model as clients see it, with the prices of its cheapest endpoint. */
export const Model = z
  .object({
    id: z.string().meta({ example: "openai/gpt-5.5" }),
    object: z.literal("model"),
    owned_by: z.string().meta({ description: "The author.", example: "openai" }),
    canonical_slug: z.string(),
    name: z.string(),
    description: z.string(),
    created: z.int().meta({ description: "Unix seconds; 0 if unknown." }),
    context_length: tokensOrNull,
    architecture: Architecture,
    pricing: ModelPrices,
    top_provider: z.object({
      is_moderated: z.boolean(),
      context_length: tokensOrNull,
      max_completion_tokens: tokensOrNull,
    }),
    supported_parameters: z.array(z.string()),
    default_parameters: z.record(z.string(), z.number().nullable()).nullable(),
    per_request_limits: z.object({ prompt_tokens: z.number(), completion_tokens: z.number() }).nullable(),
    supported_voices: z.array(z.string()).nullable(),
    hugging_face_id: z.string().nullable(),
    expiration_date: z.string().nullable(),
    knowledge_cutoff: z.string().nullable(),
    links: z.object({ details: z.string().meta({ example: "/api/v1/models/openai/gpt-5.5/endpoints" }) }),
  })
  .meta({ id: "Model" })
export type Model = z.infer<typeof Model>

export const ModelList = z
  .object({
    object: z.literal("list"),
    data: z.array(Model),
    links: z.object({ next: z.string().nullable().meta({ description: "Path of the next page." }) }),
    total_count: z.int(),
  })
  .meta({ id: "ModelList" })
export type ModelList = z.infer<typeof ModelList>

/** Its context length is always a number. */
const EmbeddingsModel = Model.extend({
  context_length: z.int().meta({ description: "Tokens; 0 if unknown." }),
}).meta({ id: "EmbeddingsModel" })

export const EmbeddingsModelList = ModelList.extend({ data: z.array(EmbeddingsModel) }).meta({
  id: "EmbeddingsModelList",
})

/** The same with the fields of Anthropic's API. */
export const MessagesModel = Model.extend({
  type: z.literal("model"),
  display_name: z.string(),
  created_at: z.iso.datetime(),
  max_input_tokens: tokensOrNull,
  max_tokens: tokensOrNull,
  lifecycle: z.literal("active"),
  line: z.null(),
  capabilities: z.null(),
  deprecated_at: z.null(),
  retires_at: z.null(),
}).meta({ id: "MessagesModel" })
export type MessagesModel = z.infer<typeof MessagesModel>

export const MessagesModelList = ModelList.extend({
  data: z.array(MessagesModel),
  first_id: z.string().nullable(),
  last_id: z.string().nullable(),
  has_more: z.boolean(),
}).meta({ id: "MessagesModelList" })
export type MessagesModelList = z.infer<typeof MessagesModelList>

export const ModelDetail = z.object({ data: Model }).meta({ id: "ModelDetail" })
export const ModelCount = z.object({ data: z.object({ count: z.int() }) }).meta({ id: "ModelCount" })

/** A model at one provider. Measurements are null until there are any. */
export const PublicEndpoint = z
  .object({
    name: z.string().meta({ example: "OpenAI | openai/gpt-5.5" }),
    model_id: z.string(),
    model_name: z.string(),
    provider_name: z.string(),
    tag: z.string().meta({ description: "Provider slug." }),
    context_length: z.int(),
    max_completion_tokens: tokensOrNull,
    max_prompt_tokens: tokensOrNull,
    pricing: ModelPrices,
    quantization: z.string().nullable(),
    supported_parameters: z.array(z.string()),
    native_tools: z.record(z.string(), z.string()).meta({
      description: "Always empty: server tools run in the gateway. Newer clients require the field.",
    }),
    service_tier: z.null().meta({ description: "Always null: a request chooses its tier with `service_tier`." }),
    supports_diarization: z.literal(false).meta({ description: "Always false: not known." }),
    supports_implicit_caching: z.boolean(),
    supports_tool_choice: z.object({
      auto: z.boolean(),
      function: z.boolean(),
      none: z.boolean(),
      required: z.boolean(),
    }),
    latency_last_30m: statistics,
    throughput_last_30m: statistics,
    uptime_last_5m: z.number().nullable(),
    uptime_last_30m: z.number().nullable(),
    uptime_last_1d: z.number().nullable(),
  })
  .meta({ id: "PublicEndpoint" })
export type PublicEndpoint = z.infer<typeof PublicEndpoint>

export const ModelEndpoints = z
  .object({
    data: z.object({
      id: z.string(),
      name: z.string(),
      description: z.string(),
      created: z.int(),
      architecture: Architecture,
      endpoints: z.array(PublicEndpoint),
    }),
  })
  .meta({ id: "ModelEndpoints" })
export type ModelEndpoints = z.infer<typeof ModelEndpoints>

export const EndpointList = z.object({ data: z.array(PublicEndpoint) }).meta({ id: "EndpointList" })

const ProviderListing = z
  .object({
    name: z.string(),
    slug: z.string(),
    headquarters: z.string().nullable().meta({ description: "ISO 3166-1 alpha-2." }),
    datacenters: z.array(z.string()).nullable(),
    privacy_policy_url: z.string().nullable(),
    terms_of_service_url: z.string().nullable(),
    status_page_url: z.string().nullable(),
    disabled: z.boolean().meta({ description: "The operator has stopped it: it gets no calls." }),
    batch_price_percent: z.number().optional().meta({
      description: "Price of a request in its batches, as a fraction of the normal price. Absent without batches.",
    }),
  })
  .meta({ id: "Provider" })
export type ProviderListing = z.infer<typeof ProviderListing>

export const ProviderList = z.object({ data: z.array(ProviderListing) }).meta({ id: "ProviderList" })

/**
 * `author/slug`, as path parameters. The slug includes a variant suffix, and further slashes for models of a custom
 * provider.
 */
export const ModelPath = z.object({
  author: z.string().meta({ example: "openai" }),
  slug: z.string().meta({ example: "gpt-5.5" }),
})
export type ModelPath = z.infer<typeof ModelPath>

export const OverrideBody = z
  .strictObject({
    model: z.string(),
    provider: z.string(),
    pricing: PriceListOrNull.optional().describe("The operator's price; null restores the price of the catalogue."),
    disabled: z.boolean().optional(),
  })
  .refine(({ pricing, disabled }) => pricing !== undefined || disabled !== undefined, {
    error: "needs pricing or disabled",
  })
  .meta({ id: "EndpointOverride" })

export const GeminiModel = z
  .object({
    name: z.string(),
    baseModelId: z.string(),
    version: z.string(),
    displayName: z.string(),
    description: z.string(),
    inputTokenLimit: z.int().optional(),
    outputTokenLimit: z.int().optional(),
    supportedGenerationMethods: z.array(z.string()),
    thinking: z.boolean(),
  })
  .meta({ id: "GeminiModel" })
export type GeminiModel = z.infer<typeof GeminiModel>

export const GeminiModelList = z
  .object({ models: z.array(GeminiModel), nextPageToken: z.string().optional() })
  .meta({ id: "GeminiModelList" })
export type GeminiModelList = z.infer<typeof GeminiModelList>
