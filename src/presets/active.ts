import { ExpiringMap } from "../support/expiring-map.ts"
import type { ActivePreset } from "./preset.ts"
import { findLivePreset, type Place } from "./store.ts"

/** How late a change made in another isolate is seen, as for keys. An unknown preset is cached for less. */
const CACHE_MS = 5_000
const UNKNOWN_CACHE_MS = 1_000
/** A preset can be large, and an isolate has 128 MB for everything. */
const MAX_CACHED_BYTES = 8 * 1024 * 1024
/** Size of an entry besides its content. */
const ENTRY_BYTES = 256

const sizeOf = (preset: ActivePreset | undefined) => ENTRY_BYTES + (preset?.bytes ?? 0)
const cache = new ExpiringMap<string, ActivePreset | undefined>(MAX_CACHED_BYTES, { sizeOf, longestMs: CACHE_MS })

const keyOf = ({ workspaceId }: Place, slug: string) => `${workspaceId} ${slug}`

/** The preset that a call names, from this isolate's cache or the database. */
export async function loadPreset(
  db: D1Database,
  scope: Place,
  slug: string,
  now: number,
): Promise<ActivePreset | undefined> {
  const key = keyOf(scope, slug)
  const cached = cache.get(key, now)
  if (cached) return cached.value
  const preset = await findLivePreset(db, scope, slug)
  cache.set(key, preset, now + (preset ? CACHE_MS : UNKNOWN_CACHE_MS))
  return preset
}

/** Drops a preset from this isolate's cache, after a change. */
export function invalidatePreset(scope: Place, slug: string): void {
  cache.delete(keyOf(scope, slug))
}
