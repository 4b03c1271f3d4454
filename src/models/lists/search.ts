import { USE_CASES } from "./use-cases.ts"
import * as z from "zod"
import { oneOf } from "../../http/schema.ts"
import type { Provider } from "../../providers/provider.ts"
import type { Model } from "../catalogue.ts"
import { type Pricing, approximatePrice } from "../../money/pricing.ts"
import { pricedEndpoints, supportedParameters } from "../model.ts"

export const OUTPUTS = [
  "text",
  "image",
  "embeddings",
  "audio",
  "video",
  "rerank",
  "decisions",
  "speech",
  "transcription",
  "realtime",
]
export const INPUTS = ["text", "image", "audio", "file", "video"]
const SORTS = [
  "most-popular",
  "newest",
  "top-weekly",
  "pricing-low-to-high",
  "pricing-high-to-low",
  "context-high-to-low",
  "throughput-high-to-low",
  "latency-low-to-high",
  "intelligence-high-to-low",
  "coding-high-to-low",
  "agentic-high-to-low",
  "design-arena-elo-high-to-low",
]

/** A query parameter is text; it is a number only if all of it is. */
const number = z
  .string()
  .regex(/^-?\d{1,12}(?:\.\d{1,12})?$/, { error: "must be a number" })
  .transform(Number)
  .meta({ type: "number" })
const rate = number
  .refine((value) => value >= 0 && value <= 1, { error: "must be from 0 to 1" })
  .meta({ type: "number", minimum: 0, maximum: 1 })
const count = z
  .string()
  .regex(/^\d{1,9}$/, { error: "must be a whole number of 0 or more" })
  .transform(Number)
  .meta({ type: "integer", minimum: 0, maximum: 999_999_999 })
/** A filter without a value, as forms send it, is no filter. */
const csv = z.string().transform((text) => {
  const list = toList(text)
  return list.length === 0 ? undefined : list
})
const csvOf = (values: readonly string[]) =>
  csv
    .refine((list) => list === undefined || list.every((value) => values.includes(value)), {
      error: `accepts ${values.join(", ")}, comma-separated`,
    })
    .meta({ type: "string" })

const DEFAULT_LIMIT = 500

export const Page = z.object({
  offset: count.optional(),
  limit: count
    .refine((limit) => limit >= 1 && limit <= 1_000, { error: "must be from 1 to 1000" })
    .meta({ type: "integer", minimum: 1, maximum: 1_000, description: "Default 500; without limit and offset, all." })
    .optional(),
})
export type Page = z.infer<typeof Page>

export const OutputModalities = z.object({
  output_modalities: csvOf([...OUTPUTS, "all"])
    .meta({ type: "string", description: "Comma-separated, or all. Default text." })
    .optional(),
})

export const Search = z.object({
  ...Page.shape,
  ...OutputModalities.shape,
  after_id: z.string().optional().meta({ description: "With `anthropic-version`: the last model of the page before." }),
  before_id: z
    .string()
    .optional()
    .meta({ description: "With `anthropic-version`: the first model of the page after." }),
  pageSize: count
    .refine((size) => size >= 1 && size <= 1_000, { error: "must be from 1 to 1000" })
    .meta({ type: "integer", minimum: 1, maximum: 1_000, description: "With `x-goog-api-key`: models a page." })
    .optional(),
  pageToken: z.string().optional().meta({ description: "With `x-goog-api-key`: `nextPageToken` of the page before." }),
  q: z.string().optional().meta({ description: "Text in the id or the name." }),
  sort: oneOf(SORTS).optional().meta({ description: "Sorting by a value that is not measured keeps the order." }),
  input_modalities: csvOf(INPUTS).optional(),
  supported_parameters: csv.meta({ type: "string", example: "tools,structured_outputs" }).optional(),
  context: count.optional().meta({ description: "Smallest context length." }),
  min_price: number.optional().meta({ description: "USD per million prompt tokens." }),
  max_price: number.optional(),
  min_output_price: number.optional().meta({ description: "USD per million completion tokens." }),
  max_output_price: number.optional(),
  model_authors: csv.meta({ type: "string" }).optional(),
  providers: csv.meta({ type: "string", description: "Names or slugs." }).optional(),
  arch: z.string().optional().meta({ description: "Tokenizer, such as Llama3." }),
  min_age_days: count.optional(),
  max_age_days: count.optional(),
  zdr: oneOf(["true"]).optional(),
  distillable: oneOf(["true", "false"]).optional(),
  category: oneOf(USE_CASES).optional(),
  region: oneOf(["eu", "us"]).optional(),
  min_intelligence_index: number.optional(),
  max_intelligence_index: number.optional(),
  min_coding_index: number.optional(),
  max_coding_index: number.optional(),
  min_agentic_index: number.optional(),
  max_agentic_index: number.optional(),
  min_tool_success_rate: rate.optional(),
  max_tool_success_rate: rate.optional(),
})
export type Search = z.infer<typeof Search>

