import { type Context, Hono, type MiddlewareHandler } from "hono"
import { originOf } from "../audit/actor.ts"
import { countUnknownKey, throttleUnknownKeys } from "../access/flood.ts"
import { findKnownDirectories } from "../access/known-keys-store.ts"
import { validate } from "../http/validate.ts"
import { logError } from "../support/log.ts"
import { sha256Hex } from "../support/encoding.ts"
import { runBulk } from "./bulk-run.ts"
import { type DirectoryRow, SERVICE_PATH } from "./directory.ts"
import { findDirectory } from "./directory-store.ts"
import { resourceTypes, schemas, serviceProviderConfig } from "./discovery.ts"
import { ScimError, toScimFailure } from "./errors.ts"
import { groups } from "./group-verbs.ts"
import type { ScimRequest } from "./request.ts"
import type { ScimApp } from "./schemas.ts"
import { users } from "./user-verbs.ts"
import {
  ListParameters,
  listResponse,
  mediaTypeFor,
  readBody,
  requireListParameters,
  scimJson,
  toQuery,
  toQueryError,
} from "./wire.ts"

const BEARER = /^Bearer +(\S{1,256}) *$/i
const MAX_SEARCH_BYTES = 65_536
const ENDPOINTS = { Users: users, Groups: groups }

/** Where the service is for this request, and what media type it is answered in. */
const speakScim: MiddlewareHandler<ScimApp> = async function speakScim(c, next) {
  c.set("base", new URL(c.req.url).origin + SERVICE_PATH)
  await next()
  const type = mediaTypeFor(c.req.header("accept") ?? "")
  if (c.res.headers.has("content-type")) c.res.headers.set("content-type", type)
}

/** Which directory is pushing, or 401. Asked of the database each time: a directory that is disconnected stops at once. */
const authenticateDirectory: MiddlewareHandler<ScimApp> = async function authenticateDirectory(c, next) {
  const token = BEARER.exec(c.req.header("authorization") ?? "")?.[1]
  const ip = c.req.header("cf-connecting-ip")
  const hash = sha256Hex(token ?? "")
  const asked = { kind: "directory", key: hash }
  await throttleUnknownKeys(ip, asked, (hashes) => findKnownDirectories(c.env.DB, hashes), Date.now())
  const directory: DirectoryRow | undefined = token === undefined ? undefined : await findDirectory(c.env.DB, hash)
  if (!directory) {
    if (token !== undefined) await countUnknownKey(c.env.RATE, ip, Date.now())
    throw new ScimError(401, "Send the directory's token: Authorization: Bearer <TOKEN>.")
  }
  c.set("directory", directory)
  return next()
}

/** RFC 7644, section 4: what the service tells of itself is told whole. */
const refuseFilter: MiddlewareHandler<ScimApp> = async function refuseFilter(c, next) {
  if (c.req.query("filter") !== undefined) throw new ScimError(403, "filter: is not taken here. Leave it out.")
  return next()
}

function requestOf(c: Context<ScimApp>): ScimRequest {
  const { directory, base, requestId } = c.var
  return {
    db: c.env.DB,
    directory,
    base,
    origin: originOf(c.req.raw, requestId),
    id: c.req.param("id") ?? "",
    headers: c.req.raw.headers,
    query: new URL(c.req.url).searchParams,
    body: (maxBytes) => readBody(c.req.raw, maxBytes),
  }
}

/** SCIM 2.0 (RFC 7643 and 7644), as directories speak it: under /scim/v2, with a directory's token. */
export const scimService = new Hono<ScimApp>()

/** Some directories end every path with a slash. */
const slashed = (path: string) => [path, `${path}/`]

