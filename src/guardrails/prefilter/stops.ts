import { Automaton } from "../content/automaton.ts"
import { readAs, UNREAD } from "../content/fold.ts"
import type { Program } from "../content/program.ts"

const ASCII = 128

/** Characters that no match contains. Matches never cross them. */
export class Stops {
  readonly #automaton: Automaton
  /** By class of the previous character: for each class, 1 if a character may be in a match. */
  readonly #rows: (Uint8Array | undefined)[] = []

  constructor(program: Program) {
    this.#automaton = new Automaton(program)
  }

  /** End of the last stop before an index, or `least` if not found. */
  before(text: string, scope: number, least: number): number {
    let one = scope > least ? this.#classAt(text, scope - 1) : 0
    for (let at = scope; at > least; at--) {
      const before = this.#classAt(text, at - 2)
      if (one >= 0 && this.#row(before)[one] === 0) return at
      one = before
    }
    return least
  }

  /** End of the first stop after an index, or the end of the text if not found. */
  after(text: string, scope: number): number {
    let before = this.#classAt(text, scope - 1)
    for (let at = scope; at < text.length; at++) {
      const one = this.#classAt(text, at)
      if (one >= 0 && this.#row(before)[one] === 0) return at + 1
      before = one
    }
    return text.length
  }

  /** -1 for a surrogate or a skipped character. */
  #classAt(text: string, at: number): number {
    const { alphabet } = this.#automaton
    if (at < 0) return -1
    const unit = text.charCodeAt(at)
    if (unit < ASCII) return alphabet.ascii[unit] ?? 0
    if ((unit & 0xf800) === 0xd800) return -1
    const read = readAs(unit)
    return read === UNREAD ? -1 : alphabet.classOf(read)
  }

  #row(before: number): Uint8Array {
    return (this.#rows[before + 1] ??= this.#newRow(before))
  }

  #newRow(before: number): Uint8Array {
    const { size, alphabet } = this.#automaton
    const row = new Uint8Array(alphabet.size)
    const sources = before < 0 ? [] : [...Array(size).keys()].filter((at) => this.#automaton.consumes(at, before))
    for (const kind of before < 0 ? [] : new Set(alphabet.kinds)) {
      const { first, next } = this.#automaton.edges(alphabet.kinds[before] ?? 0, kind)
      const targets = new Set(first)
      for (const source of sources) {
        for (let at = next.offsets[source] ?? 0; at < (next.offsets[source + 1] ?? 0); at++) {
          targets.add(next.items[at] ?? 0)
        }
      }
      this.#allow(row, targets, kind)
    }
    if (before < 0) for (const kind of new Set(alphabet.kinds)) this.#allow(row, Array(size).keys(), kind)
    return row
  }

  #allow(row: Uint8Array, positions: Iterable<number>, kind: number): void {
    const { kinds } = this.#automaton.alphabet
    for (const position of positions) {
      for (let one = 0; one < row.length; one++) {
        if (kinds[one] === kind && this.#automaton.consumes(position, one)) row[one] = 1
      }
    }
  }
}

const known = new WeakMap<Program, Stops>()

export function stopsOf(program: Program): Stops {
  let stops = known.get(program)
  if (!stops) {
    stops = new Stops(program)
    known.set(program, stops)
  }
  return stops
}
