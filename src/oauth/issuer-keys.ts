import { readAtMost } from "../support/bytes.ts"
import type { Policy } from "./policies.ts"
import type { Jwk } from "./subject-token.ts"

const MAX_BYTES = 262_144
const TIMEOUT_MS = 5_000
/** Issuers turn their keys over days; a key taken back is believed no longer than this. */
const CACHE_MS = 5 * 60_000

const remembered = new Map<string, { keys: Jwk[]; until: number }>()

/** The public keys of an issuer; undefined where they cannot be had. */
export async function issuerKeys({ jwks, jwks_uri: uri }: Policy, now: number): Promise<Jwk[] | undefined> {
  if (jwks) return jwks.keys as Jwk[]
  if (uri === undefined) return undefined
  const known = remembered.get(uri)
  if (known && known.until > now) return known.keys
  const keys = await fetchKeys(uri)
  if (keys) remembered.set(uri, { keys, until: now + CACHE_MS })
  return keys
}

async function fetchKeys(uri: string): Promise<Jwk[] | undefined> {
  try {
    const request = new Request(uri, { redirect: "manual", signal: AbortSignal.timeout(TIMEOUT_MS) })
    const response = await fetch(request)
    const bytes = response.ok && response.body ? await readAtMost(response.body, MAX_BYTES) : undefined
    const result = bytes && (JSON.parse(new TextDecoder().decode(bytes)) as { keys?: unknown })
    return Array.isArray(result?.keys) ? (result.keys as Jwk[]) : undefined
  } catch {
    return undefined
  }
}
