import type { Span } from "./scanner.ts"

const LEAST = 256

/** Stretches of a text that are found from its end to its front: two numbers for each, since there may be millions. */
export class Stretches {
  #places = new Int32Array(LEAST)
  count = 0

  /** In front of all that were added before. */
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

  /** By their order in the text. */
  at(index: number): Span {
    const scope = 2 * (this.count - 1 - index)
    return { start: this.#places[scope] ?? 0, end: this.#places[scope + 1] ?? 0 }
  }

  toSpans(): Span[] {
    return Array.from({ length: this.count }, (_, index) => this.at(index))
  }
}
