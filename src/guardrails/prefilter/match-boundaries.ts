import { GlushkovAutomaton } from "../content/patterns/glushkov.ts"
import { normalizeRune, IGNORED } from "../content/texts/normalize.ts"
import type { Program } from "../content/patterns/program.ts"

const ASCII = 128

/** Characters that no match contains. Matches never cross them. */
export class MatchBoundaries {
  readonly #automaton: GlushkovAutomaton
  /** By class of the previous character: for each class, 1 if a character may be in a match. */
  readonly #rows: (Uint8Array | undefined)[] = []

  constructor(program: Program) {
    this.#automaton = new GlushkovAutomaton(program)
  }

  /** End of the last boundary before an index, or `floor` if not found. */
  lastBefore(text: string, index: number, floor: number): number {
    let charClass = index > floor ? this.#classAt(text, index - 1) : 0
    for (let at = index; at > floor; at--) {
      const lastBefore = this.#classAt(text, at - 2)
      if (charClass >= 0 && this.#allowedAfter(lastBefore)[charClass] === 0) return at
      charClass = lastBefore
    }
    return floor
  }

  /** End of the first boundary after an index, or the end of the text if not found. */
  firstAfter(text: string, index: number): number {
    let lastBefore = this.#classAt(text, index - 1)
    for (let at = index; at < text.length; at++) {
      const charClass = this.#classAt(text, at)
      if (charClass >= 0 && this.#allowedAfter(lastBefore)[charClass] === 0) return at + 1
      lastBefore = charClass
    }
    return text.length
  }

  /** -1 for a surrogate or an ignored character. */
  #classAt(text: string, at: number): number {
    const { alphabet } = this.#automaton
    if (at < 0) return -1
    const unit = text.charCodeAt(at)
    if (unit < ASCII) return alphabet.ascii[unit] ?? 0
    if ((unit & 0xf800) === 0xd800) return -1
    const normalized = normalizeRune(unit)
    return normalized === IGNORED ? -1 : alphabet.classOf(normalized)
  }

  #allowedAfter(lastBefore: number): Uint8Array {
    return (this.#rows[lastBefore + 1] ??= this.#computeAllowed(lastBefore))
  }

  #computeAllowed(lastBefore: number): Uint8Array {
    const { size, alphabet } = this.#automaton
    const row = new Uint8Array(alphabet.size)
    const sources =
      lastBefore < 0 ? [] : [...Array(size).keys()].filter((at) => this.#automaton.consumes(at, lastBefore))
    for (const kind of lastBefore < 0 ? [] : new Set(alphabet.kinds)) {
      const { first, next } = this.#automaton.edges(alphabet.kinds[lastBefore] ?? 0, kind)
      this.#allow(row, first, kind)
      const afterSources = sources.map((source) =>
        next.items.subarray(next.offsets[source] ?? 0, next.offsets[source + 1] ?? 0),
      )
      this.#allow(row, concatenated(afterSources), kind)
    }
    if (lastBefore < 0) for (const kind of new Set(alphabet.kinds)) this.#allow(row, Array(size).keys(), kind)
    return row
  }

  #allow(row: Uint8Array, positions: Iterable<number>, kind: number): void {
    const { kinds } = this.#automaton.alphabet
    const sets = new Set<number>()
    for (const position of positions) {
      const set = this.#automaton.setOf(position)
      if (sets.has(set)) continue
      sets.add(set)
      for (let charClass = 0; charClass < row.length; charClass++) {
        if (row[charClass] === 0 && kinds[charClass] === kind && this.#automaton.consumes(position, charClass))
          row[charClass] = 1
      }
    }
  }
}

function* concatenated(lists: readonly Int32Array[]): Generator<number> {
  for (const list of lists) yield* list
}

const boundariesByProgram = new WeakMap<Program, MatchBoundaries>()

export function matchBoundariesOf(program: Program): MatchBoundaries {
  let boundaries = boundariesByProgram.get(program)
  if (!boundaries) {
    boundaries = new MatchBoundaries(program)
    boundariesByProgram.set(program, boundaries)
  }
  return boundaries
}
