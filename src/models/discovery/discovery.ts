import type { ListedModel } from "./listed-model.ts"
import { type Provider, providerUrl } from "../../providers/provider.ts"
import { fetchReadable } from "../../providers/responses/readable-body.ts"
import { credentialHeader } from "../../providers/upstream-request.ts"
import { isObject, objectsOf, parseJson } from "../../support/text/json.ts"
import { readText } from "../../support/text/read-text.ts"
import { withTimeout } from "../../support/time/time.ts"
import type { Endpoint, Model } from "../catalogue.ts"
import { listCloudModels } from "./cloud-models.ts"
import { COMMON_PARAMETERS, FORMAT_PARAMETERS, MODEL_DEFAULTS, TOOL_PARAMETERS } from "../custom-models.ts"
import { isCallable, outputsOf } from "../model-kind.ts"

/** Lists a provider's models: `GET {base URL}/models`, which OpenAI- and Anthropic-compatible APIs have. */

const TIMEOUT_MS = 10_000
const MAX_BYTES = 4 * 1024 * 1024
const MAX_MODELS = 1_000
/** Anthropic returns 20 models per page by default; others ignore this. */
const PAGE = "?limit=1000"

/** The models that the provider lists. Throws an Error whose message is for the operator and contains no key. */
export async function listProviderModels(provider: Provider): Promise<ListedModel[]> {
  if (provider.cloud) return listCloudModels(provider, fetchJson)
  const url = providerUrl(provider, `/models${provider.format === "anthropic" ? PAGE : ""}`)
  const headers = {
    accept: "application/json",
    "user-agent": "edge-model-gateway",
    ...(provider.format === "anthropic" && { "anthropic-version": "2023-06-01" }),
    ...credentialHeader(provider),
  }
  const body = await fetchJson(url, headers)
  const listed = Array.isArray(body) ? body : isObject(body) ? (body["data"] ?? body["models"]) : undefined
  if (!Array.isArray(listed)) throw new Error(`${withoutQuery(url)} returned no list of models.`)
  return objectsOf(listed).slice(0, MAX_MODELS).flatMap(toListed)
}

/** The query may have a key. */
function withoutQuery(url: string): string {
  return url.replace(/\?.*/, "")
}

async function fetchJson(url: string, headers: Record<string, string>): Promise<unknown> {
  const { response, text } = await withTimeout(TIMEOUT_MS, async (signal) => {
    const fetched = await fetchReadable(url, { headers, redirect: "manual", signal })
    return { response: fetched, text: await readText(fetched, MAX_BYTES) }
  }).catch((cause: unknown) => {
    const reason =
      cause instanceof Error && cause.name === "TimeoutError" ? "did not respond within 10 s" : "cannot be reached"
    throw new Error(`${withoutQuery(url)} ${reason}.`)
  })
  if (!response.ok) throw new Error(`${withoutQuery(url)} returned ${response.status}${hintFor(response.status)}.`)
  return text === undefined ? undefined : parseJson(text)
}

function hintFor(status: number): string {
  if (status === 401 || status === 403) return ": the key is wrong or lacks the permission to list models"
  if (status === 404) return ": the base URL is wrong, or this provider has no list of models"
  return ""
}

function toListed(item: Record<string, unknown>): ListedModel[] {
  const name = item["id"] ?? item["name"]
  if (typeof name !== "string") return []
  const id = name.replace(/^models\//, "")
  if (!MODEL_ID.test(id) || !isCallable(id)) return []
  return [
    {
      id,
      created: positiveIntegerOf(item["created"]),
      contextLength: CONTEXT_FIELDS.map((field) => positiveIntegerOf(item[field])).find((length) => length > 0) ?? 0,
      pricing: pricingOf(item["pricing"]),
    },
  ]
}

const MODEL_ID = /^[\w.@:+~-]+(?:\/[\w.@:+~-]+)*$/
/** Field names of OpenRouter, vLLM, Groq and Mistral, in this order. */
const CONTEXT_FIELDS = ["context_length", "max_model_len", "context_window", "max_context_length"]

function positiveIntegerOf(value: unknown): number {
  return typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : 0
}

const USD_PER_TOKEN = /^(?:0|0?\.\d{1,15})$/

/** Prices as text are USD per token by convention; numbers have units that differ by provider. */
function pricingOf(pricing: unknown): ListedModel["pricing"] {
  if (!isObject(pricing)) return null
  const { prompt, completion } = pricing
  const isPrice = (price: unknown): price is string => typeof price === "string" && USD_PER_TOKEN.test(price)
  return isPrice(prompt) && isPrice(completion) ? { prompt, completion } : null
}

/** Authors whose name in model ids differs from the provider's slug. */
const AUTHORS: Readonly<Record<string, string>> = {
  alibaba: "qwen",
  "google-ai-studio": "google",
  "google-vertex": "google",
  mistral: "mistralai",
  xai: "x-ai",
}

/** A provider's list as models of the catalogue. `isFree`: the operator's own server, whose tokens cost nothing. */
export function toDiscoveredModels(provider: Provider, listed: readonly ListedModel[], isFree: boolean): Model[] {
  const byId = new Map(listed.map((model) => [model.model ?? idOf(provider, model.id), model]))
  return [...byId].map(([id, model]) => {
    const outputModalities = outputsOf(model.id)
    const endpoint: Endpoint = {
      model: id,
      provider: provider.slug,
      upstreamId: model.id,
      pricing: isFree ? { prompt: "0", completion: "0" } : model.pricing,
      contextLength: model.contextLength,
      maxCompletionTokens: null,
      supportedParameters: [...COMMON_PARAMETERS, ...TOOL_PARAMETERS, ...FORMAT_PARAMETERS],
      quantization: null,
      zeroRetention: isFree,
      collectsData: !isFree,
      discovered: true,
    }
    const { contextLength, created } = model
    const name = `${provider.name}: ${model.id}`
    return {
      ...MODEL_DEFAULTS,
      id,
      name,
      description: "",
      created,
      contextLength,
      outputModalities,
      endpoints: [endpoint],
    }
  })
}

function idOf({ slug }: Provider, id: string): string {
  return id.includes("/") ? id : `${AUTHORS[slug] ?? slug}/${id}`
}
