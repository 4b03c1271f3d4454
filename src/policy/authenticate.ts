import { clientIpOf } from "../http/request/client-ip.ts"
import type { MiddlewareHandler } from "hono"
import type { App } from "../access/app.ts"
import { countUnknownKey, throttleUnknownKeys } from "../access/flood.ts"
import { cachedKey, cacheKey, currentKey, KEY_CACHE_MS } from "../access/key-cache.ts"
import { hashKey, KEY_PREFIX } from "../access/key.ts"
import { findKnownKeys } from "../access/known-keys-store.ts"
import { refreshChanges } from "../access/policy-changes.ts"
import type { Principal } from "../access/principal.ts"
import type { Env } from "../config/env.ts"
import { GatewayError } from "../errors/errors.ts"
import { requireJurisdiction } from "../organizations/jurisdiction.ts"
import { ExpiringMap } from "../support/time/expiring-map.ts"
import { withRunContext } from "./run-context.ts"
import { type Access, loadOperator, readAccess } from "./store.ts"

const BEARER = /^Bearer +(\S+) *$/i

/** The principal of a request that carries no API key, for example by a session cookie. */
type ReadSession = (request: Request, env: Env) => Promise<Principal | undefined>

/**
 * Sets the principal of a request, or fails with 401. The only reader of the credential. `readSession` runs only for a
 * request without an API key: a key in a header always wins.
 */
export function authenticateWith(readSession: ReadSession, readCredential = credentialOf): MiddlewareHandler<App> {
  return async function authenticate(c, next) {
    const credential = readCredential(c.req.raw.headers)
    const session = credential === undefined ? await readSession(c.req.raw, c.env) : undefined
    const ip = clientIpOf(c.req.raw, c.env)
    refreshChanges(c.env.DB, (work) => c.executionCtx.waitUntil(work), Date.now())
    const principal = session ?? (await principalOf(credential, ip, c.env, Date.now()))
    c.set("principal", await withRunContext(principal, c.env, c.req.raw))
    return next()
  }
}

/**
 * The principal of a request whose key is cached; undefined if the key is not valid or more must be loaded, such as the
 * runs of an intern.
 */
export function cachedPrincipal(headers: Headers, now: number): Principal | undefined {
  const credential = credentialOf(headers)
  const hash = credential === undefined ? undefined : cachedHash(credential, now)
  const principal = hash === undefined ? undefined : cachedKey(hash, now)?.value
  return principal?.internId === null && !isExpired(principal, now) ? principal : undefined
}

const MAX_CACHED_HASHES = 10_000
/** Hashes by credential, in memory only: hashing costs as much as routing a call. */
const hashes = new ExpiringMap<string, string>(MAX_CACHED_HASHES)

function cachedHash(credential: string, now: number): string | undefined {
  const cached = hashes.get(credential, now)
  if (cached) return cached.value
  const secret = BEARER.exec(credential)?.[1]
  if (secret === undefined) return undefined
  const hash = hashKey(secret)
  // Only credentials of valid keys, so that unknown ones cannot evict them.
  if (cachedKey(hash, now)?.value) hashes.set(credential, hash, now + KEY_CACHE_MS)
  return hash
}

/** Headers of the key: of Anthropic's, Google's, Azure OpenAI's, Portkey's, LiteLLM's and Bifrost's clients. */
const KEY_HEADERS = ["x-api-key", "x-goog-api-key", "api-key", "x-portkey-api-key", "x-litellm-api-key", "x-bf-vk"]

/**
 * The key of a request, as the value of `Authorization`. If several headers are sent, Authorization is used, then the
 * order of KEY_HEADERS. A web page cannot set headers of a WebSocket, so OpenAI's client sends the key as a subprotocol.
 */
export function credentialOf(headers: Headers): string | undefined {
  const credential = headers.get("authorization")
  if (credential !== null) return credential
  const bare = firstOf(headers, KEY_HEADERS) ?? keyProtocolOf(headers.get("sec-websocket-protocol"))
  return bare === undefined ? undefined : `Bearer ${bare}`
}

