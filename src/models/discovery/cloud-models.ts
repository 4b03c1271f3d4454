import { cloudAccess } from "../../providers/cloud/access.ts"
import { CredentialError } from "../../providers/cloud/cloud.ts"
import type { Provider } from "../../providers/provider.ts"
import { isObject, type Json, listOf, objectsOf } from "../../support/text/json.ts"
import type { ListedModel } from "./listed-model.ts"
import { isCallable } from "../model-kind.ts"

/** Models of cloud platforms, whose lists do not have the form of `GET /models`. */

type Fetch = (url: string, headers: Record<string, string>) => Promise<unknown>

/** Throws an Error whose message is for the operator and contains no key. */
export async function listCloudModels(provider: Provider, fetchJson: Fetch): Promise<ListedModel[]> {
  const get = async (path: string): Promise<Json> => {
    const deps = { fetch: (...one: Parameters<typeof fetch>) => fetch(...one), now: Date.now, waitUntil: () => {} }
    const { url, headers } = await cloudAccess(provider, { method: "GET", path, isCatalogue: true }, deps).catch(
      asReason,
    )
    const body = await fetchJson(url, { accept: "application/json", "user-agent": "edge-model-gateway", ...headers })
    if (!isObject(body)) throw new Error(`${url} returned no list of models.`)
    return body
  }
  return provider.cloud?.kind === "vertex" ? listVertexModels(get) : listBedrockModels(get, provider)
}

function asReason(thrown: unknown): never {
  if (thrown instanceof CredentialError) throw new Error(`the credential cannot be used: ${thrown.message}.`)
  throw thrown
}

type Get = (path: string) => Promise<Json>

/** Models that are called by their id, and those that need an inference profile of the region. */
async function listBedrockModels(get: Get, { format }: Provider): Promise<ListedModel[]> {
  const models = objectsOf((await get("/foundation-models?byOutputModality=TEXT"))["modelSummaries"])
  const profiles = objectsOf((await get("/inference-profiles?maxResults=1000"))["inferenceProfileSummaries"])
  const onDemand = models
    .filter(({ inferenceTypesSupported: types }) => listOf(types).includes("ON_DEMAND"))
    .map(({ modelId }) => modelId)
  const byProfile = profiles
    .filter(({ status, type }) => status === "ACTIVE" && type === "SYSTEM_DEFINED")
    .map(({ inferenceProfileId }) => inferenceProfileId)
  const names = new Set(models.map(({ modelId }) => bedrockName(modelId)))
  const ids = [...byProfile.filter((id) => names.has(bedrockName(id))), ...onDemand]
  return ids.flatMap((id) => {
    // With the OpenAI format, Bedrock serves OpenAI's models only.
    if (typeof id !== "string" || !isCallable(id) || (format === "openai" && !id.includes("openai."))) return []
    return [{ id, created: 0, contextLength: 0, pricing: null, model: bedrockName(id) }]
  })
}

const BEDROCK_AUTHORS: Readonly<Record<string, string>> = {
  meta: "meta-llama",
  mistral: "mistralai",
  moonshot: "moonshotai",
  xai: "x-ai",
  zai: "z-ai",
}

/** `us.anthropic.claude-sonnet-4-5-20250929-v1:0` is `anthropic/claude-sonnet-4.5`. */
export function bedrockName(id: unknown): string {
  if (typeof id !== "string") return ""
  const [, author = "", name = ""] = /^(?:[a-z]{2,6}(?:-gov)?\.)?([a-z0-9]+)\.(.+)$/.exec(id) ?? []
  // Amazon's models keep their version: `amazon/nova-pro-v1`.
  const bare = name.replace(/(?::[\w-]+)+$/, "").replace(author === "amazon" ? /$^/ : /-(?:v\d+|\d)$/, "")
  const slug = bare
    .replace(/-\d{8}$/, "")
    .replace(/(\d)-(\d)(?=-|$)/, "$1.$2")
    .replace(/^llama(?=\d)/, "llama-")
  return `${BEDROCK_AUTHORS[author] ?? author}/${slug}`
}

const VERTEX_PUBLISHERS = ["google", "anthropic"]

async function listVertexModels(get: Get): Promise<ListedModel[]> {
  const lists = await Promise.all(
    VERTEX_PUBLISHERS.map(async (publisher) => {
      const list = await get(`/v1beta1/publishers/${publisher}/models?pageSize=300`)
      return objectsOf(list["publisherModels"]).map(({ name, versionId }) => toVertexModel(publisher, name, versionId))
    }),
  )
  return lists.flat(2)
}

/** In the OpenAI format, ids of Google's models include the publisher; Claude's include a version. */
function toVertexModel(publisher: string, name: unknown, version: unknown): ListedModel[] {
  const slug = typeof name === "string" ? name.slice(name.lastIndexOf("/") + 1) : ""
  const isClaude = publisher === "anthropic"
  if (!isCallable(slug) || !(isClaude ? slug.startsWith("claude-") : slug.startsWith("gemini-"))) return []
  const isDated = typeof version === "string" && /^\d{8}$/.test(version) && !slug.includes("@")
  const id = isClaude ? slug + (isDated ? `@${version}` : "") : `${publisher}/${slug}`
  const model = isClaude
    ? `anthropic/${slug.replace(/@.*$/, "").replace(/(\d)-(\d)(?=-|$)/, "$1.$2")}`
    : `${publisher}/${slug}`
  return [{ id, created: 0, contextLength: 0, pricing: null, model }]
}
