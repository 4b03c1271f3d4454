/** A map with expiry and at most `maxSize` entries: a new one evicts the oldest. */
export class ExpiringMap<Key, Value> {
  readonly #maxSize: number
  readonly #entries = new Map<Key, { value: Value; until: number }>()

  constructor(maxSize: number) {
    this.#maxSize = maxSize
  }

  /** Undefined if there is no entry that is valid at `now`, in epoch milliseconds. */
  get(key: Key, now: number): { value: Value } | undefined {
    const entry = this.#entries.get(key)
    return entry && entry.until > now ? entry : undefined
  }

  set(key: Key, value: Value, until: number): void {
    this.#entries.delete(key)
    if (this.#entries.size >= this.#maxSize) {
      for (const oldest of this.#entries.keys()) {
        this.#entries.delete(oldest)
        break
      }
    }
    this.#entries.set(key, { value, until })
  }

  delete(key: Key): void {
    this.#entries.delete(key)
  }

  deleteWhere(matches: (value: Value, key: Key) => boolean): void {
    for (const [key, { value }] of this.#entries) if (matches(value, key)) this.#entries.delete(key)
  }
}
