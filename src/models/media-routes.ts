import { createRoute } from "@hono/zod-openapi"
import * as z from "zod"
import { GatewayError } from "../errors/errors.ts"
import { newRouter } from "../http/router.ts"
import { failures, ok } from "../http/schema.ts"
import { configuredProviders } from "../providers/configured.ts"
import type { Provider } from "../providers/provider.ts"
import type { Model } from "./catalogue.ts"
import { loadCatalogue } from "./compile.ts"
import { type PricedEndpoint, pricedEndpoints } from "./model.ts"
import { ModelPath } from "./schemas.ts"

/** Models that generate images and videos, in the lists that media clients read. Needs no key. */

const capabilities = z.record(z.string(), z.object({ type: z.string() }))

const ImageModel = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    created: z.int().meta({ description: "Unix seconds; 0 if unknown." }),
    architecture: z.object({ input_modalities: z.array(z.string()), output_modalities: z.array(z.string()) }),
    supported_parameters: capabilities,
    supports_streaming: z.boolean(),
    endpoints: z.string().meta({ description: "Path of the list of its endpoints." }),
  })
  .meta({ id: "ImageModel" })

const ImageEndpoint = z
  .object({
    provider_name: z.string(),
    provider_slug: z.string(),
    provider_tag: z.string().nullable(),
    pricing: z.array(z.object({ billable: z.string(), unit: z.string(), cost_usd: z.number() })),
    supported_parameters: capabilities,
    supports_streaming: z.boolean(),
    allowed_passthrough_parameters: z.array(z.string()),
  })
  .meta({ id: "ImageEndpoint" })

const VideoModel = z
  .object({
    id: z.string(),
    canonical_slug: z.string(),
    name: z.string(),
    description: z.string(),
    created: z.int().meta({ description: "Unix seconds; 0 if unknown." }),
    pricing_skus: z
      .record(z.string(), z.string())
      .nullable()
      .meta({ description: "USD per unit, as decimal strings." }),
    allowed_passthrough_parameters: z.array(z.string()),
    // Capabilities are null if the catalogue does not know them.
    creativity: z.array(z.int()).nullable(),
    generate_audio: z.boolean().nullable(),
    seed: z.boolean().nullable(),
    supported_aspect_ratios: z.array(z.string()).nullable(),
    supported_durations: z.array(z.int()).nullable(),
    supported_frame_images: z.array(z.string()).nullable(),
    supported_resolutions: z.array(z.string()).nullable(),
    supported_sizes: z.array(z.string()).nullable(),
    upscale_factor: z.object({ min: z.number().nullable(), max: z.number().nullable() }).nullable(),
  })
  .meta({ id: "VideoModel" })

const listImages = createRoute({
  method: "get",
  security: [],
  path: "/images/models",
  operationId: "listImageModels",
  summary: "List image models",
  tags: ["Models"],
  responses: { 200: ok(z.object({ data: z.array(ImageModel) })), ...failures("internal") },
})

const listImageEndpoints = createRoute({
  method: "get",
  security: [],
  path: "/images/models/{author}/{slug}/endpoints",
  operationId: "listImageModelEndpoints",
  summary: "List the endpoints of an image model",
  tags: ["Models"],
  request: { params: ModelPath },
  responses: {
    200: ok(z.object({ id: z.string(), endpoints: z.array(ImageEndpoint) })),
    ...failures("not_found", "internal"),
  },
})

const listVideos = createRoute({
  method: "get",
  security: [],
  path: "/videos/models",
  operationId: "listVideoModels",
  summary: "List video models",
  tags: ["Models"],
  responses: { 200: ok(z.object({ data: z.array(VideoModel) })), ...failures("internal") },
})

export const mediaModels = newRouter()
  .openapi(listImages, async (c) => {
    const { models } = await loadCatalogue(c.env)
    return c.json({ data: [...models.values()].filter(generates("image")).map(toImageModel) }, 200)
  })
  .openapi(listImageEndpoints, async (c) => {
    const { author, slug } = c.req.valid("param")
    const { models } = await loadCatalogue(c.env)
    const model = models.get(`${author}/${slug}`)
    if (!model || !generates("image")(model)) {
      throw new GatewayError("not_found", `There is no image model ${author}/${slug}. GET /images/models lists them.`)
    }
    const providers = configuredProviders(c.env)
    const endpoints = pricedEndpoints(model).map((endpoint) => toImageEndpoint(endpoint, providers))
    return c.json({ id: model.id, endpoints }, 200)
  })
  .openapi(listVideos, async (c) => {
    const { models } = await loadCatalogue(c.env)
    return c.json({ data: [...models.values()].filter(generates("video")).map(toVideoModel) }, 200)
  })

const generates =
  (modality: string) =>
  (model: Model): boolean =>
    model.outputModalities.includes(modality) && pricedEndpoints(model).length > 0

function toImageEndpoint(
  { provider, pricing, supportedParameters }: PricedEndpoint,
  providers: ReadonlyMap<string, Provider>,
): z.infer<typeof ImageEndpoint> {
  return {
    provider_name: providers.get(provider)?.name ?? provider,
    provider_slug: provider,
    provider_tag: provider,
    pricing: imagePrices(pricing),
    supported_parameters: toCapabilities(supportedParameters),
    supports_streaming: true,
    allowed_passthrough_parameters: [],
  }
}

function imagePrices({ prompt, completion, image, image_output: picture, request }: PricedEndpoint["pricing"]) {
  const entry = (billable: string, unit: string, price: string | undefined) =>
    price === undefined || price === "0" ? [] : [{ billable, unit, cost_usd: Number(price) }]
  return [
    ...entry("output_image", "image", picture),
    ...entry("output_image", "request", request),
    ...entry("output_image", "token", completion),
    ...entry("input_image", "image", image),
    ...entry("input_text", "token", prompt),
  ]
}

function toCapabilities(parameters: readonly string[]): Record<string, { type: string }> {
  return Object.fromEntries(parameters.map((name) => [name, { type: "boolean" }]))
}

function toImageModel(model: Model): z.infer<typeof ImageModel> {
  const { id, name, description, created, inputModalities, outputModalities } = model
  const parameters = new Set(pricedEndpoints(model).flatMap(({ supportedParameters }) => supportedParameters))
  return {
    id,
    name,
    description,
    created,
    architecture: { input_modalities: [...inputModalities], output_modalities: [...outputModalities] },
    supported_parameters: toCapabilities([...parameters]),
    supports_streaming: true,
    endpoints: `/api/v1/images/models/${id}/endpoints`,
  }
}

function toVideoModel(model: Model): z.infer<typeof VideoModel> {
  const { id, name, description, created } = model
  const second = pricedEndpoints(model)[0]?.pricing.second
  return {
    id,
    canonical_slug: id,
    name,
    description,
    created,
    pricing_skus: second === undefined ? null : { second },
    allowed_passthrough_parameters: [],
    creativity: null,
    generate_audio: null,
    seed: null,
    supported_aspect_ratios: null,
    supported_durations: null,
    supported_frame_images: null,
    supported_resolutions: null,
    supported_sizes: null,
    upscale_factor: null,
  }
}
