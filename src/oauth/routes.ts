import { clientIpOf } from "../http/request/client-ip.ts"
import { createRoute } from "@hono/zod-openapi"
import type { Context } from "hono"
import * as z from "zod"
import { actorOf, entryOf } from "../audit/actor.ts"
import { countUnknownKey, throttleUnknownKeys } from "../access/flood.ts"
import { invalidateKey } from "../access/key-cache.ts"
import { findKnownCodes } from "../access/known-keys-store.ts"
import { principalByHash } from "../policy/authenticate.ts"
import type { Principal } from "../access/principal.ts"
import { hashKey, newKey } from "../access/key.ts"
import { changesOf, newEntry } from "../audit/entry.ts"
import { acceptJson, newRouter } from "../http/router.ts"
import { failures, jsonBody, ok } from "../http/schema.ts"
import type { App } from "../access/app.ts"
import { masterKeysOf } from "../secrets/master-key.ts"
import { workspaceOf } from "../workspaces/requested.ts"
import { isProven, newCode, invalidExchange, requireApprover, toCode, toKeyRow } from "./code.ts"
import { Code, CodeRequest, ExchangedKey, Exchange, Jwks } from "./schemas.ts"
import { publicKeys } from "./signing-key.ts"
import { attemptCode, exchangeCode, insertCode } from "./store.ts"
import type { CodeRow } from "./table.ts"

const MAX_BODY_BYTES = 65_536
const tags = ["OAuth"]

const create = createRoute({
  method: "post",
  path: "/auth/keys/code",
  operationId: "createAuthorizationCode",
  tags,
  summary: "Create an authorization code",
  description: "An app exchanges it for a key, on behalf of this key's holder.",
  middleware: [acceptJson(MAX_BODY_BYTES)] as const,
  request: { body: jsonBody(CodeRequest) },
  responses: {
    200: ok(z.object({ data: Code })),
    ...failures("invalid_request", "unauthenticated", "forbidden", "not_found", "internal"),
  },
})

const exchange = createRoute({
  method: "post",
  path: "/auth/keys",
  operationId: "exchangeAuthorizationCode",
  tags,
  summary: "Exchange an authorization code for a key",
  description: "Each code works once.",
  security: [],
  middleware: [acceptJson(MAX_BODY_BYTES)] as const,
  request: { body: jsonBody(Exchange) },
  responses: { 200: ok(ExchangedKey), ...failures("invalid_request", "forbidden", "rate_limited", "internal") },
})

const jwks = createRoute({
  method: "get",
  path: "/oauth/jwks",
  operationId: "listOauthJwks",
  tags,
  summary: "List the public keys of tokens",
  description: "Public keys for the tokens that POST /oauth/token issues.",
  security: [],
  responses: { 200: ok(Jwks), ...failures("internal") },
})

/** Requires a key: its holder approves another key for an app. */
export const oauthCodes = newRouter().openapi(create, async (c) => {
  const { code, row } = await approve(c, c.req.valid("json"), c.var.principal)
  return c.json({ data: toCode(code, row) }, 200)
})

/** Creates a code on behalf of a principal, with its audit entry. */
export async function approve(c: Context<App>, request: CodeRequest, principal: Principal) {
  requireApprover(principal)
  const workspaceId = await workspaceOf(c.env.DB, principal, request.workspace_id)
  const { code, row } = newCode(request, principal, workspaceId, Date.now())
  const changed = changesOf(request, ["callback_url", "key_label", "limit", "usage_limit_type", "expires_at"])
  c.set("principal", principal)
  const resourceId = row.hash
  await insertCode(c.env.DB, row, entryOf(c, { action: "oauth_code.create", resourceId, workspaceId, changed }))
  return { code, row }
}

/** Unknown codes count as unknown keys of the address. */
async function openCode(c: Context<App>, hash: string, now: number): Promise<CodeRow | undefined> {
  const ip = clientIpOf(c.req.raw, c.env)
  await throttleUnknownKeys(ip, { kind: "code", key: hash }, (hashes) => findKnownCodes(c.env.DB, hashes), now)
  const row = await attemptCode(c.env.DB, hash, now)
  if (!row) await countUnknownKey(c.env.RATE, ip, now)
  return row
}

/** Without authentication. */
export const oauthKeys = newRouter()
  .openapi(exchange, async (c) => {
    const input = c.req.valid("json")
    const now = Date.now()
    const hash = hashKey(input.code)
    const row = await openCode(c, hash, now)
    const approver = row && isProven(row, input) ? await principalByHash(row.approvedBy, c.env, now) : undefined
    if (!row || !approver) throw invalidExchange()
    const { secret, hash: keyHash, label } = newKey()
    const key = toKeyRow(row, { hash: keyHash, label }, approver, now)
    c.set("principal", approver)
    const changed = changesOf({ name: key.name, kind: key.kind, callback_url: row.callbackUrl }, AUDITED_FIELDS)
    const event = { action: "api_key.create", resourceId: keyHash, workspaceId: row.workspaceId, changed } as const
    if (!(await exchangeCode(c.env.DB, { hash, key, now, entry: newEntry(actorOf(c), event) }))) throw invalidExchange()
    invalidateKey(keyHash)
    return c.json({ key: secret, user_id: row.userId }, 200)
  })
  .openapi(jwks, async (c) => {
    c.header("cache-control", "public, max-age=300")
    return c.json({ keys: await publicKeys(masterKeysOf(c.env)) }, 200)
  })

const AUDITED_FIELDS = ["name", "kind", "callback_url"]
