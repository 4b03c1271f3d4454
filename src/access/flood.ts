import { GatewayError } from "../errors/errors.ts"
import { ExpiringMap } from "../support/time/expiring-map.ts"
import { type FindKnown, isKnown } from "./known-keys.ts"

/**
 * Rate limits by the platform's limiter: approximate and per location. They run before exact but expensive checks: D1
 * for keys, the ledger for free requests. wrangler.toml sets the limits.
 */

/** Same values as [[ratelimits]] RATE in wrangler.toml: calls per period of milliseconds. */
const LIMIT = 600
const PERIOD_MS = 60_000
/** Maximum of blocked addresses per isolate. */
const MAX_BLOCKED = 10_000
const BLOCKED_MS = 10_000

const blocked = new ExpiringMap<string, true>(MAX_BLOCKED)

/**
 * Throws if this IP address recently sent many unknown keys and this key is unknown too. Valid keys from the same
 * address are looked up in the same query and pass.
 */
export async function throttleUnknownKeys(
  ip: string | undefined,
  { kind, key }: { kind: string; key: string },
  findKnown: FindKnown,
  now: number,
): Promise<void> {
  if (ip === undefined || !isFlooding(ip, now) || (await isKnown(`${kind} ${ip}`, key, findKnown))) return
  throw floodError(now)
}

function isFlooding(ip: string, now: number): boolean {
  return blocked.get(ip, now) !== undefined
}

function floodError(now: number): GatewayError {
  return tooManyError("Too many requests with invalid keys from this address.", now)
}

/** Counts an unknown key from an address. */
export async function countUnknownKey(rate: RateLimit | undefined, ip: string | undefined, now: number): Promise<void> {
  if (!rate || ip === undefined) return
  const { success } = await rate.limit({ key: `unknown-key:${ip}` })
  if (!success) blocked.set(ip, true, now + BLOCKED_MS)
}

/** Throws if an organization sends far more free-model requests than its limit. */
export async function throttleFreeModels(rate: RateLimit | undefined, organizationId: string): Promise<void> {
  if (!rate) return
  const { success } = await rate.limit({ key: `free:${organizationId}` })
  if (!success) throw tooManyError("Too many requests on free models.", Date.now())
}

function tooManyError(message: string, now: number): GatewayError {
  const resetAt = now - (now % PERIOD_MS) + PERIOD_MS
  const seconds = Math.ceil((resetAt - now) / 1_000)
  return new GatewayError("rate_limited", `${message} Retry in ${seconds} seconds.`, {
    metadata: { reason: "flood", retryable: true },
    headers: {
      "x-ratelimit-limit": String(LIMIT),
      "x-ratelimit-remaining": "0",
      "x-ratelimit-reset": String(resetAt),
      "retry-after": String(seconds),
    },
  })
}
