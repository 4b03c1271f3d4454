import * as z from "zod"
import type { Provider } from "../providers/provider.ts"
import type * as catalogue from "./catalogue.ts"
import { PriceListOrNull } from "../money/price-list.ts"
import { INPUTS, OUTPUTS } from "./lists/search.ts"
import type { StoredEndpoint, StoredModel } from "./store.ts"

const ID_RULE = "must be author/slug, with letters, digits and . _ - : @ + ~"
const modalities = (values: readonly string[]) =>
  z
    .array(z.enum(values, { error: `accepts ${values.join(", ")}` }))
    .min(1)
    .default(["text"])
const count = (description: string) => z.int().min(0).meta({ description })
const tokens = z.int().min(0).max(100_000_000)

const Facts = z.strictObject({
  name: z.string().min(1),
  description: z.string().default(""),
  created: z.int().min(0).default(0).meta({ description: "Unix seconds." }),
  context_length: tokens.default(0).meta({ description: "Tokens; 0 when it is not known." }),
  input_modalities: modalities(INPUTS),
  output_modalities: modalities(OUTPUTS),
  tokenizer: z.string().default("Other"),
  knowledge_cutoff: z.iso.date().nullable().default(null),
})

const Offer = z.strictObject({
  provider: z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, { error: "must be a provider slug" }),
  upstream_id: z.string().min(1).meta({ description: "Id of the model at the provider." }),
  pricing: PriceListOrNull,
  context_length: tokens.default(0),
  max_completion_tokens: tokens.nullable().default(null),
  supported_parameters: z.array(z.string()).default([]),
  quantization: z.string().nullable().default(null),
  zero_retention: z.boolean().default(false).meta({ description: "Stores nothing of a request." }),
  collects_data: z.boolean().default(true).meta({ description: "May store or train on requests." }),
})

const CatalogueModel = z
  .strictObject({
    id: z
      .string()
      .max(200)
      .regex(/^[\w.~-]+(?:\/[\w.:@+~-]+)+$/, { error: ID_RULE })
      .meta({ example: "openai/gpt-5.5" }),
    ...Facts.shape,
    endpoints: z.array(Offer).refine((offers) => isUnique(offers.map(({ provider }) => provider)), {
      error: "has a provider twice",
    }),
  })
  .meta({ id: "CatalogueModel" })

export const CatalogueBody = z
  .strictObject({
    source: z
      .enum(["seed", "operator"])
      .default("operator")
      .meta({ description: "A seed never replaces an operator's row." }),
    date: z.iso.date().optional().meta({ description: "Date of the seed's data.", example: "2026-11-24" }),
    complete: z.boolean().default(false).meta({
      description:
        "The seed is complete: models and endpoints of earlier seeds that it does not name are removed, except those that an operator has priced or disabled.",
    }),
    models: z
      .array(CatalogueModel)
      .min(1)
      .max(2_000)
      .refine((models) => isUnique(models.map(({ id }) => id)), { error: "has a model twice" }),
  })
  .refine(({ source, complete }) => source === "seed" || !complete, {
    error: "is only for source seed: an operator's models stay until they are changed",
    path: ["complete"],
  })
  .meta({ id: "CatalogueBody" })
export type CatalogueBody = z.infer<typeof CatalogueBody>

export const CatalogueWritten = z
  .object({
    data: z.object({
      models: count("Models that were written."),
      endpoints: count("Their endpoints."),
      removed_models: count("Models of earlier seeds that were removed."),
      removed_endpoints: count("Endpoints of earlier seeds that were removed."),
    }),
  })
  .meta({ id: "CatalogueWritten" })

export const ProviderSwitchBody = z
  .strictObject({
    provider: z.string().meta({ description: "Slug of a configured or known provider.", example: "openai" }),
    disabled: z
      .boolean()
      .meta({ description: "true: it gets no calls, with neither the gateway's keys nor BYOK credentials." }),
  })
  .meta({ id: "ProviderSwitch" })

export const ProviderSwitchResult = z
  .object({
    data: z.object({
      provider: z.string(),
      disabled: z.boolean().meta({ description: "Whether calls to it are stopped." }),
      disabled_providers: z.array(z.string()).meta({ description: "All providers that are stopped." }),
    }),
  })
  .meta({ id: "ProviderSwitchResult" })

