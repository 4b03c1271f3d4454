import type { Provider } from "../providers/provider.ts"
import { findBuiltInProvider } from "../providers/table.ts"
import type { Endpoint, Model } from "./catalogue.ts"
import type { PriceList } from "../money/price-list.ts"
import type * as schemas from "./schemas.ts"

export type PricedEndpoint = Endpoint & { pricing: PriceList }

/** The endpoints that a call can use, cheapest first: those without a price are never routed to or shown. */
export function pricedEndpoints(model: Model): PricedEndpoint[] {
  return model.endpoints.filter((endpoint): endpoint is PricedEndpoint => endpoint.pricing !== null)
}

/** Parameters that at least one priced endpoint of the model accepts. */
export function supportedParameters(model: Model): string[] {
  return [...new Set(pricedEndpoints(model).flatMap((endpoint) => endpoint.supportedParameters))]
}

/** The model as clients see it; undefined if no endpoint has a known price. */
export function toModel(model: Model): schemas.Model | undefined {
  const [cheapest] = pricedEndpoints(model)
  if (!cheapest) return undefined
  const { aliasOf: canonical = model.id } = model
  return {
    id: model.id,
    object: "model",
    owned_by: canonical.slice(0, canonical.indexOf("/")),
    canonical_slug: canonical,
    name: model.name,
    description: model.description,
    created: model.created,
    context_length: knownTokens(model.contextLength),
    architecture: toArchitecture(model),
    pricing: toPrices(cheapest.pricing),
    top_provider: {
      is_moderated: false,
      context_length: knownTokens(cheapest.contextLength),
      max_completion_tokens: cheapest.maxCompletionTokens,
    },
    supported_parameters: supportedParameters(model),
    default_parameters: null,
    per_request_limits: null,
    supported_voices: null,
    hugging_face_id: null,
    expiration_date: null,
    knowledge_cutoff: model.knowledgeCutoff,
    links: { details: `/api/v1/models/${canonical}/endpoints` },
  }
}

export function toModelEndpoints(
  model: Model,
  providers: ReadonlyMap<string, Provider>,
): schemas.ModelEndpoints["data"] {
  const { id, name, description, created } = model
  const endpoints = pricedEndpoints(model).map((endpoint) => toPublicEndpoint(model, endpoint, providers))
  return { id, name, description, created, architecture: toArchitecture(model), endpoints }
}

export function toPublicEndpoint(
  model: Model,
  endpoint: PricedEndpoint,
  providers: ReadonlyMap<string, Provider>,
): schemas.PublicEndpoint {
  const providerName = providers.get(endpoint.provider)?.name ?? endpoint.provider
  const choosesTools = endpoint.supportedParameters.includes("tool_choice")
  return {
    name: `${providerName} | ${model.id}`,
    model_id: model.id,
    model_name: model.name,
    provider_name: providerName,
    tag: endpoint.provider,
    context_length: endpoint.contextLength || model.contextLength,
    max_completion_tokens: endpoint.maxCompletionTokens,
    max_prompt_tokens: null,
    pricing: toPrices(endpoint.pricing),
    quantization: endpoint.quantization,
    supported_parameters: [...endpoint.supportedParameters],
    native_tools: {},
    service_tier: null,
    supports_diarization: false,
    // A price for cached reads without one for writes means that the provider caches implicitly.
    supports_implicit_caching:
      endpoint.pricing.input_cache_read !== undefined && endpoint.pricing.input_cache_write === undefined,
    supports_tool_choice: {
      auto: choosesTools,
      function: choosesTools,
      none: choosesTools,
      required: choosesTools,
    },
    latency_last_30m: null,
    throughput_last_30m: null,
    uptime_last_5m: null,
    uptime_last_30m: null,
    uptime_last_1d: null,
  }
}

export function toProviderListing(provider: Provider, isDisabled: boolean): schemas.ProviderListing {
  const builtIn = findBuiltInProvider(provider.slug)
  return {
    name: provider.name,
    slug: provider.slug,
    headquarters: builtIn?.headquarters ?? null,
    datacenters: null,
    privacy_policy_url: builtIn?.privacyPolicyUrl ?? null,
    terms_of_service_url: builtIn?.termsOfServiceUrl ?? null,
    status_page_url: builtIn?.statusPageUrl ?? null,
    disabled: isDisabled,
    ...(provider.batches && { batch_price_percent: provider.batches.pricePercent }),
  }
}

/** `request` and `image` are always present: clients of this API read them without checking. */
function toPrices(pricing: PriceList): schemas.Model["pricing"] {
  return { ...pricing, request: pricing.request ?? "0", image: pricing.image ?? "0" }
}

function toArchitecture({ inputModalities, outputModalities, tokenizer }: Model): schemas.Model["architecture"] {
  return {
    modality: `${inputModalities.join("+")}->${outputModalities.join("+")}`,
    input_modalities: [...inputModalities],
    output_modalities: [...outputModalities],
    tokenizer,
    instruct_type: null,
  }
}

function knownTokens(count: number): number | null {
  return count === 0 ? null : count
}
