import type { Span } from "./nfa-scanner.ts"

const INITIAL_CAPACITY = 256

/** Ranges that are found from the end of a text to its start. Stored as two numbers each: there may be millions. */
export class RangeList {
  #bounds = new Int32Array(INITIAL_CAPACITY)
  count = 0

  /** Adds a range before all others. */
  add(start: number, end: number): void {
    const offset = 2 * this.count++
    if (offset === this.#bounds.length) {
      const larger = new Int32Array(2 * offset)
      larger.set(this.#bounds)
      this.#bounds = larger
    }
    this.#bounds[offset] = start
    this.#bounds[offset + 1] = end
  }

  /** The range at an index, in text order. */
  at(index: number): Span {
    const offset = 2 * (this.count - 1 - index)
    return { start: this.#bounds[offset] ?? 0, end: this.#bounds[offset + 1] ?? 0 }
  }

  toSpans(): Span[] {
    return Array.from({ length: this.count }, (_, index) => this.at(index))
  }
}
