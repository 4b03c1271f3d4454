import { clientIpOf } from "../http/request/client-ip.ts"
import { type Context, Hono, type MiddlewareHandler } from "hono"
import { HTTPException } from "hono/http-exception"
import { originOf } from "../audit/actor.ts"
import { countUnknownKey, throttleUnknownKeys } from "../access/flood.ts"
import { findKnownDirectories } from "../access/known-keys-store.ts"
import { validate } from "../http/validate.ts"
import { logError } from "../support/log.ts"
import { sha256Hex } from "../support/text/encoding.ts"
import { BulkRequest, MAX_BULK_BYTES, toBulkError } from "./protocol/bulk.ts"
import { runBulk } from "./protocol/bulk-run.ts"
import { SERVICE_PATH } from "./directory.ts"
import type { DirectoryRow } from "./table.ts"
import { findByToken } from "./directory-store.ts"
import { resourceTypes, schemas, serviceProviderConfig } from "./protocol/discovery.ts"
import { invalid, ScimError, toScimFailure } from "./protocol/errors.ts"
import { groups } from "./resources/group-verbs.ts"
import { NOT_AN_OBJECT, toScimError } from "./protocol/message.ts"
import { PatchRequest } from "./protocol/patch.ts"
import type { ScimRequest } from "./protocol/request.ts"
import type { ScimApp } from "./schemas.ts"
import { users } from "./resources/user-verbs.ts"
import {
  ListParameters,
  listResponse,
  mediaTypeFor,
  readBody,
  readJsonBytes,
  scimJson,
  SearchRequest,
} from "./protocol/protocol.ts"

const BEARER = /^Bearer +(\S{1,256}) *$/i
const MAX_SEARCH_BYTES = 65_536
const ENDPOINTS = { Users: users, Groups: groups }

/** Sets the base URL of the service and the media type of the response. */
const serveScim: MiddlewareHandler<ScimApp> = async function serveScim(c, next) {
  c.set("base", new URL(c.req.url).origin + SERVICE_PATH)
  await next()
  const type = mediaTypeFor(c.req.header("accept") ?? "")
  if (c.res.headers.has("content-type")) c.res.headers.set("content-type", type)
}

/**
 * Identifies the directory by its token. Not cached, so that a disconnected directory is rejected at once.
 */
const authenticateDirectory: MiddlewareHandler<ScimApp> = async function authenticateDirectory(c, next) {
  const token = BEARER.exec(c.req.header("authorization") ?? "")?.[1]
  const ip = clientIpOf(c.req.raw, c.env)
  const hash = sha256Hex(token ?? "")
  const requested = { kind: "directory", key: hash }
  const now = Date.now()
  await throttleUnknownKeys(ip, requested, (hashes) => findKnownDirectories(c.env.DB, hashes, now), now)
  const directory: DirectoryRow | undefined = token === undefined ? undefined : await findByToken(c.env.DB, hash, now)
  if (!directory) {
    if (token !== undefined) await countUnknownKey(c.env.RATE, ip, now)
    throw new ScimError(401, "Send the directory's token: Authorization: Bearer <TOKEN>.")
  }
  c.set("directory", directory)
  return next()
}

/** Discovery endpoints take no filter (RFC 7644, section 4). */
const rejectFilter: MiddlewareHandler<ScimApp> = async function rejectFilter(c, next) {
  if (c.req.query("filter") !== undefined) throw new ScimError(403, "filter: is not accepted here. Omit it.")
  return next()
}

/** Reads a JSON body of at most `maxBytes`, for the validator that follows. */
const acceptScimJson = (maxBytes: number): MiddlewareHandler<ScimApp> =>
  async function acceptScimJson(c, next) {
    const body = await readJsonBytes(c.req.raw, maxBytes)
    c.req.raw = new Request(c.req.raw, { method: c.req.method, body })
    return next()
  }

function requestOf(c: Context<ScimApp>): ScimRequest {
  const { directory, base } = c.var
  return {
    db: c.env.DB,
    directory,
    base,
    origin: originOf(c),
    id: c.req.param("id") ?? "",
    headers: c.req.raw.headers,
    query: new URL(c.req.url).searchParams,
    body: (maxBytes) => readBody(c.req.raw, maxBytes),
  }
}

/** The SCIM 2.0 service (RFC 7643 and 7644) under /scim/v2, for requests with a directory's token. */
export const scimService = new Hono<ScimApp>()

/** Some directories append a slash to every path. */
const slashed = (path: string) => [path, `${path}/`]

