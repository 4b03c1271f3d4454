import { ExpiringMap } from "../support/time/expiring-map.ts"

/** Returns those of the given keys that exist. */
export type FindKnown = (keys: readonly string[]) => Promise<ReadonlySet<string>>

/**
 * Keys from one address that wait for a lookup, and the results of recent lookups. Plain data, because no request may
 * await the promise of another one.
 */
type Batch = { waiting: Set<string>; found: ExpiringMap<string, boolean> }

const BATCH_MS = 50
const MAX_BATCH = 1_000
/** Results are used for requests within this time, equal to the cache time of unknown keys (key-cache.ts). */
const FOUND_MS = 1_000
/** Results stay in memory for requests that arrived in time and waited while the isolate was busy. */
const BUSY_MS = 9_000
const MAX_TURNS = 10
const MAX_BATCHES = 1_000
/** More than the lookups of an address can return while results are kept. */
const MAX_FOUND = (MAX_BATCH * (FOUND_MS + BUSY_MS)) / BATCH_MS

const batches = new Map<string, Batch>()

/**
 * Whether a key exists. Lookups from one address within 50 ms are batched: the first request to wake up looks up all of
 * them. A flood costs one statement every 50 ms, and valid keys still pass.
 */
export async function isKnown(address: string, key: string, find: FindKnown): Promise<boolean> {
  const batch = batchOf(address)
  batch.waiting.add(key)
  const arrivedAt = Date.now()
  for (let turn = 0; turn < MAX_TURNS; turn++) {
    await new Promise((resolve) => setTimeout(resolve, BATCH_MS))
    const found = batch.found.get(key, arrivedAt)
    if (found) return found.value
    if (batch.waiting.has(key)) return lookUp(batch, key, find)
  }
  // The request with this key in its batch was cancelled.
  return (await find([key])).has(key)
}

async function lookUp({ waiting, found }: Batch, current: string, find: FindKnown): Promise<boolean> {
  const keys = [current, ...[...waiting].filter((key) => key !== current).slice(0, MAX_BATCH - 1)]
  for (const key of keys) waiting.delete(key)
  const known = await find(keys)
  const now = Date.now()
  found.prune(now - BUSY_MS)
  for (const key of keys) found.set(key, known.has(key), now + FOUND_MS)
  return known.has(current)
}

function batchOf(address: string): Batch {
  let batch = batches.get(address)
  if (!batch) {
    batch = { waiting: new Set(), found: new ExpiringMap(MAX_FOUND) }
    if (batches.size >= MAX_BATCHES) batches.delete(batches.keys().next().value ?? "")
    batches.set(address, batch)
  }
  return batch
}