function firstOf(headers: Headers, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = headers.get(name)
    if (value !== null) return value
  }
  return undefined
}

const PROVIDER_SDK_FORM = new RegExp(`^(?:\\w+ +)?(${KEY_PREFIX}[\\w-]+) *$`)

/**
 * For clients of other vendors, which send the key in another header or as `Authorization: Token`. Only keys that this
 * gateway created are accepted there.
 */
export function providerSdkCredentialOf(headers: Headers): string | undefined {
  const credential = credentialOf(headers)
  if (credential !== undefined && BEARER.test(credential)) return credential
  for (const [, value] of headers) {
    const key = PROVIDER_SDK_FORM.exec(value)?.[1]
    if (key !== undefined) return `Bearer ${key}`
  }
  return credential
}

/** Whether a header or parameter contains the key of the request, or any key that this gateway created. */
export function keyFinder(headers: Headers): (value: string) => boolean {
  const presented = BEARER.exec(providerSdkCredentialOf(headers) ?? "")?.[1]
  return (value) => value.includes(KEY_PREFIX) || (presented !== undefined && value.includes(presented))
}

const KEY_PROTOCOL = /(?:^|,) *openai-insecure-api-key\.([\w.-]{1,8192}) *(?:,|$)/

function keyProtocolOf(protocols: string | null): string | undefined {
  return protocols === null ? undefined : KEY_PROTOCOL.exec(protocols)?.[1]
}

async function principalOf(
  authorization: string | undefined,
  ip: string | undefined,
  env: Env,
  now: number,
): Promise<Principal> {
  const secret = BEARER.exec(authorization ?? "")?.[1]
  if (secret === undefined) throw unauthenticatedError("Send your API key: Authorization: Bearer <API_KEY>.")
  const principal = await find(hashKey(secret), ip, env, now)
  // The same response for unknown, disabled and expired keys, so that probing reveals nothing.
  if (!principal || isExpired(principal, now)) throw unauthenticatedError("This API key is not valid.")
  return principal
}

/**
 * The principal of a key by its hash, if it is valid, for a session that started with it. `ip`: address of a client
 * that presents the key now, whose invalid keys are counted.
 */
export async function principalByHash(
  hash: string,
  env: Env,
  now: number,
  ip?: string,
): Promise<Principal | undefined> {
  const principal = await find(hash, ip, env, now)
  return principal && !isExpired(principal, now) ? principal : undefined
}

function isExpired({ expiresAt }: Principal, now: number): boolean {
  return expiresAt !== null && expiresAt <= now
}

async function find(hash: string, ip: string | undefined, env: Env, now: number): Promise<Principal | undefined> {
  const cached = await currentKey(hash, env.DB, now)
  if (cached) return cached.value
  if (isBootstrapKey(hash, env)) {
    const operator = await findOperator(hash, env)
    cacheKey(hash, operator, now)
    return operator
  }
  const found = await findKey(hash, ip, env, now)
  cacheKey(hash, found?.principal, now, found?.revision)
  return found?.principal
}

async function findKey(hash: string, ip: string | undefined, env: Env, now: number): Promise<Access | undefined> {
  await throttleUnknownKeys(ip, { kind: "key", key: hash }, (hashes) => findKnownKeys(env.DB, hashes), now)
  const [access] = await Promise.all([readAccess(env.DB, hash), requireJurisdiction(env)])
  if (!access) await countUnknownKey(env.RATE, ip, now)
  return access
}

async function findOperator(hash: string, env: Env): Promise<Principal> {
  const [operator] = await Promise.all([loadOperator(env.DB, hash), requireJurisdiction(env)])
  return operator
}

function isBootstrapKey(hash: string, { BOOTSTRAP_MANAGEMENT_KEY: secret }: Env): boolean {
  return Boolean(secret) && hash === hashKey(secret ?? "")
}

export function unauthenticatedError(message: string): GatewayError {
  return new GatewayError("unauthenticated", message, { headers: { "www-authenticate": "Bearer" } })
}
