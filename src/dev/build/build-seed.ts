/**
 * Builds src/models/seed.json, the body of the first PUT /catalogue, from three packages of facts:
 *   node src/dev/build/build-seed.ts [folder whose node_modules has them]
 */
import { readFileSync, writeFileSync } from "node:fs"
import { createRequire } from "node:module"
import { resolve } from "node:path"
import { runInNewContext } from "node:vm"
import type { PriceList } from "../../money/price-list.ts"
import type { Pricing } from "../../money/pricing.ts"
import { datesOf, readModelDates } from "./seed-dates.ts"
import {
  basePricing,
  type DatedPrice,
  highestOf,
  highestPricing,
  isPriced,
  type ListPrices,
  shift,
  thresholdsOf,
  tidy,
  toPriceList,
} from "./seed-prices.ts"
import {
  authorPrices,
  embeddingModels,
  moderationModels,
  realtimeModels,
  toTokenizer,
  unseeded,
  upstreams,
  webSearchPrice,
} from "./seed-upstreams.ts"

type Meta = {
  id: string
  name: string
  supports: { input: string[]; output: string[]; supports: string[] }
  context_window: number
  max_output_tokens?: number
  pricing: { text: { input: { normal: number; cached: number }; output: { normal: number } } }
}
type Listed = {
  deprecated?: boolean
  context_window?: number
  price_comments?: string
  prices: ListPrices | DatedPrice[]
}
type PriceLists = {
  calcPrice(
    usage: object,
    id: string,
    options: { providerId: string },
  ): { model: Listed; provider: { id: string } } | null
}
type Offer = {
  provider: string
  upstream_id: string
  pricing: PriceList
  quantization?: string
  collects_data: boolean
}

const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  maxCompletionTokens: ["max_tokens", "max_completion_tokens"],
  temperature: ["temperature"],
  topP: ["top_p"],
  stop: ["stop"],
  seed: ["seed"],
  frequencyPenalty: ["frequency_penalty"],
  presencePenalty: ["presence_penalty"],
  logitBias: ["logit_bias"],
  logprobs: ["logprobs"],
  topLogprobs: ["top_logprobs"],
  toolChoice: ["tools", "tool_choice"],
  parallelToolCalls: ["parallel_tool_calls"],
  responseFormat: ["response_format"],
  reasoning: ["reasoning", "include_reasoning", "reasoning_effort"],
}

const require = createRequire(resolve(process.argv[2] ?? ".", "package.json"))
const today = new Date().toISOString().slice(0, 10)
const lists = require("@pydantic/genai-prices") as PriceLists
const dates = readModelDates(process.argv[2] ?? ".")
const { metas, schemaModels } = readModelMeta()

const chat = metas.filter(isSeeded).map((meta) => toSeedModel(meta))
const embeddings = Object.entries(embeddingModels).map(([id, facts]) => toEmbeddingModel(id, facts))
const realtime = Object.entries(realtimeModels).map(([id, facts]) => toRealtimeModel(id, facts))
const models = [...chat, ...embeddings, ...realtime, ...moderationModels].filter(
  ({ endpoints }) => endpoints.length > 0,
)
models.sort((a, b) => (a.id < b.id ? -1 : 1))
const lines = models.map((model) => JSON.stringify(model)).join(",\n")
writeFileSync(
  new URL("../../models/seed.json", import.meta.url),
  `{"source":"seed","date":"${today}","complete":true,"models":[\n${lines}\n]}\n`,
)
console.log(`${models.length} models, ${models.reduce((sum, { endpoints }) => sum + endpoints.length, 0)} endpoints`)

