import { getPath } from "hono/utils/url"

/** Base path of the API. */
export const BASE_PATH = "/api/v1"

const MODEL_PATH = new RegExp(`^${BASE_PATH}/(?:images/|videos/)?models?/`)

/** Base path of Google's clients, some of which append this version and others `/v1`. */
const GEMINI_BASE = "/api/v1beta/"
const MODELS = "models"

/**
 * Base paths that result from clients that append `/v1`, `/v1beta` or `/openai/v1` to their base URL, whether that is
 * the origin, `/api` or `/api/v1`.
 */
const CLIENT_BASE = /^(?:\/api)?(?:\/v1)?(?:\/openai)?\/(v1|v1beta)(?=\/)/

/** Base path of Azure OpenAI's clients, whose version is a query parameter. */
const AZURE_BASE = /^(?:\/api)?(?:\/v1)?\/openai(?=\/(?!v1\/|v1beta\/))/

/** Cohere's clients append `/v2`; of its API only this operation has the same format. */
const COHERE_RERANK = /^(?:\/api)?(?:\/v1)?\/v2(?=\/rerank$)/

/** Azure OpenAI's clients name the model in the path, as the name of a deployment. */
const DEPLOYMENT =
  /^\/api\/v1\/deployments\/(.+?)\/((?:chat\/)?completions|embeddings|responses|images\/(?:generations|edits)|audio\/(?:speech|transcriptions|translations))$/

/** The path for route matching. Decodes an encoded slash in a model id: clients mean `author/slug`. */
export function routePath(request: Request): string {
  const requested = canonicalPath(getPath(request))
  const path = requested.startsWith(GEMINI_BASE) ? fromGemini(requested.slice(GEMINI_BASE.length)) : requested
  return path.includes("%") && MODEL_PATH.test(path) ? path.replace(/%2f/gi, "/") : path
}

const PASSTHROUGH = "/passthrough/"

/**
 * A path of the API below its base path, without the empty segments of a base URL that ends with a slash. The path at a
 * passthrough service stays as it is.
 */
export function canonicalPath(path: string): string {
  const collapsed = path.includes("//") ? path.replace(/\/{2,}/g, "/") : path
  const canonical = withoutClientBase(collapsed)
  if (!canonical.startsWith("/api/")) return path
  if (canonical.startsWith(BASE_PATH + PASSTHROUGH)) return BASE_PATH + path.slice(path.indexOf(PASSTHROUGH))
  return (canonical.endsWith("/") ? canonical.slice(0, -1) : canonical).replace(DEPLOYMENT, `${BASE_PATH}/$2`)
}

const withoutClientBase = (path: string) =>
  path.replace(AZURE_BASE, BASE_PATH).replace(COHERE_RERANK, BASE_PATH).replace(CLIENT_BASE, "/api/$1")

/** The model that a path of Azure OpenAI's clients names; it replaces the model of the body. */
export function deploymentOf(path: string): string | undefined {
  if (!path.includes("/deployments/")) return undefined
  const deployment = DEPLOYMENT.exec(withoutClientBase(path.replace(/\/{2,}/g, "/").replace(/\/$/, "")))?.[1]
  return deployment === undefined ? undefined : decodePath(deployment)
}

/** The text as it is if its encoding is invalid. */
function decodePath(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Whether the path has the version of Google's API. */
export const isGeminiPath = (path: string) => canonicalPath(path).startsWith(GEMINI_BASE)

/** Some clients omit `models/` before a name with a slash. */
function fromGemini(path: string): string {
  const isNamed = path === MODELS || path.startsWith(`${MODELS}/`)
  return `${BASE_PATH}/${isNamed ? path : `${MODELS}/${path}`}`
}
