import type { MiddlewareHandler } from "hono"
import { NO_BUDGETS } from "../budgets/budget.ts"
import { findWorkspaceBudgets } from "../budgets/store.ts"
import { findOwnKeys } from "../byok/store.ts"
import { GatewayError } from "../errors/errors.ts"
import type { Env } from "../config/env.ts"
import type { App } from "../access/app.ts"
import { toCallerGuardrails } from "../guardrails/applied.ts"
import { findCallerGuardrails } from "../guardrails/store.ts"
import { findKey, findOperatorHome, toRights } from "../keys/store.ts"
import { findHeads } from "../observability/store.ts"
import { toCallDefaults } from "../workspaces/settings.ts"
import type { Caller } from "../access/caller.ts"
import { countUnknownKey, refuseUnknownOfFlood } from "../access/flood.ts"
import { hashKey } from "../access/key.ts"
import { findKnownKeys } from "../access/known-keys-store.ts"

/**
 * How long an isolate may go on believing what it last read of a key: the bound on how late a disabled, deleted or
 * re-limited key takes effect elsewhere. What is not there is believed for less, so that a new key works at once.
 */
export const KEY_CACHE_MS = 5_000
export const UNKNOWN_KEY_CACHE_MS = 1_000
const MAX_CACHED_KEYS = 10_000

type Remembered = { caller: Caller | undefined; until: number }
const remembered = new Map<string, Remembered>()

/** Drop what this isolate remembers of a key and of the keys below it, after changing it. */
export function forgetKey(hash: string): void {
  remembered.delete(hash)
  for (const [other, { caller }] of remembered) {
    // A key that does not work may be one below it.
    if (!caller || caller.ancestors.some(({ keyHash }) => keyHash === hash)) remembered.delete(other)
  }
}

/** Drop what this isolate remembers of a workspace's keys, after changing what they may spend. */
export function forgetWorkspace(workspaceId: string): void {
  for (const [hash, { caller }] of remembered) if (caller?.workspaceId === workspaceId) remembered.delete(hash)
}

/** The same of an organization's keys, after changing what it may do. */
export function forgetOrganization(organizationId: string): void {
  for (const [hash, { caller }] of remembered) if (caller?.organizationId === organizationId) remembered.delete(hash)
}

const BEARER = /^Bearer +(\S+) *$/i

/** Who is asking, or 401. The one reader of the credential. */
export const authenticate: MiddlewareHandler<App> = async function authenticate(c, next) {
  c.set("caller", await callerOf(credentialOf(c.req.raw.headers), c.req.header("cf-connecting-ip"), c.env, Date.now()))
  return next()
}

/** Clients of the Messages wire send the key in a header of its own. Where both are sent, Authorization counts. */
function credentialOf(headers: Headers): string | undefined {
  const bare = headers.get("x-api-key")
  return headers.get("authorization") ?? (bare === null ? undefined : `Bearer ${bare}`)
}

async function callerOf(
  authorization: string | undefined,
  ip: string | undefined,
  env: Env,
  now: number,
): Promise<Caller> {
  if (!authorization) throw unauthenticated("Send your API key: Authorization: Bearer <API_KEY>.")
  const secret = BEARER.exec(authorization)?.[1]
  const caller = secret === undefined ? undefined : await find(hashKey(secret), ip, env, now)
  // One answer for unknown, disabled and expired: a prober learns nothing from the difference.
  if (!caller || (caller.expiresAt !== null && caller.expiresAt <= now)) {
    throw unauthenticated("This API key is not valid.")
  }
  return caller
}

/** Who holds the key with this hash, while it works: for a session that was begun with it. */
export async function callerByHash(hash: string, env: Env, now: number): Promise<Caller | undefined> {
  const caller = await find(hash, undefined, env, now)
  return caller && (caller.expiresAt === null || caller.expiresAt > now) ? caller : undefined
}

async function find(hash: string, ip: string | undefined, env: Env, now: number): Promise<Caller | undefined> {
  const known = remembered.get(hash)
  if (known && known.until > now) return known.caller
  const operator = await findOperator(hash, env)
  const asked = { kind: "key", key: hash }
  if (!operator) await refuseUnknownOfFlood(ip, asked, (hashes) => findKnownKeys(env.DB, hashes), now)
  const caller = operator ?? (await findKey(env.DB, hash))
  if (!caller) await countUnknownKey(env.RATE, ip, now)
  remembered.delete(hash)
  if (remembered.size >= MAX_CACHED_KEYS) remembered.delete(remembered.keys().next().value ?? "")
  remembered.set(hash, { caller, until: now + (caller ? KEY_CACHE_MS : UNKNOWN_KEY_CACHE_MS) })
  return caller
}

/** The bootstrap key is a secret of the deployment, not a row. It acts for the first organization, once there is one. */
async function findOperator(hash: string, env: Env): Promise<Caller | undefined> {
  const secret = env.BOOTSTRAP_MANAGEMENT_KEY
  if (!secret || hash !== hashKey(secret)) return undefined
  const home = await findOperatorHome(env.DB)
  const { organizationId = "", workspaceId, ownerId = null } = home ?? {}
  const guardrails = workspaceId
    ? await findCallerGuardrails(env.DB, hash, { organizationId, workspaceId, userId: ownerId })
    : []
  return {
    keyHash: hash,
    label: "bootstrap",
    kind: "management",
    source: "created",
    ancestors: [],
    isOperator: true,
    organizationId,
    workspaceId: workspaceId ?? "",
    creatorUserId: home?.ownerId ?? null,
    externalUser: null,
    limitNano: null,
    limitReset: null,
    includeByokInLimit: false,
    defaults: toCallDefaults(home?.settings ?? null),
    budgets: workspaceId ? await findWorkspaceBudgets(env.DB, workspaceId) : NO_BUDGETS,
    guardrails: toCallerGuardrails(guardrails),
    byok: workspaceId ? await findOwnKeys(env.DB, { organizationId, workspaceId }) : [],
    destinations: workspaceId ? await findHeads(env.DB, { organizationId, workspaceId }) : [],
    expiresAt: null,
    internId: null,
    ...toRights(home?.rights ?? 0),
  }
}

function unauthenticated(message: string): GatewayError {
  return new GatewayError("unauthenticated", message, { headers: { "www-authenticate": "Bearer" } })
}