/** The package exports only ids: the data are module constants, so its text is run with the list added. */
function readModelMeta(): { metas: Meta[]; schemaModels: ReadonlySet<string> } {
  // Its exports have no `require` condition; its files are found by path.
  const folder =
    require.resolve.paths("x")?.map((path) => `${path}/@tanstack/ai-openrouter/dist/esm/model-meta.js`) ?? []
  const source = firstFile(folder)
  const names = [...source.matchAll(/^var ([A-Z0-9_]+) = \{\n\tid: /gm)].map(([, name]) => name)
  const body = source.replace(/^export .*$/m, "")
  return runInNewContext(
    `${body}\n;({ metas: [${names.join(",")}], schemaModels: OPENROUTER_COMBINED_TOOLS_AND_SCHEMA_MODELS })`,
  ) as { metas: Meta[]; schemaModels: ReadonlySet<string> }
}

function firstFile(paths: readonly string[]): string {
  for (const path of paths) {
    try {
      return readFileSync(path, "utf8")
    } catch {
      continue
    }
  }
  throw new Error(`@tanstack/ai-openrouter is in none of ${paths.join(", ")}`)
}

/** Only text output; no moving aliases (`~`) and no batch variants (`:batch`). */
function isSeeded({ id, supports }: Meta): boolean {
  if (id.startsWith("~") || id.endsWith(":batch") || unseeded.has(id)) return false
  return supports.output.join() === "text" && supports.input.includes("text")
}

function toSeedModel(meta: Meta) {
  const { id, name, supports } = meta
  const modalities = supports.input.map((input) => (input === "document" ? "file" : input))
  const inputs = ["text", "image", "file", "audio", "video"].filter((input) => modalities.includes(input))
  const parameters = toParameters(meta)
  const offers = [...nativeOffers(id), toResoldOffer(meta)]
  return {
    id,
    name,
    description: describe(meta, inputs, parameters),
    ...datedFacts(id),
    context_length: meta.context_window,
    input_modalities: inputs,
    output_modalities: supports.output,
    tokenizer: toTokenizer(id),
    endpoints: offers.map((offer) => ({
      ...offer,
      context_length: Math.min(meta.context_window, toListed(offer)?.context_window ?? meta.context_window),
      max_completion_tokens: isAtHome(offer, id) ? (meta.max_output_tokens ?? null) : null,
      supported_parameters: parameters,
    })),
  }
}

/** The list's output limit is that of the reseller and the author; another provider may have a different one. */
function isAtHome({ provider }: Offer, id: string): boolean {
  return provider === "openrouter" || upstreams[provider]?.prices === authorPrices[id.split("/")[0] ?? ""]
}

function toEmbeddingModel(id: string, { name, context, tokenizer }: (typeof embeddingModels)[string]) {
  return {
    id,
    name,
    description: `Embeds text. Context of ${context.toLocaleString("en")} tokens.`,
    ...datedFacts(id),
    context_length: context,
    input_modalities: ["text"],
    output_modalities: ["embeddings"],
    tokenizer,
    // Embeddings generate no tokens: an output price in a list is not charged.
    endpoints: nativeOffers(id).map((offer) => ({
      ...offer,
      pricing: { ...offer.pricing, completion: "0" },
      context_length: context,
      supported_parameters: [],
    })),
  }
}

function toRealtimeModel(id: string, { name, context, output, tokenizer, pricing }: (typeof realtimeModels)[string]) {
  const [provider = "", upstreamId = ""] = id.split("/")
  const facts = { pricing, collects_data: false, context_length: context, max_completion_tokens: output }
  return {
    id,
    name,
    description: `Talks in sessions, in text and audio. Context of ${context.toLocaleString("en")} tokens.`,
    ...datedFacts(id),
    context_length: context,
    input_modalities: ["text", "audio"],
    output_modalities: ["realtime"],
    tokenizer,
    endpoints: [{ provider, upstream_id: upstreamId, ...facts, supported_parameters: [] }],
  }
}

/** Prices of the providers themselves. Prices copied from a reseller or of a retired model are omitted. */
function nativeOffers(id: string): Offer[] {
  return Object.entries(upstreams).flatMap(([provider, upstream]) => {
    const upstreamId = upstream.models[id]
    const found = upstreamId === undefined ? undefined : find(upstream.prices, upstreamId)
    if (upstreamId === undefined) return []
    if (!found || found.deprecated || /OpenRouter|trusting/i.test(found.price_comments ?? "")) {
      console.warn(`no price of ${upstreamId} at ${provider}: left out`)
      return []
    }
    const pricingAt = (tokens: number): Partial<Pricing> => ({
      ...(id in embeddingModels && { completion: "0" }),
      ...highestPricing(found.prices, today, tokens),
    })
    if (!isPriced(pricingAt(0))) return []
    const pricing = toPriceList(thresholdsOf(found.prices, today), (tokens) => tidy(id, pricingAt(tokens)))
    const search = id in embeddingModels ? undefined : webSearchPrice(provider, id)
    const quantization = upstream.quantization?.[id]
    return {
      provider,
      upstream_id: upstreamId,
      pricing: { ...pricing, ...(search !== undefined && { web_search: search }) },
      ...(quantization !== undefined && { quantization }),
      collects_data: upstream.collectsData,
    }
  })
}

/**
 * OpenRouter's offer. The model list has its base prices; tiers, request fees and the price of a cached token are taken
 * from a price list only if its base prices are equal, so that both mean the same offer.
 */
function toResoldOffer(meta: Meta): Offer {
  const { prompt, completion } = resoldBase(meta)
  const same = [find("openrouter", meta.id)?.prices, authorListed(meta.id)?.prices].filter((prices) => {
    const base = prices && basePricing(prices, today)
    return base?.prompt === prompt && base.completion === completion
  })
  const known = same.filter((prices) => prices !== undefined)
  const thresholds = [...new Set(known.flatMap((prices) => thresholdsOf(prices, today)))].sort((a, b) => a - b)
  const pricing = toPriceList(thresholds, (tokens) => resoldPricing(meta, known, tokens))
  return { provider: "openrouter", upstream_id: meta.id, pricing, collects_data: true }
}

function resoldBase({ pricing: { text } }: Meta): Pricing {
  return { prompt: shift(text.input.normal, 6), completion: shift(text.output.normal, 6) }
}

function resoldPricing(meta: Meta, lists: readonly Listed["prices"][], tokens: number): Pricing {
  const { normal, cached } = meta.pricing.text.input
  let pricing = resoldBase(meta)
  for (const prices of lists) pricing = highestOf(pricing, highestPricing(prices, today, tokens))
  // `cached` is the price of reading and writing together: the price of reading alone is known where nothing is
  // written.
  if (!("input_cache_read" in pricing) && cached > 0 && cached < normal && !billsCacheWrites(meta.id)) {
    pricing.input_cache_read = shift(cached, 6)
  }
  return tidy(meta.id, pricing)
}

function billsCacheWrites(id: string): boolean {
  return /^(anthropic|google|qwen|alibaba)\//.test(id) || /^openai\/gpt-(5\.[6-9]|[6-9])/.test(id)
}

function find(providerId: string, id: string): Listed | undefined {
  const found = lists.calcPrice({}, id, { providerId })
  return found && found.provider.id === providerId ? found.model : undefined
}

function authorListed(id: string): Listed | undefined {
  const [author = "", slug = ""] = id.split("/")
  const providerId = authorPrices[author]
  if (providerId === undefined || slug.includes(":")) return undefined
  return find(providerId, slug) ?? find(providerId, slug.replaceAll(".", "-"))
}

function toListed({ provider, upstream_id: upstreamId }: Offer): Listed | undefined {
  const upstream = upstreams[provider]
  return upstream && find(upstream.prices, upstreamId)
}

function toParameters({ id, supports }: Meta): string[] {
  const parameters = supports.supports.flatMap((name) => PARAMETERS[name] ?? [])
  if (schemaModels.has(id)) parameters.push("structured_outputs")
  return [...new Set(parameters)].sort()
}

function describe({ context_window: context }: Meta, inputs: readonly string[], parameters: readonly string[]): string {
  const abilities = [
    parameters.includes("tools") && "calls tools",
    parameters.includes("structured_outputs") && "answers in a JSON schema",
    parameters.includes("reasoning") && "reasons",
  ].filter((ability) => ability !== false)
  const takes = `Takes ${inputs.join(", ")}; context of ${context.toLocaleString("en")} tokens.`
  return abilities.length > 0 ? `${takes} It ${abilities.join(", ")}.` : takes
}

/** The date at the end of a name such as `gpt-4o-2024-08-06`, otherwise the known date of the model. */
function datedFacts(id: string): { created: number; knowledge_cutoff: string | null } {
  const modelDates = datesOf(id, dates)
  const day = /-(\d{4}-\d{2}-\d{2})$/.exec(id)?.[1]
  return day === undefined ? modelDates : { ...modelDates, created: Date.parse(day) / 1_000 }
}