export const DiscoverBody = z
  .strictObject({
    providers: z
      .array(z.string())
      .min(1)
      .optional()
      .meta({ description: "Slugs; if omitted, every configured provider.", example: ["openai"] }),
  })
  .meta({ id: "DiscoverBody" })

export const DiscoverResult = z
  .object({
    data: z.array(
      z.object({
        provider: z.string().meta({ description: "Slug.", example: "openai" }),
        models: count("Models that the provider lists."),
        added: count("Models that were not in the catalogue."),
        removed: count("Models that the provider no longer lists, removed from the catalogue."),
        unpriced: count("Endpoints of the provider without a price, which cannot be called."),
        error: z.string().nullable().meta({ description: "Why the models could not be listed." }),
        key_errors: z.array(z.string()).meta({ description: "Numbers of the keys that the provider rejected." }),
      }),
    ),
  })
  .meta({ id: "DiscoverResult" })

const row = { source: z.enum(["seed", "operator"]), updated_at: z.iso.datetime() }

const StoredOffer = z
  .object({
    ...Offer.shape,
    ...row,
    price_override: PriceListOrNull,
    disabled: z.boolean(),
    configured: z.boolean().meta({ description: "The provider's secret is set." }),
  })
  .meta({ id: "StoredEndpoint" })

export const OverrideResult = z.object({ data: StoredOffer }).meta({ id: "StoredEndpointResult" })

export const CatalogueRows = z
  .object({
    data: z.array(z.object({ id: z.string(), ...Facts.shape, ...row, endpoints: z.array(StoredOffer) })),
    total_count: z.int(),
    disabled_providers: z.array(z.string()).meta({ description: "Slugs of providers that are stopped." }),
    seed_date: z.string().nullable().meta({ description: "Date of the data of the last seed.", example: "2026-11-24" }),
  })
  .meta({ id: "CatalogueRows" })

export function toCatalogueModels(body: CatalogueBody): catalogue.Model[] {
  return body.models.map(({ endpoints, ...model }) => ({
    id: model.id,
    name: model.name,
    description: model.description,
    created: model.created,
    contextLength: model.context_length,
    inputModalities: model.input_modalities,
    outputModalities: model.output_modalities,
    tokenizer: model.tokenizer,
    knowledgeCutoff: model.knowledge_cutoff,
    endpoints: endpoints.map((offer) => ({
      model: model.id,
      provider: offer.provider,
      upstreamId: offer.upstream_id,
      pricing: offer.pricing,
      contextLength: offer.context_length,
      maxCompletionTokens: offer.max_completion_tokens,
      supportedParameters: offer.supported_parameters,
      quantization: offer.quantization,
      zeroRetention: offer.zero_retention,
      collectsData: offer.collects_data,
    })),
  }))
}

export function toStoredModel({ id, source, facts, updatedAt, endpoints }: StoredModel, providers: Providers) {
  return {
    id,
    source,
    name: facts.name,
    description: facts.description,
    created: facts.created,
    context_length: facts.contextLength,
    input_modalities: [...facts.inputModalities],
    output_modalities: [...facts.outputModalities],
    tokenizer: facts.tokenizer,
    knowledge_cutoff: facts.knowledgeCutoff,
    updated_at: new Date(updatedAt).toISOString(),
    endpoints: endpoints.map((endpoint) => toStoredOffer(endpoint, providers)),
  }
}

type Providers = ReadonlyMap<string, Provider>

export function toStoredOffer(endpoint: StoredEndpoint, providers: Providers): z.infer<typeof StoredOffer> {
  const { provider, source, facts, priceOverride, disabled, updatedAt } = endpoint
  return {
    provider,
    source,
    configured: providers.has(provider),
    disabled,
    upstream_id: facts.upstreamId,
    pricing: facts.pricing,
    price_override: priceOverride,
    context_length: facts.contextLength,
    max_completion_tokens: facts.maxCompletionTokens,
    supported_parameters: [...facts.supportedParameters],
    quantization: facts.quantization,
    zero_retention: facts.zeroRetention,
    collects_data: facts.collectsData,
    updated_at: new Date(updatedAt).toISOString(),
  }
}

function isUnique(values: readonly string[]): boolean {
  return new Set(values).size === values.length
}
