import { logError, logWarning } from "../support/log.ts"
import { MinuteGate } from "../support/time/minute-gate.ts"
import type { AuditEntry } from "./entry.ts"
import { insertAudit } from "./store.ts"

/** Limit per key, minute and isolate, so that a key that is denied all day does not fill the database. */
export const DENIALS_PER_MINUTE = 10
const MAX_KEYS = 10_000

/** Counts denials by key within the minute. */
export class DenialGate {
  readonly #gate = new MinuteGate(DENIALS_PER_MINUTE, MAX_KEYS)

  /** Whether one more denial of this key is recorded. */
  take(keyHash: string, now: number): boolean {
    const count = this.#gate.take(keyHash, now)
    if (count === DENIALS_PER_MINUTE) logWarning("denials of a key are no longer recorded this minute", { keyHash })
    return count !== undefined
  }
}

const gate = new DenialGate()

/** Records a denial after the response. `later`: the runtime's waitUntil. */
export function recordDenial(db: D1Database, entry: AuditEntry, waitUntil: (work: Promise<unknown>) => void): void {
  if (!gate.take(entry.keyHash, entry.createdAt)) return
  waitUntil(insertAudit(db, entry).catch((cause: unknown) => logError("denial was not recorded", {}, cause)))
}
