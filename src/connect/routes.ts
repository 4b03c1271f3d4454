import { createRoute } from "@hono/zod-openapi"
import * as z from "zod"
import { hashKey } from "../access/key.ts"
import { actorOf, auditForbidden, entryOf } from "../audit/actor.ts"
import { GatewayError } from "../errors/errors.ts"
import { acceptJson, newRouter } from "../http/router.ts"
import { failures, jsonBody, ok } from "../http/schema.ts"
import { toTimestamp } from "../support/time/time.ts"
import { sealFor } from "../workspaces/seal.ts"
import { secretAad, linkCommand, linkUrl, modelOf, MAX_LINKS, newLink, requireMayHandOver } from "./link.ts"
import { redeemLink, textModels, workingKey } from "./redeem.ts"
import { ConnectLink, NewConnectLink, RedeemedLink, Redemption } from "./schemas.ts"
import { insertLink } from "./store.ts"

const MAX_BODY_BYTES = 65_536
const tags = ["API keys"]

const create = createRoute({
  method: "post",
  path: "/connect-links",
  operationId: "createConnectLink",
  tags,
  summary: "Create a link that connects an agent",
  description:
    "It gives an API key to a coding tool on another machine, once, within 15 minutes. The caller presents the key's secret, and is that key or one that may create keys of its kind. The secret is kept sealed until then.",
  middleware: [auditForbidden, acceptJson(MAX_BODY_BYTES)] as const,
  request: { body: jsonBody(NewConnectLink) },
  responses: {
    201: ok(z.object({ data: ConnectLink }), "The link, which is returned in this response only."),
    ...failures("invalid_request", "unauthenticated", "forbidden", "not_found", "conflict", "internal"),
  },
})

const redeem = createRoute({
  method: "post",
  path: "/connect-links/redeem",
  operationId: "redeemConnectLink",
  tags,
  summary: "Redeem a link that connects an agent",
  description: "Needs no key. Works once; of two concurrent requests, one gets the key.",
  security: [],
  middleware: [acceptJson(MAX_BODY_BYTES)] as const,
  request: { body: jsonBody(Redemption) },
  responses: {
    200: ok(z.object({ data: RedeemedLink })),
    ...failures("invalid_request", "not_found", "conflict", "gone", "rate_limited", "internal"),
  },
})

/** Requires a key. */
export const connectLinks = newRouter().openapi(create, async (c) => {
  const { principal } = c.var
  const { client, key: secret, model: chosen = null } = c.req.valid("json")
  const now = Date.now()
  const key = await workingKey(c.env.DB, hashKey(secret), now)
  if (!key || key.organizationId !== principal.organizationId) {
    throw new GatewayError("not_found", "key: must be the secret of a working key of this organization.")
  }
  requireMayHandOver(principal, key)
  modelOf(client, chosen, await textModels(c, key))
  const { token, row } = newLink(key, { client, model: chosen }, now)
  const sealed = await sealFor(c.env, actorOf(c), secretAad(row), secret)
  const { id, workspaceId, keyHash } = row
  const changed = { fields: ["client", "key", "model"], values: { client, key_hash: keyHash, model: chosen } }
  const entry = entryOf(c, { action: "connect_link.create", resourceId: id, workspaceId, changed })
  if (!(await insertLink(c.env.DB, { row: { ...row, sealed }, most: MAX_LINKS, entry }))) {
    const rule = `This key has ${MAX_LINKS} unused links, or no longer works. Use one of them, or wait until they expire.`
    throw new GatewayError("conflict", rule)
  }
  const { origin } = new URL(c.req.url)
  const url = linkUrl(origin, client, token)
  const link = { id, client, model: chosen, key_hash: keyHash, url, command: linkCommand(origin, url) }
  return c.json({ data: { ...link, expires_at: toTimestamp(row.expiresAt) } }, 201)
})

/** Unauthenticated: the token of the link is the credential. */
export const connectRedemption = newRouter().openapi(redeem, async (c) =>
  c.json({ data: await redeemLink(c, c.req.valid("json").token) }, 200),
)
