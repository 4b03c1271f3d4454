import { ExpiringMap } from "../support/expiring-map.ts"
import type { Principal } from "./principal.ts"

/**
 * How long an isolate uses what it last read of a key: the bound on how late a disabled, deleted or re-limited key
 * takes effect in another isolate. An unknown key is cached for less, so that a new key works at once.
 */
export const KEY_CACHE_MS = 5_000
export const UNKNOWN_KEY_CACHE_MS = 1_000
const MAX_CACHED_KEYS = 10_000

/** By key hash; undefined for a key that does not exist or does not work. */
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
  // A key that does not work may be a descendant.
  cache.deleteWhere((principal) => !principal || principal.ancestors.some(({ keyHash }) => keyHash === hash))
}

/** Drops the keys of a workspace, after a change of what applies to their calls. */
export function invalidateWorkspace(workspaceId: string): void {
  cache.deleteWhere((principal) => principal?.workspaceId === workspaceId)
}

/** Drops the keys of an organization, after a change of its rights. */
export function invalidateOrganization(organizationId: string): void {
  cache.deleteWhere((principal) => principal?.organizationId === organizationId)
}
