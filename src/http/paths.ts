import { getPath } from "hono/utils/url"

/** Base path of the API. */
export const BASE_PATH = "/api/v1"

const MODEL_PATH = new RegExp(`^${BASE_PATH}/(?:images/|videos/)?models?/`)

/** Version of the Gemini API that some of Google's clients append to the base URL; others append `/v1`. */
export const GEMINI_BASE = "/api/v1beta/"
const MODELS = "models"

/** The path for route matching. Decodes an encoded slash in a model id: clients mean `author/slug`. */
export function routePath(request: Request): string {
  const requested = getPath(request)
  const path = requested.startsWith(GEMINI_BASE) ? fromGemini(requested.slice(GEMINI_BASE.length)) : requested
  return path.includes("%") && MODEL_PATH.test(path) ? path.replace(/%2f/gi, "/") : path
}

/** Some clients omit `models/` before a name with a slash. */
function fromGemini(path: string): string {
  const isNamed = path === MODELS || path.startsWith(`${MODELS}/`)
  return `${BASE_PATH}/${isNamed ? path : `${MODELS}/${path}`}`
}
