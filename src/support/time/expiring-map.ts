type Entry<Value> = { value: Value; until: number; size: number }

type Options<Value> = { sizeOf?: (value: Value) => number; longestMs?: number }

/**
 * A map whose entries expire. `maxSize` limits the sum of `sizeOf`, by default the number of entries; the oldest
 * entries are evicted. `longestMs`: the longest validity of an entry. An entry that would be valid for longer was set
 * before the clock was set back, and is not used: a revoked key must not work again.
 */
export class ExpiringMap<Key, Value> {
  readonly #maxSize: number
  readonly #sizeOf: (value: Value) => number
  readonly #longestMs: number
  readonly #entries = new Map<Key, Entry<Value>>()
  #size = 0

  constructor(maxSize: number, { sizeOf = () => 1, longestMs = Infinity }: Options<Value> = {}) {
    this.#maxSize = maxSize
    this.#sizeOf = sizeOf
    this.#longestMs = longestMs
  }

  /** Undefined unless the key has an entry that is valid at `now`. Epoch milliseconds. */
  get(key: Key, now: number): { value: Value } | undefined {
    const entry = this.#entries.get(key)
    return entry && entry.until > now && entry.until <= now + this.#longestMs ? entry : undefined
  }

  set(key: Key, value: Value, until: number): void {
    this.delete(key)
    const size = this.#sizeOf(value)
    for (const oldest of this.#entries.keys()) {
      if (this.#size + size <= this.#maxSize) break
      this.delete(oldest)
    }
    this.#entries.set(key, { value, until, size })
    this.#size += size
  }

  delete(key: Key): void {
    const entry = this.#entries.get(key)
    if (!entry) return
    this.#entries.delete(key)
    this.#size -= entry.size
  }

  deleteWhere(matches: (value: Value, key: Key) => boolean): void {
    for (const [key, { value }] of this.#entries) if (matches(value, key)) this.delete(key)
  }

  /** Frees the memory of entries that expired by `now`. */
  prune(now: number): void {
    for (const [key, { until }] of this.#entries) if (until <= now) this.delete(key)
  }
}
