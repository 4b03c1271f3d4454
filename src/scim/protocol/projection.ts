import { isObject } from "../../support/text/json.ts"
import { ENTERPRISE_SCHEMA, GROUP_SCHEMA, USER_SCHEMA } from "./attributes.ts"

/** The attributes to return: `attributes` and `excludedAttributes` of RFC 7644, section 3.9. */
export type Projection = {
  /** Whether any part of an attribute is returned. */
  includes: (name: string) => boolean
  project: (resource: object) => object
}

/** Attributes by lower-case name, each with the selected parts; null for all parts. */
type Named = ReadonlyMap<string, ReadonlySet<string> | null>

const ALWAYS = ["schemas", "id"]

export function readProjection(query: URLSearchParams): Projection {
  const [only, except] = [namesIn(query.get("attributes")), namesIn(query.get("excludedAttributes"))]
  const result = (name: string, value: unknown): unknown => {
    const folded = name.toLowerCase()
    if (ALWAYS.includes(folded)) return value
    if (only.size > 0) return only.has(folded) ? part(value, only.get(folded) ?? null, true) : undefined
    return except.has(folded) ? part(value, except.get(folded) ?? null, false) : value
  }
  return {
    includes: (name) => (only.size > 0 ? only.has(name) : except.get(name) !== null),
    project: (resource) =>
      Object.fromEntries(
        Object.entries(resource)
          .map(([name, value]) => [name, result(name, value)])
          .filter(([, value]) => value !== undefined),
      ),
  }
}

/** These parts of a value, or all but these. */
function part(value: unknown, names: ReadonlySet<string> | null, isWanted: boolean): unknown {
  if (names === null) return isWanted ? value : undefined
  if (Array.isArray(value)) return value.map((item) => part(item, names, isWanted)).filter((item) => item !== undefined)
  if (!isObject(value)) return value
  const parts = Object.entries(value).filter(([name]) => names.has(name.toLowerCase()) === isWanted)
  return parts.length > 0 ? Object.fromEntries(parts) : undefined
}

function namesIn(list: string | null): Named {
  const paths = new Map<string, Set<string> | null>()
  for (const path of (list ?? "").toLowerCase().split(",")) {
    const [name, inner] = split(path.trim())
    if (name === "") continue
    const subPaths = paths.get(name)
    if (inner === undefined || subPaths === null) paths.set(name, null)
    else paths.set(name, new Set([...(subPaths ?? []), inner]))
  }
  return paths
}

/** An attribute and the part that a path selects; the extension is an attribute with the name of its schema. */
function split(path: string): [name: string, inner: string | undefined] {
  const extension = ENTERPRISE_SCHEMA.toLowerCase()
  if (path === extension) return [extension, undefined]
  if (path.startsWith(`${extension}:`)) return [extension, path.slice(extension.length + 1).split(".")[0]]
  const schema = [USER_SCHEMA, GROUP_SCHEMA].find((one) => path.startsWith(`${one.toLowerCase()}:`))
  const [name = "", inner] = (schema ? path.slice(schema.length + 1) : path).split(".")
  return [name, inner]
}
