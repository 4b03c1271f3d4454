import { PolicyCache } from "./policy-cache.ts"
import { CHANGE_DELAY_MS, type Snapshot } from "./policy-changes.ts"
import type { Principal } from "./principal.ts"

/** The maximum delay until a disabled, deleted or changed key takes effect in other isolates. */
export const KEY_CACHE_MS = CHANGE_DELAY_MS
const MAX_CACHED_KEYS = 10_000

/** By key hash; undefined for an unknown or invalid key. */
const cache = new PolicyCache<Principal>(MAX_CACHED_KEYS)

type CachedKey = { value: Principal | undefined } | undefined

export function cachedKey(hash: string, now: number): CachedKey {
  return cache.get(hash, now)
}

/** Reads the policy changes from the database before it rejects a cached key as too old. */
export async function currentKey(hash: string, db: D1Database, now: number): Promise<CachedKey> {
  return cache.current(hash, db, now)
}

/** `revision`: of the policy when the key was read; undefined for a key that is read again after KEY_CACHE_MS. */
export function cacheKey(hash: string, principal: Principal | undefined, now: number, revision?: number): void {
  const isRevised = principal !== undefined && revision !== undefined
  const snapshot: Snapshot | undefined = isRevised
    ? { organizationId: principal.organizationId, revision, readAt: now }
    : undefined
  cache.set(hash, principal, now, snapshot)
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
