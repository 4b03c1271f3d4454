import { logError, logWarning } from "../support/log.ts"
import type { AuditEntry } from "./entry.ts"
import { insertAudit } from "./store.ts"

const MINUTE_MS = 60_000
/** Limit per key, minute and isolate, so that a key that is denied all day does not fill the database. */
export const DENIALS_PER_MINUTE = 10
const MAX_KEYS = 10_000

/** Counts refusals by key within the minute. */
export class DenialGate {
  #minute = -1
  readonly #counts = new Map<string, number>()

  /** Whether one more refusal of this key is kept. */
  take(keyHash: string, now: number): boolean {
    const minute = Math.floor(now / MINUTE_MS)
    if (minute !== this.#minute) {
      this.#minute = minute
      this.#counts.clear()
    }
    const count = this.#counts.get(keyHash) ?? 0
    if (count >= DENIALS_PER_MINUTE || (count === 0 && this.#counts.size >= MAX_KEYS)) return false
    this.#counts.set(keyHash, count + 1)
    if (count + 1 === DENIALS_PER_MINUTE) logWarning("denials of a key are no longer recorded this minute", { keyHash })
    return true
  }
}

const gate = new DenialGate()

/** Records a denial after the response: `later` is the runtime's waitUntil. */
export function recordDenial(db: D1Database, entry: AuditEntry, later: (work: Promise<unknown>) => void): void {
  if (!gate.take(entry.keyHash, entry.createdAt)) return
  later(insertAudit(db, entry).catch((cause: unknown) => logError("denial was not recorded", {}, cause)))
}