scimService.use(speakScim)
// Told to anybody, so that a client learns how to authenticate: RFC 7643, section 5.
scimService.on("GET", slashed("/ServiceProviderConfig"), refuseFilter, (c) =>
  scimJson(serviceProviderConfig(c.var.base)),
)
scimService.use(authenticateDirectory)
for (const path of ["/ResourceTypes", "/ResourceTypes/*", "/Schemas", "/Schemas/*"]) scimService.use(path, refuseFilter)
scimService.on("GET", slashed("/ResourceTypes"), (c) => {
  const types = resourceTypes(c.var.base)
  return scimJson(listResponse(types, types.length, 1))
})
scimService.get("/ResourceTypes/:id", (c) => {
  const found = resourceTypes(c.var.base).find(({ id }) => id === c.req.param("id"))
  if (!found) throw new ScimError(404, "There is no resource type with this name.")
  return scimJson(found)
})
scimService.on("GET", slashed("/Schemas"), (c) => {
  const all = schemas(c.var.base)
  return scimJson(listResponse(all, all.length, 1))
})
scimService.get("/Schemas/:id", (c) => {
  const wanted = c.req.param("id").toLowerCase()
  const found = schemas(c.var.base).find(({ id }) => id.toLowerCase() === wanted)
  if (!found) throw new ScimError(404, "There is no schema with this id.")
  return scimJson(found)
})
for (const [name, verbs] of Object.entries(ENDPOINTS)) {
  const [all, one] = [slashed(`/${name}`), slashed(`/${name}/:id`)]
  for (const path of all) scimService.get(path, validate("query", ListParameters, toQueryError))
  scimService.on("GET", all, (c) => verbs.list(requestOf(c)))
  scimService.on("POST", all, (c) => verbs.create(requestOf(c)))
  scimService.on("POST", slashed(`/${name}/.search`), async (c) => {
    const query = toQuery(await readBody(c.req.raw, MAX_SEARCH_BYTES))
    requireListParameters(query)
    return verbs.list({ ...requestOf(c), query })
  })
  scimService.on("GET", one, (c) => verbs.read(requestOf(c)))
  scimService.on("PUT", one, (c) => verbs.replace(requestOf(c)))
  scimService.on("PATCH", one, (c) => verbs.patch(requestOf(c)))
  scimService.on("DELETE", one, (c) => verbs.remove(requestOf(c)))
}
scimService.post("/Bulk", (c) => runBulk(requestOf(c), ENDPOINTS))

/** What RFC 7644 lets a service leave out: a token is no person's, and one list holds one type. */
const LEFT_OUT = [
  { paths: ["/Me", "/Me/*"], words: "/Me is not served: the token is a directory's, not a person's." },
  { paths: ["/", "/.search"], words: "Lists of all types are not served. Ask /Users or /Groups." },
]
for (const { paths, words } of LEFT_OUT) {
  scimService.on(["GET", "POST", "PUT", "PATCH", "DELETE"], paths, () => {
    throw new ScimError(501, words)
  })
}

const METHODS = [
  { path: /^\/(Users|Groups)\/?$/, allow: "GET, POST" },
  { path: /^\/(Users|Groups)\/\.search\/?$|^\/Bulk$/, allow: "POST" },
  { path: /^\/(Users|Groups)\/[^/]+\/?$/, allow: "GET, PUT, PATCH, DELETE" },
  { path: /^\/(ServiceProviderConfig|(ResourceTypes|Schemas)(\/[^/]+)?)\/?$/, allow: "GET" },
]
scimService.all("*", (c) => {
  const allow = METHODS.find(({ path }) => path.test(c.req.path.slice(SERVICE_PATH.length)))?.allow
  const { status, body } = toScimFailure(new ScimError(allow ? 405 : 404, `There is no ${c.req.method} ${c.req.path}.`))
  return scimJson(body, status, allow ? { allow } : {})
})

scimService.onError((thrown, c) => {
  const { status, headers, body, error } = toScimFailure(thrown)
  if (status >= 500) logError(error.message, { requestId: c.var.requestId }, error.cause)
  const challenge = status === 401 ? { "www-authenticate": "Bearer" } : {}
  return scimJson(body, status, { "cache-control": "no-store", ...challenge, ...headers })
})
