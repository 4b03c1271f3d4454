import { ExpiringMap } from "../support/expiring-map.ts"
import type { Principal } from "./principal.ts"

/**
 * Time for which an isolate caches a key: the maximum delay until a disabled, deleted or changed key takes effect in
 * other isolates. An unknown key is cached for less time, so that a new key works quickly.
 */
export const KEY_CACHE_MS = 5_000
export const UNKNOWN_KEY_CACHE_MS = 1_000
const MAX_CACHED_KEYS = 10_000

/** By key hash; undefined for an unknown or invalid key. */
const cache = new ExpiringMap<string, Principal | undefined>(MAX_CACHED_KEYS, { longestMs: KEY_CACHE_MS })

export function cachedKey(hash: string, now: number): { value: Principal | undefined } | undefined {
  return cache.get(hash, now)
}

export function cacheKey(hash: string, principal: Principal | undefined, now: number): void {
  cache.set(hash, principal, now + (principal ? KEY_CACHE_MS : UNKNOWN_KEY_CACHE_MS))
}

/** Drops a key and the keys below it from this isolate's cache, after a change. */
export function invalidateKey(hash: string): void {
  cache.delete(hash)
  // An invalid key may be a descendant.
  cache.deleteWhere((principal) => !principal || principal.ancestors.some(({ keyHash }) => keyHash === hash))
}

/** Drops the keys of a workspace after a change of their policy. */
export function invalidateWorkspace(workspaceId: string): void {
  cache.deleteWhere((principal) => principal?.workspaceId === workspaceId)
}

/** Drops the keys of an organization, after a change of its rights. */
export function invalidateOrganization(organizationId: string): void {
  cache.deleteWhere((principal) => principal?.organizationId === organizationId)
}
