import type { JSONWebKeySet } from "jose"
import * as z from "zod"
import { readAtMost } from "../support/bytes.ts"
import { withTimeout } from "../support/time/time.ts"
import { ExpiringMap } from "../support/time/expiring-map.ts"
import { parseJson } from "../support/text/json.ts"
import { Jwk, type Policy } from "./policies.ts"

const MAX_BYTES = 262_144
const TIMEOUT_MS = 5_000
/** Issuers rotate their keys over days. A revoked key is trusted for at most this long. */
const CACHE_MS = 5 * 60_000
/** Tokens that the cached keys do not verify have them fetched again at most this often. */
const REFRESH_MS = 30_000
const MAX_ISSUERS = 100

const cache = new ExpiringMap<string, JSONWebKeySet>(MAX_ISSUERS)
const recent = new ExpiringMap<string, true>(MAX_ISSUERS)

/** Parsed key by key, so that one invalid key does not invalidate the others. */
const KeySet = z.object({
  keys: z.array(z.unknown()).transform((keys) => keys.flatMap((key) => Jwk.safeParse(key).data ?? [])),
})

/** The public keys of an issuer; undefined if they cannot be fetched. */
export async function issuerKeys({ jwks, jwks_uri: uri }: Policy, now: number): Promise<JSONWebKeySet | undefined> {
  if (jwks) return jwks
  if (uri === undefined) return undefined
  const cached = cache.get(uri, now)
  return cached ? cached.value : load(uri, now)
}

/** The keys after a rotation; undefined if they were fetched recently, cannot be fetched, or are in the policy. */
export async function refreshedKeys({ jwks, jwks_uri: uri }: Policy, now: number): Promise<JSONWebKeySet | undefined> {
  return jwks || uri === undefined || recent.get(uri, now) ? undefined : load(uri, now)
}

async function load(uri: string, now: number): Promise<JSONWebKeySet | undefined> {
  recent.set(uri, true, now + REFRESH_MS)
  const keys = await fetchKeys(uri)
  if (keys) cache.set(uri, keys, now + CACHE_MS)
  return keys
}

async function fetchKeys(uri: string): Promise<JSONWebKeySet | undefined> {
  try {
    const bytes = await withTimeout(TIMEOUT_MS, async (signal) => {
      const response = await fetch(uri, { redirect: "manual", signal })
      return response.ok && response.body ? await readAtMost(response.body, MAX_BYTES) : undefined
    })
    return bytes && KeySet.safeParse(parseJson(new TextDecoder().decode(bytes))).data
  } catch {
    return undefined
  }
}
