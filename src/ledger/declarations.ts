import type { Declaration } from "./protocol.ts"

/**
 * Declarations of an isolate for a lease. The ledger keeps the received declaration with the highest sequence number;
 * while some are in flight or lost, the lowest possible amount counts as in force.
 */
export class Declarations {
  /** Nano-USD. */
  inForceNano = 0
  #last = 0
  #accepted: Declaration = { sequence: 0, estimateNano: 0 }
  readonly #pending = new Map<number, number>()

  next(estimateNano: number): Declaration {
    const sequence = ++this.#last
    this.#pending.set(sequence, estimateNano)
    this.#count()
    return { sequence, estimateNano }
  }

  /** The ledger has this declaration or a later one. */
  accepted(sequence: number): void {
    const estimateNano = this.#pending.get(sequence)
    if (estimateNano !== undefined && sequence > this.#accepted.sequence) this.#accepted = { sequence, estimateNano }
    for (const older of this.#pending.keys()) if (older <= this.#accepted.sequence) this.#pending.delete(older)
    this.#count()
  }

  /** The ledger responded without storing this declaration. */
  ignored(sequence: number): void {
    this.#pending.delete(sequence)
    this.#count()
  }

  /** Cached, because every call reads the result and few change it. */
  #count(): void {
    this.inForceNano = Math.min(this.#accepted.estimateNano, ...this.#pending.values())
  }
}
