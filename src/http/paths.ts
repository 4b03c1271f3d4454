import { getPath } from "hono/utils/url"

/** The path that the API is mounted at. */
export const BASE_PATH = "/api/v1"

const OF_A_MODEL = new RegExp(`^${BASE_PATH}/(?:images/|videos/)?models?/`)

/** The path that routes are matched with. A client that encodes the slash of a model's id means `author/slug`. */
export function routePath(request: Request): string {
  const path = getPath(request)
  return path.includes("%") && OF_A_MODEL.test(path) ? path.replace(/%2f/gi, "/") : path
}
