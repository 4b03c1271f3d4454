/** A small seeded generator (mulberry32): the same seed gives the same run on every machine. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  /** From 0 to below `end`. */
  int(end: number): number {
    return Math.floor(this.next() * end)
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  pick<T>(values: readonly T[]): T {
    const value = values[this.int(values.length)]
    if (value === undefined && values.length === 0) throw new Error("Nothing to pick from.")
    return value as T
  }

  hex(length: number): string {
    return Array.from({ length }, () => this.int(16).toString(16)).join("")
  }

  uuid(): string {
    const hex = this.hex(32)
    return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `a${hex.slice(17, 20)}`, hex.slice(20)].join(
      "-",
    )
  }
}
