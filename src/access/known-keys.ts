/** Which of some keys there are. */
export type FindKnown = (keys: readonly string[]) => Promise<ReadonlySet<string>>

/** Keys from one address, and their latest lookups. Plain data: requests do not share promises. */
type Batch = { waiting: Set<string>; found: Map<string, { isKnown: boolean; at: number }> }

const BATCH_MS = 50
const MAX_BATCH = 1_000
/** Lookups are cached as long as an unknown key (authenticate.ts). */
const FOUND_MS = 1_000
/** For those who waited for it while the isolate was busy. */
const KEPT_MS = 10_000
const MAX_TURNS = 10
const MAX_BATCHES = 1_000

const batches = new Map<string, Batch>()

/**
 * Whether a key exists. Lookups from one address within 50 ms are batched: the first request to wake up looks up all of
 * them. A flood costs one statement every 50 ms, and valid keys still pass.
 */
export async function isKnown(address: string, key: string, find: FindKnown): Promise<boolean> {
  const batch = batchOf(address)
  batch.waiting.add(key)
  const since = Date.now() - FOUND_MS
  for (let turn = 0; turn < MAX_TURNS; turn++) {
    await new Promise((resolve) => setTimeout(resolve, BATCH_MS))
    const found = batch.found.get(key)
    if (found && found.at > since) return found.isKnown
    if (batch.waiting.has(key)) return lookUp(batch, key, find)
  }
  // The request that took this key into its batch was cancelled.
  return (await find([key])).has(key)
}

async function lookUp({ waiting, found }: Batch, current: string, find: FindKnown): Promise<boolean> {
  const keys = [current, ...[...waiting].filter((key) => key !== current).slice(0, MAX_BATCH - 1)]
  for (const key of keys) waiting.delete(key)
  const known = await find(keys)
  const at = Date.now()
  for (const [key, one] of found) if (one.at <= at - KEPT_MS) found.delete(key)
  for (const key of keys) found.set(key, { isKnown: known.has(key), at })
  return known.has(current)
}

function batchOf(address: string): Batch {
  let batch = batches.get(address)
  if (!batch) {
    batch = { waiting: new Set(), found: new Map() }
    if (batches.size >= MAX_BATCHES) batches.delete(batches.keys().next().value ?? "")
    batches.set(address, batch)
  }
  return batch
}
