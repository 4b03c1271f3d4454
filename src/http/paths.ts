import { getPath } from "hono/utils/url"

/** Base path of the API. */
export const BASE_PATH = "/api/v1"

const OF_A_MODEL = new RegExp(`^${BASE_PATH}/(?:images/|videos/)?models?/`)

/** The path for route matching. Decodes an encoded slash in a model id: clients mean `author/slug`. */
export function routePath(request: Request): string {
  const path = getPath(request)
  return path.includes("%") && OF_A_MODEL.test(path) ? path.replace(/%2f/gi, "/") : path
}
