import type { ActivePreset } from "./preset.ts"
import { findLivePreset, type Place } from "./store.ts"

/** As with keys: how late a change made in another isolate is seen, and for how long what is not there is believed. */
const CACHE_MS = 5_000
const UNKNOWN_CACHE_MS = 1_000
/** A preset can be large, and an isolate's 128 MB are for calls. */
const MAX_CACHED_BYTES = 8 * 1024 * 1024
/** What an entry takes beside its content. */
const ENTRY_BYTES = 256

type Remembered = { preset: ActivePreset | undefined; until: number }
const remembered = new Map<string, Remembered>()
let rememberedBytes = 0

const keyOf = ({ workspaceId }: Place, slug: string) => `${workspaceId} ${slug}`

/** The preset that a call names, from what this isolate remembers or the database. */
export async function loadPreset(
  db: D1Database,
  scope: Place,
  slug: string,
  now: number,
): Promise<ActivePreset | undefined> {
  const key = keyOf(scope, slug)
  const known = remembered.get(key)
  if (known && known.until > now) return known.preset
  const preset = await findLivePreset(db, scope, slug)
  forget(key)
  for (const oldest of remembered.keys()) {
    if (rememberedBytes <= MAX_CACHED_BYTES) break
    forget(oldest)
  }
  remembered.set(key, { preset, until: now + (preset ? CACHE_MS : UNKNOWN_CACHE_MS) })
  rememberedBytes += sizeOf(preset)
  return preset
}

/** Drop what this isolate remembers of a preset, after changing it. */
export function invalidatePreset(scope: Place, slug: string): void {
  forget(keyOf(scope, slug))
}

function forget(key: string): void {
  const known = remembered.get(key)
  if (!known) return
  remembered.delete(key)
  rememberedBytes -= sizeOf(known.preset)
}

function sizeOf(preset: ActivePreset | undefined): number {
  return ENTRY_BYTES + (preset?.bytes ?? 0)
}
