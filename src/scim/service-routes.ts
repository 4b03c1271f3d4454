import { Hono, type MiddlewareHandler } from "hono"
import { countUnknownKey, refuseFlooding } from "../access/flood.ts"
import { logError } from "../support/log.ts"
import { sha256Hex } from "../support/encoding.ts"
import { type DirectoryRow, SERVICE_PATH } from "./directory.ts"
import { findDirectory } from "./directory-store.ts"
import { resourceTypes, schemas, serviceProviderConfig } from "./discovery.ts"
import { ScimError, toScimFailure } from "./errors.ts"
import { groupResources } from "./group-routes.ts"
import type { ScimApp } from "./schemas.ts"
import { userResources } from "./user-routes.ts"
import { listResponse, scimJson } from "./wire.ts"

const BEARER = /^Bearer +(\S{1,256}) *$/i

/** Which directory is pushing, or 401. Asked of the database each time: a directory that is disconnected stops at once. */
const authenticateDirectory: MiddlewareHandler<ScimApp> = async function authenticateDirectory(c, next) {
  const token = BEARER.exec(c.req.header("authorization") ?? "")?.[1]
  const ip = c.req.header("cf-connecting-ip")
  refuseFlooding(ip, Date.now())
  const directory: DirectoryRow | undefined =
    token === undefined ? undefined : await findDirectory(c.env.DB, sha256Hex(token))
  if (!directory) {
    if (token !== undefined) await countUnknownKey(c.env.RATE, ip, Date.now())
    throw new ScimError(401, "Send the directory's token: Authorization: Bearer <TOKEN>.")
  }
  c.set("directory", directory)
  c.set("base", new URL(c.req.url).origin + SERVICE_PATH)
  return next()
}

/** SCIM 2.0 (RFC 7643 and 7644), as directories speak it: under /scim/v2, with a directory's token. */
export const scimService = new Hono<ScimApp>()

scimService.use(authenticateDirectory)
scimService.get("/ServiceProviderConfig", (c) => scimJson(serviceProviderConfig(c.var.base)))
scimService.get("/ResourceTypes", (c) => {
  const types = resourceTypes(c.var.base)
  return scimJson(listResponse(types, types.length, 1))
})
scimService.get("/ResourceTypes/:id", (c) => {
  const found = resourceTypes(c.var.base).find(({ id }) => id === c.req.param("id"))
  if (!found) throw new ScimError(404, "There is no resource type with this name.")
  return scimJson(found)
})
scimService.get("/Schemas", (c) => {
  const all = schemas(c.var.base)
  return scimJson(listResponse(all, all.length, 1))
})
scimService.get("/Schemas/:id", (c) => {
  const found = schemas(c.var.base).find(({ id }) => id === c.req.param("id"))
  if (!found) throw new ScimError(404, "There is no schema with this id.")
  return scimJson(found)
})
scimService.route("/", userResources)
scimService.route("/", groupResources)
scimService.all("*", (c) => {
  const known = /\/(Users|Groups)(\/[^/]+)?$/.test(c.req.path)
  throw new ScimError(known ? 405 : 404, `There is no ${c.req.method} ${c.req.path}.`)
})

scimService.onError((thrown, c) => {
  const { status, headers, body, error } = toScimFailure(thrown)
  if (status >= 500) logError(error.message, { requestId: c.var.requestId }, error.cause)
  const challenge = status === 401 ? { "www-authenticate": "Bearer" } : {}
  return scimJson(body, status, { "cache-control": "no-store", ...challenge, ...headers })
})
