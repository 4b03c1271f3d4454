import { ExpiringMap } from "../support/time/expiring-map.ts"
import { CHANGE_DELAY_MS, knownChanges, type PolicyChanges, type Snapshot } from "./policy-changes.ts"

/** An unknown entry is cached for less time, so that a new key or preset works quickly. */
const UNKNOWN_MS = 1_000
/** Maximum age of an entry whose organization has not changed. */
const MAX_AGE_MS = 60_000

type Entry<Value> = { value: Value | undefined; validUntil: number; snapshot: Snapshot | undefined }

type Options<Value> = { sizeOf?: (value: Value | undefined) => number; changes?: PolicyChanges }

/**
 * Cache of an isolate for database entries of organizations. An entry is valid for CHANGE_DELAY_MS after it was
 * read, and later if its organization has not changed since.
 */
export class PolicyCache<Value> {
  readonly #entries: ExpiringMap<string, Entry<Value>>
  readonly #changes: PolicyChanges

  constructor(maxSize: number, { sizeOf = () => 1, changes = knownChanges }: Options<Value> = {}) {
    this.#changes = changes
    this.#entries = new ExpiringMap(maxSize, { sizeOf: ({ value }) => sizeOf(value), longestMs: MAX_AGE_MS })
  }

  /** The entry if it is valid at `now` by what the isolate knows. */
  get(key: string, now: number): { value: Value | undefined } | undefined {
    const entry = this.#entries.get(key, now)?.value
    return entry && this.#isValid(entry, now) ? entry : undefined
  }

  /** Reads the policy changes before it rejects an entry as too old. */
  async current(key: string, db: D1Database, now: number): Promise<{ value: Value | undefined } | undefined> {
    const entry = this.#entries.get(key, now)?.value
    if (!entry || this.#isValid(entry, now)) return entry
    if (!entry.snapshot || !this.#changes.isStale(now)) return undefined
    // If the changes cannot be read, neither can the entry, whose error is then returned.
    await this.#changes.read(db, now).catch(() => undefined)
    return this.#isValid(entry, now) ? entry : undefined
  }

  /** Without a snapshot, the entry is valid for a fixed time. */
  set(key: string, value: Value | undefined, now: number, snapshot?: Snapshot): void {
    if (snapshot) this.#changes.startFrom(snapshot)
    const validUntil = now + (value === undefined ? UNKNOWN_MS : CHANGE_DELAY_MS)
    this.#entries.set(key, { value, validUntil, snapshot }, snapshot ? now + MAX_AGE_MS : validUntil)
  }

  delete(key: string): void {
    this.#entries.delete(key)
  }

  deleteWhere(matches: (value: Value | undefined) => boolean): void {
    this.#entries.deleteWhere(({ value }) => matches(value))
  }

  #isValid({ validUntil, snapshot }: Entry<Value>, now: number): boolean {
    const isYoung = validUntil > now && validUntil <= now + CHANGE_DELAY_MS
    if (!snapshot) return isYoung
    return this.#changes.isUnchanged(snapshot) && (isYoung || !this.#changes.isStale(now))
  }
}