scimService.use(serveScim)
// Without authentication, so that a client learns how to authenticate (RFC 7643, section 5).
scimService.on("GET", slashed("/ServiceProviderConfig"), rejectFilter, (c) =>
  scimJson(serviceProviderConfig(c.var.base)),
)
scimService.use(authenticateDirectory)
for (const path of ["/ResourceTypes", "/ResourceTypes/*", "/Schemas", "/Schemas/*"]) scimService.use(path, rejectFilter)
scimService.on("GET", slashed("/ResourceTypes"), (c) => {
  const types = resourceTypes(c.var.base)
  return scimJson(listResponse(types, types.length, 1))
})
scimService.on("GET", slashed("/ResourceTypes/:id"), (c) => {
  const found = resourceTypes(c.var.base).find(({ id }) => id === c.req.param("id"))
  if (!found) throw new ScimError(404, "There is no resource type with this name.")
  return scimJson(found)
})
scimService.on("GET", slashed("/Schemas"), (c) => {
  const all = schemas(c.var.base)
  return scimJson(listResponse(all, all.length, 1))
})
scimService.on("GET", slashed("/Schemas/:id"), (c) => {
  const wantedId = c.req.param("id")?.toLowerCase()
  const found = schemas(c.var.base).find(({ id }) => id.toLowerCase() === wantedId)
  if (!found) throw new ScimError(404, "There is no schema with this id.")
  return scimJson(found)
})
for (const [name, verbs] of Object.entries(ENDPOINTS)) {
  const [all, single] = [slashed(`/${name}`), slashed(`/${name}/:id`)]
  for (const path of all) scimService.get(path, validate("query", ListParameters, toScimError))
  scimService.on("GET", all, (c) => verbs.list(requestOf(c)))
  scimService.on("POST", all, (c) => verbs.create(requestOf(c)))
  for (const path of slashed(`/${name}/.search`)) {
    scimService.post(path, acceptScimJson(MAX_SEARCH_BYTES), validate("json", SearchRequest, toScimError), (c) =>
      verbs.list({ ...requestOf(c), query: c.req.valid("json") }),
    )
  }
  scimService.on("GET", single, (c) => verbs.read(requestOf(c)))
  scimService.on("PUT", single, (c) => verbs.replace(requestOf(c)))
  for (const path of single) {
    scimService.patch(path, acceptScimJson(verbs.maxBodyBytes), validate("json", PatchRequest, toScimError), (c) =>
      verbs.patch(requestOf(c), c.req.valid("json").Operations),
    )
  }
  scimService.on("DELETE", single, (c) => verbs.remove(requestOf(c)))
}
const bulk = validate("json", BulkRequest, toBulkError)
for (const path of slashed("/Bulk")) {
  scimService.post(path, acceptScimJson(MAX_BULK_BYTES), bulk, (c) =>
    runBulk(c.req.valid("json"), requestOf(c), ENDPOINTS),
  )
}

/** Optional in RFC 7644: a token does not belong to a person, and a list has one resource type. */
const ALL_TYPES = "Lists of all types are not served. Request /Users or /Groups."
const NOT_SERVED = [
  { paths: ["/Me", "/Me/*"], detail: "/Me is not served: the token is a directory's, not a person's." },
  { paths: ["/", "/.search", "/.search/"], detail: ALL_TYPES },
]
for (const { paths, detail } of NOT_SERVED) {
  scimService.on(["GET", "POST", "PUT", "PATCH", "DELETE"], paths, () => {
    throw new ScimError(501, detail)
  })
}

const METHODS = [
  { path: /^\/(Users|Groups)\/?$/, allow: "GET, POST" },
  { path: /^\/(Users|Groups)\/\.search\/?$|^\/Bulk\/?$/, allow: "POST" },
  { path: /^\/(Users|Groups)\/[^/]+\/?$/, allow: "GET, PUT, PATCH, DELETE" },
  { path: /^\/(ServiceProviderConfig|(ResourceTypes|Schemas)(\/[^/]+)?)\/?$/, allow: "GET" },
]
scimService.all("*", (c) => {
  const requested = c.req.path.slice(SERVICE_PATH.length)
  // The router joins this path to one without the slash.
  if (requested === "/") throw new ScimError(501, ALL_TYPES)
  const allow = METHODS.find(({ path }) => path.test(requested))?.allow
  const { status, body } = toScimFailure(new ScimError(allow ? 405 : 404, `There is no ${c.req.method} ${c.req.path}.`))
  return scimJson(body, status, allow ? { allow } : {})
})

scimService.onError((thrown, c) => {
  const isMalformed = thrown instanceof HTTPException && thrown.status === 400
  const failure = isMalformed ? invalid("invalidSyntax", NOT_AN_OBJECT) : thrown
  const { status, headers, body, error } = toScimFailure(failure)
  // 501 is what the gateway does not offer, not a fault.
  if (status >= 500 && status !== 501) logError(error.message, { requestId: c.var.requestId }, error.cause)
  const challenge = status === 401 ? { "www-authenticate": "Bearer" } : {}
  return scimJson(body, status, { "cache-control": "no-store", ...challenge, ...headers })
})
