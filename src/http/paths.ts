import { getPath } from "hono/utils/url"

/** Base path of the API. */
export const BASE_PATH = "/api/v1"

const MODEL_PATH = new RegExp(`^${BASE_PATH}/(?:images/|videos/)?models?/`)

/** The path for route matching. Decodes an encoded slash in a model id: clients mean `author/slug`. */
export function routePath(request: Request): string {
  const path = getPath(request)
  return path.includes("%") && MODEL_PATH.test(path) ? path.replace(/%2f/gi, "/") : path
}