/** Filters on unknown properties. A model that is not known to pass does not pass. */
const UNKNOWN = [
  "category",
  "region",
  "min_intelligence_index",
  "max_intelligence_index",
  "min_coding_index",
  "max_coding_index",
  "min_agentic_index",
  "max_agentic_index",
  "min_tool_success_rate",
  "max_tool_success_rate",
] as const satisfies readonly (keyof Search)[]

/** The callable models that pass every filter, in the requested order. */
export function search(
  models: Iterable<Model>,
  query: Partial<Search>,
  providers: ReadonlyMap<string, Provider>,
  now: number,
): Model[] {
  if (UNKNOWN.some((name) => query[name] !== undefined) || query.distillable === "true") return []
  const found = [...models].filter((model) => matches(model, query, providers, now))
  return sortModels(found, query.sort)
}

/** One page, and the path of the next. Without offset and limit, all items. */
export function toPage<T>(
  all: readonly T[],
  { offset, limit }: Page,
  url: string,
): { items: T[]; next: string | null } {
  if (offset === undefined && limit === undefined) return { items: [...all], next: null }
  const start = offset ?? 0
  const end = start + (limit ?? DEFAULT_LIMIT)
  if (end >= all.length) return { items: all.slice(start), next: null }
  const next = new URL(url)
  next.searchParams.set("offset", String(end))
  return { items: all.slice(start, end), next: next.pathname + next.search }
}

function matches(model: Model, query: Partial<Search>, providers: ReadonlyMap<string, Provider>, now: number): boolean {
  const endpoints = pricedEndpoints(model)
  const [cheapest] = endpoints
  if (!cheapest) return false
  const outputs = query.output_modalities ?? ["text"]
  const text = query.q?.toLowerCase()
  const author = model.id.slice(0, model.id.indexOf("/"))
  const offered = endpoints.flatMap(({ provider }) => [provider, providers.get(provider)?.name.toLowerCase()])
  const parameters = query.supported_parameters && supportedParameters(model)
  return (
    (outputs.includes("all") || model.outputModalities.some((modality) => outputs.includes(modality))) &&
    (text === undefined || model.id.toLowerCase().includes(text) || model.name.toLowerCase().includes(text)) &&
    (query.input_modalities ?? []).every((modality) => model.inputModalities.includes(modality)) &&
    (query.supported_parameters ?? []).every((parameter) => parameters?.includes(parameter)) &&
    model.contextLength >= (query.context ?? 0) &&
    isPriced(cheapest.pricing, query) &&
    (query.model_authors === undefined || query.model_authors.includes(author)) &&
    (query.providers === undefined || query.providers.some((name) => offered.includes(name.toLowerCase()))) &&
    (query.arch === undefined || model.tokenizer.toLowerCase() === query.arch.toLowerCase()) &&
    (query.zdr === undefined || endpoints.some(({ zeroRetention }) => zeroRetention)) &&
    isOfAge(model, query, now)
  )
}

function isPriced(pricing: Pick<Pricing, "prompt" | "completion">, query: Partial<Search>): boolean {
  return (
    isBetween(Number(pricing.prompt) * 1e6, query.min_price, query.max_price) &&
    isBetween(Number(pricing.completion) * 1e6, query.min_output_price, query.max_output_price)
  )
}

function isOfAge(model: Model, { min_age_days: min, max_age_days: max }: Partial<Search>, now: number): boolean {
  if (min === undefined && max === undefined) return true
  return model.created > 0 && isBetween((now / 1_000 - model.created) / 86_400, min, max)
}

function isBetween(value: number, min = -Infinity, max = Infinity): boolean {
  // Prices are decimal and these are floats: a limit equal to the price must not fail by rounding.
  return value >= min - 1e-9 && value <= max + 1e-9
}

function sortModels(models: Model[], sort: string | undefined): Model[] {
  switch (sort) {
    case "newest":
      return models.sort((a, b) => b.created - a.created)
    case "pricing-low-to-high":
      return models.sort((a, b) => cheapestPrice(a) - cheapestPrice(b))
    case "pricing-high-to-low":
      return models.sort((a, b) => cheapestPrice(b) - cheapestPrice(a))
    case "context-high-to-low":
      return models.sort((a, b) => b.contextLength - a.contextLength)
    default:
      return models
  }
}

function cheapestPrice(model: Model): number {
  const [cheapest] = pricedEndpoints(model)
  return cheapest ? approximatePrice(cheapest.pricing) : Infinity
}

function toList(text: string): string[] {
  return text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "")
}
