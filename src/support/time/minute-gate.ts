const MINUTE_MS = 60_000

/** Admits a fixed number of events per name and clock minute. In memory of one isolate. */
export class MinuteGate {
  #minute = -1
  readonly #counts = new Map<string, number>()
  readonly #limit: number
  readonly #maxNames: number

  constructor(limit: number, maxNames: number) {
    this.#limit = limit
    this.#maxNames = maxNames
  }

  /** The number of this event within its minute, from 1; undefined above the limit. */
  take(name: string, now: number): number | undefined {
    const minute = Math.floor(now / MINUTE_MS)
    if (minute !== this.#minute) {
      this.#minute = minute
      this.#counts.clear()
    }
    const count = (this.#counts.get(name) ?? 0) + 1
    if (count > this.#limit || (count === 1 && this.#counts.size >= this.#maxNames)) return undefined
    this.#counts.set(name, count)
    return count
  }
}
