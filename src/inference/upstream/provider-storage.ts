import { fileReferences } from "../../files/inline.ts"
import { vendorToolsOf } from "../../formats/tools/client-tools.ts"
import { isArray, isObject, type Json } from "../../support/text/json.ts"

/** Fields whose values are ids of something stored in an account at a provider. */
const STORED = new Set([
  "file_id",
  "file_ids",
  "vector_store_id",
  "vector_store_ids",
  "collection_id",
  "collection_ids",
  "container_id",
  "skill_id",
  "cached_content",
  "cachedContent",
])
/** An id as a string; an object is the configuration of a new one. */
const STORED_AS_TEXT = new Set(["container"])

/** Fields whose content is the client's. */
const CLIENT_DATA = new Set(["messages", "input", "metadata", "trace", "user", "provider"])
const MAX_DEPTH = 20

/**
 * Path of the first field of a request that names something stored in an account at a provider, such as a file, a
 * vector store, a container or a cached prompt; undefined if no field does. Results of earlier calls, which name such
 * things, too, are not read by providers.
 */
export function providerStorageIn(request: object): string | undefined {
  const [file] = fileReferences(request)
  return file?.path ?? findStoredId(request, "", 0)
}

function findStoredId(value: object, path: string, depth: number): string | undefined {
  if (depth > MAX_DEPTH) return undefined
  const entries = isArray(value)
    ? value.map((element, at) => [`${path}[${at}]`, "", element] as const)
    : Object.entries(value as Json).map(
        ([name, inner]) => [path === "" ? name : `${path}.${name}`, name, inner] as const,
      )
  for (const [inside, name, inner] of entries) {
    if (depth === 0 && CLIENT_DATA.has(name)) continue
    if (isId(name, inner)) return inside
    const next = depth === 0 && name === "tools" ? vendorToolsOf(inner) : inner
    const found = isArray(next) || isObject(next) ? findStoredId(next, inside, depth + 1) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

function isId(name: string, value: unknown): boolean {
  if (STORED_AS_TEXT.has(name)) return typeof value === "string" && value !== ""
  if (!STORED.has(name)) return false
  return isArray(value) ? value.length > 0 : value != null && value !== ""
}
