import { priceToPico } from "../money/money.ts"
import type { Endpoint } from "../models/catalogue.ts"
import type { PriceList } from "../money/price-list.ts"
import { isInRegion } from "../providers/provider.ts"
import type { ProviderPreferences } from "../formats/provider-preferences.ts"
import { isNamed, type Filter } from "../models/lists/endpoint-filter.ts"

/** `used`: the fields of the request, for `require_parameters`. */
export function filtersOf(
  used: Readonly<Record<string, unknown>>,
  preferences: ProviderPreferences,
  region: string | null,
): Filter[] {
  const filters: Filter[] = [
    {
      name: "no price is known",
      command: (model, provider) => `npm run gateway -- catalogue price ${model} ${provider} --prompt 0 --completion 0`,
      keeps: (endpoint) => endpoint.pricing !== null,
    },
  ]
  const add = (name: string, keeps: Filter["keeps"]) => filters.push({ name, keeps })
  const { only, ignore, quantizations, max_price: maxPrice } = preferences
  if (region !== null) add(`not in the region ${region}`, (_, provider) => isInRegion(provider, region))
  if (only?.length)
    add("provider.only excludes them", (endpoint, provider) => only.some((name) => isNamed(name, endpoint, provider)))
  if (ignore?.length)
    add(
      "provider.ignore excludes them",
      (endpoint, provider) => !ignore.some((name) => isNamed(name, endpoint, provider)),
    )
  if (quantizations?.length) {
    const isWanted = (endpoint: Endpoint) => quantizations.includes(endpoint.quantization ?? "unknown")
    add("provider.quantizations excludes them", isWanted)
  }
  if (preferences.zdr) add("provider.zdr: zero data retention is not known", (endpoint) => endpoint.zeroRetention)
  if (preferences.data_collection === "deny") {
    add("provider.data_collection: may keep data", (endpoint) => !endpoint.collectsData)
  }
  if (preferences.enforce_distillable_text) {
    add("provider.enforce_distillable_text: not known to allow distillation", () => false)
  }
  if (maxPrice) add("provider.max_price is lower", (endpoint) => isWithin(endpoint.pricing, maxPrice))
  if (preferences.require_parameters) {
    const required = PARAMETERS.filter((name) => used[name] != null)
    add(`provider.require_parameters: not all of ${required.join(", ")} are supported`, (endpoint) =>
      required.every((name) => supports(endpoint, name)),
    )
  }
  return filters
}

/** Request fields that `supported_parameters` of a model may contain. */
const PARAMETERS =
  "temperature top_p top_k min_p top_a frequency_penalty presence_penalty repetition_penalty max_tokens max_completion_tokens logit_bias logprobs top_logprobs prediction seed response_format stop tools tool_choice parallel_tool_calls reasoning reasoning_effort".split(
    " ",
  )

const EQUIVALENT: Record<string, string> = { max_completion_tokens: "max_tokens", reasoning_effort: "reasoning" }

function supports(endpoint: Endpoint, parameter: string): boolean {
  const { supportedParameters: supported } = endpoint
  return supported.includes(parameter) || supported.includes(EQUIVALENT[parameter] ?? parameter)
}

/** `max_price` is in USD per million tokens, per request and per image. */
function isWithin(pricing: PriceList | null, maxPrice: NonNullable<ProviderPreferences["max_price"]>): boolean {
  if (!pricing) return false
  const fits = (price: string | undefined, max: string | number | undefined, per: bigint) =>
    max === undefined || priceToPico(price ?? "0") * per <= priceToPico(typeof max === "number" ? max.toFixed(12) : max)
  return (
    fits(pricing.prompt, maxPrice.prompt, 1_000_000n) &&
    fits(pricing.completion, maxPrice.completion, 1_000_000n) &&
    fits(pricing.request, maxPrice.request, 1n) &&
    fits(pricing.image, maxPrice.image, 1n) &&
    fits(pricing.audio, maxPrice.audio, 1_000_000n)
  )
}
