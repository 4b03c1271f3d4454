import type { Declaration } from "./protocol.ts"

/**
 * What an isolate has declared of a lease. The ledger keeps the declaration with the highest number of those that
 * arrived; while some are on their way, or were lost, the least of what it may have is taken to be in force.
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

  /** The ledger has this one, or a later one. */
  accepted(sequence: number): void {
    const estimateNano = this.#pending.get(sequence)
    if (estimateNano !== undefined && sequence > this.#accepted.sequence) this.#accepted = { sequence, estimateNano }
    for (const older of this.#pending.keys()) if (older <= this.#accepted.sequence) this.#pending.delete(older)
    this.#count()
  }

  /** The ledger answered without taking it over. */
  ignored(sequence: number): void {
    this.#pending.delete(sequence)
    this.#count()
  }

  /** Every call reads the result, and few change it. */
  #count(): void {
    this.inForceNano = Math.min(this.#accepted.estimateNano, ...this.#pending.values())
  }
}
