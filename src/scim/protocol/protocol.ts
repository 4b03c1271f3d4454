import * as z from "zod"
import { firstValue } from "../../http/validate.ts"
import { readAtMost } from "../../support/bytes.ts"
import { isObject, type Json, parseJson } from "../../support/text/json.ts"
import { invalid, ScimError } from "./errors.ts"
import { message, NOT_AN_OBJECT, rule } from "./message.ts"
import { versionTag } from "../resources/user.ts"

export const MEDIA_TYPE = "application/scim+json"
const JSON_TYPE = /^application\/(?:scim\+)?json\s*(?:;|$)/i

const asJson = (type: string) => type.includes("application/json")

/** The media type of a response: SCIM's, unless the client accepts only plain JSON (RFC 7644, section 3.8). */
export function mediaTypeFor(accept: string): string {
  const types = accept.toLowerCase().split(",")
  return types.some(asJson) && !types.some((type) => /scim\+json|\*\//.test(type)) ? "application/json" : MEDIA_TYPE
}

export function scimJson(body: unknown, status = 200, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), { status, headers: { "content-type": MEDIA_TYPE, ...headers } })
}

/** The attributes of a message with lower-case names. */
export function foldNames(body: Json): Json {
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name.toLowerCase(), value]))
}

/** The bytes of a JSON body of at most `maxBytes`. */
export async function readJsonBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  if (!JSON_TYPE.test(request.headers.get("content-type") ?? "")) {
    throw new ScimError(415, `Send the body as JSON, with Content-Type: ${MEDIA_TYPE}.`)
  }
  const tooLarge = new ScimError(413, `The body is larger than the maximum of ${maxBytes} bytes for this path.`)
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) throw tooLarge
  const bytes = request.body ? await readAtMost(request.body, maxBytes) : new Uint8Array()
  if (!bytes) throw tooLarge
  return bytes
}

/** The JSON object of a request, of at most `maxBytes`. */
export async function readBody(request: Request, maxBytes: number): Promise<Json> {
  const body = parseJson(new TextDecoder().decode(await readJsonBytes(request, maxBytes)))
  if (!isObject(body)) throw invalid("invalidSyntax", NOT_AN_OBJECT)
  return body
}

export const MAX_PAGE = 200
/** 32-bit maximum; no list is as long. */
const MAX_INTEGER = 2_147_483_647
const DEFAULT_PAGE = 100

export type ListQuery = {
  filter: string | undefined
  sortBy: string | undefined
  descending: boolean
  /** From 1. */
  startIndex: number
  count: number
}

/** The parameters of a list (RFC 7644, section 3.4.2). Numbers are clamped to their range. */
export function readListQuery(query: URLSearchParams): ListQuery {
  return {
    filter: query.get("filter") || undefined,
    sortBy: query.get("sortBy") || undefined,
    descending: query.get("sortOrder")?.toLowerCase() === "descending",
    startIndex: Math.max(1, readInteger(query, "startIndex", 1)),
    count: Math.min(MAX_PAGE, Math.max(0, readInteger(query, "count", DEFAULT_PAGE))),
  }
}

function readInteger(query: URLSearchParams, name: string, standard: number): number {
  const text = query.get(name)
  return text === null || text === "" ? standard : Math.min(MAX_INTEGER, Number(text))
}

const integer = z
  .string()
  .regex(/^([+-]?\d{1,40})?$/, "must be an integer")
  .optional()

/** Checks the numeric parameters of a list. */
export const ListParameters = z.looseObject({
  startIndex: z.preprocess(firstValue, integer),
  count: z.preprocess(firstValue, integer),
})

const isParameter = (value: unknown) => ["string", "number"].includes(typeof value) || Array.isArray(value)
const parameter = rule<string | number | unknown[]>(
  "invalidValue",
  "must be a string, a number or an array",
  isParameter,
)
  .nullish()
  .transform((value) => (value == null ? undefined : Array.isArray(value) ? value.join(",") : String(value)))

/** A search (RFC 7644, section 3.4.3), as the query of an equivalent list. */
export const SearchRequest = message({
  attributes: parameter,
  excludedAttributes: parameter,
  filter: parameter,
  sortBy: parameter,
  sortOrder: parameter,
  startIndex: parameter.pipe(integer),
  count: parameter.pipe(integer),
}).transform((fields) => {
  const defined = Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))
  return new URLSearchParams(defined)
})

export function listResponse(resources: readonly object[], total: number, startIndex: number) {
  return {
    schemas: ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
    totalResults: total,
    startIndex,
    itemsPerPage: resources.length,
    Resources: resources,
  }
}

/** Whether an entity-tag header matches this version; undefined without the header. */
function names(header: string | null, version: number): boolean | undefined {
  if (header === null) return undefined
  const tags = header.split(",").map((tag) => tag.trim().replace(/^W\//, ""))
  return tags.includes("*") || tags.includes(versionTag(version).slice(2))
}

/** Throws 412 if If-Match does not match the version of the resource. */
export function requireMatch(headers: Headers, version: number): void {
  if (names(headers.get("if-match"), version) === false) throw outdatedError()
}

/** Whether the client requires a version for a write. */
export function hasMatch(headers: Headers): boolean {
  return headers.has("if-match")
}

export function isUnchanged(headers: Headers, version: number): boolean {
  return names(headers.get("if-none-match"), version) === true
}

export function outdatedError(): ScimError {
  return new ScimError(412, "The resource was changed concurrently. Read it, and send If-Match with its meta.version.")
}
