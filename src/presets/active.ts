import { PolicyCache } from "../access/policy-cache.ts"
import type { ActivePreset } from "./preset.ts"
import { findLivePreset, type WorkspaceScope } from "./store.ts"

/** A preset can be large, and an isolate has 128 MB for everything. */
const MAX_CACHED_BYTES = 8 * 1024 * 1024
/** Size of an entry besides its content. */
const ENTRY_BYTES = 256

const sizeOf = (preset: ActivePreset | undefined) => ENTRY_BYTES + (preset?.bytes ?? 0)
const cache = new PolicyCache<ActivePreset>(MAX_CACHED_BYTES, { sizeOf })

const keyOf = ({ workspaceId }: WorkspaceScope, slug: string) => `${workspaceId} ${slug}`

/** The preset that a call names, from this isolate's cache or the database. */
export async function loadPreset(
  db: D1Database,
  scope: WorkspaceScope,
  slug: string,
  now: number,
): Promise<ActivePreset | undefined> {
  const key = keyOf(scope, slug)
  const cached = await cache.current(key, db, now)
  if (cached) return cached.value
  const { preset, revision } = (await findLivePreset(db, scope, slug)) ?? {}
  const { organizationId } = scope
  cache.set(key, preset, now, revision === undefined ? undefined : { organizationId, revision, readAt: now })
  return preset
}

/** Drops a preset from this isolate's cache, after a change. */
export function invalidatePreset(scope: WorkspaceScope, slug: string): void {
  cache.delete(keyOf(scope, slug))
}
