import type { Span } from "./scanner.ts"

const LEAST = 256

/** RangeList that are found from the end of a text to its start. Stored as two numbers each: there may be millions. */
export class RangeList {
  #places = new Int32Array(LEAST)
  count = 0

  /** Adds a stretch before all others. */
  add(start: number, end: number): void {
    const scope = 2 * this.count++
    if (scope === this.#places.length) {
      const grown = new Int32Array(2 * scope)
      grown.set(this.#places)
      this.#places = grown
    }
    this.#places[scope] = start
    this.#places[scope + 1] = end
  }

  /** The stretch at an index, in text order. */
  at(index: number): Span {
    const scope = 2 * (this.count - 1 - index)
    return { start: this.#places[scope] ?? 0, end: this.#places[scope + 1] ?? 0 }
  }

  toSpans(): Span[] {
    return Array.from({ length: this.count }, (_, index) => this.at(index))
  }
}
