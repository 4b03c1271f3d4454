import { KIND, runeAt } from "./alphabet.ts"
import type { Automaton, Edges } from "./automaton.ts"
import { readAs } from "./fold.ts"
import { COST, type Meter } from "./meter.ts"
import { elementAt } from "../../support/arrays.ts"

/** A state: sorted positions, and the KIND of the adjacent character. */
export type State = {
  set: Int32Array
  kind: number
  /** Caches of meeting.ts: the set as bits, and its successors. */
  bits?: Int32Array
  frontiers?: Map<Edges, Int32Array>
}

export type Record = {
  /** Row before a character times two, plus one if a match ends there; the last entry is the row after the stretch. */
  rows: Int32Array
  classes: Uint16Array
}

/** Class of the second unit of a surrogate pair. */
export const HALF = 0xffff

type Run = {
  from: number
  to: number
  startRow: number
  stopsAtEnd?: boolean
  /** Normalizes characters by fold.ts. */
  folds?: boolean
  record?: Record
}

/** A search drops its states above this limit. Accepted patterns need fewer. */
export const MAX_STATES = 10_000
/** Memory limits of one search and of all searches of an isolate, in cells of 4 bytes. */
export const MAX_CELLS = 600_000
const MAX_ALL_CELLS = 6_000_000
export const UNKNOWN = -1

const all = new Set<Dfa>()
let allCells = 0

const KINDS = Object.values(KIND)
const NOTHING = new Int32Array(0)

type AddedThreads = { from: number; to: number; one: number; found: number[] }

/**
 * A DFA, constructed lazily. `forward`: a state holds the positions of threads that began anywhere before. `backward`:
 * the positions that take the next character and lead to a match.
 */
export class Dfa {
  readonly automaton: Automaton
  readonly #isBackward: boolean
  readonly stride: number
  /** Of state and class: the next state's row times two, plus one if a match ends before the character. */
  table = new Int32Array(0)
  states: State[] = []
  #known = new Map<number, number[]>()
  #cells = 0
  #kept = 0
  readonly #marks: Int32Array
  #round = 0
  #hasNothingFirst = false
  readonly #leads: Int32Array
  /** Incremented when the states are dropped: rows of earlier generations are invalid. */
  generation = 0
  /** For the last stretch: whether a match ends at its start, and whether one ends inside. */
  endsAtStart = false
  endsInside = false

  constructor(automaton: Automaton, direction: "forward" | "backward") {
    this.automaton = automaton
    this.#isBackward = direction === "backward"
    this.stride = automaton.alphabet.size + 1
    this.#marks = new Int32Array(automaton.size)
    this.#leads = new Int32Array(automaton.size)
  }

  /** The first row of a state with positions. States without positions come before it. */
  get live(): number {
    return KINDS.length * this.stride
  }

  get isFull(): boolean {
    return this.states.length > MAX_STATES || this.#cells > MAX_CELLS
  }

  /** Makes room for a stretch of text. Earlier rows are invalid if `generation` changes. */
  makeRoom(): void {
    if (allCells > MAX_ALL_CELLS) for (const one of all) one.forget()
    else if (this.isFull) this.forget()
  }

  forget(): void {
    allCells -= this.#cells + this.#kept
    this.#kept = 0
    all.delete(this)
    this.#cells = 0
    this.table = new Int32Array(0)
    this.states = []
    this.#known = new Map()
    this.#hasNothingFirst = false
    this.generation++
  }

  /** The state without positions. */
  rowOfNothing(kind: number): number {
    return this.rowOf({ set: NOTHING, kind })
  }

  /** Creates the states without positions first, so that their row numbers identify them. */
  putNothingFirst(): void {
    if (this.#hasNothingFirst) return
    this.forget()
    for (const kind of KINDS) this.rowOfNothing(kind)
    this.#hasNothingFirst = true
  }

  rowOf({ set, kind }: State): number {
    let hash = kind
    for (let at = 0; at < set.length; at++) hash = (Math.imul(hash, 31) + (set[at] ?? 0)) | 0
    const alike = this.#known.get(hash)
    for (const row of alike ?? []) if (isSame(this.stateAt(row), set, kind)) return row
    const row = this.states.length * this.stride
    this.states.push({ set, kind })
    if (alike) alike.push(row)
    else this.#known.set(hash, [row])
    if (row + this.stride > this.table.length) this.#grow(row + this.stride)
    this.#count(set.length + 8)
    return row
  }

  stateAt(row: number): State {
    return elementAt(this.states, row / this.stride)
  }

  /** Entry of the table for a state and a class; computed on first use. */
  entry(row: number, one: number, meter: Meter): number {
    const known = this.table[row + one] ?? 0
    if (known !== UNKNOWN) return known
    const entry = this.#isBackward ? this.#backward(row, one, meter) : this.#forward(row, one, meter)
    this.table[row + one] = entry
    return entry
  }

  /**
   * Reads a stretch forward. Returns the row after it or, with `stopsAtEnd`, the bitwise complement of the index of the
   * first match end.
   */
  run(text: string, { from, to, startRow, stopsAtEnd, folds, record }: Run, meter: Meter): number {
    const { alphabet } = this.automaton
    const { ascii } = alphabet
    const stop = stopsAtEnd ? 1 : 0
    let { table } = this
    let row = startRow
    let [first, ends] = [0, 0]
    meter.spend(to - from)
    for (let at = from; at < to; at++) {
      const before = at
      const unit = text.charCodeAt(at)
      let one: number
      if (unit < 128) one = ascii[unit] ?? 0
      else {
        const rune = runeAt(text, at)
        if (rune > 0xffff) at++
        one = alphabet.classOf(folds ? readAs(rune) : rune)
      }
      let entry = table[row + one] ?? 0
      if (entry < 0) {
        entry = this.entry(row, one, meter)
        ;({ table } = this)
      }
      if (record) {
        record.rows[before - from] = row * 2 + (entry & 1)
        record.classes[before - from] = one
        if (at > before) {
          record.rows[at - from] = this.live * 2
          record.classes[at - from] = HALF
        }
      }
      row = entry >> 1
      ends |= entry
      if ((entry & stop) !== 0) return ~before
      // A match that ends at the start of the stretch lies before it.
      if (before === from) {
        first = ends
        ends = 0
      }
    }
    if (record) record.rows[to - from] = row * 2
    this.endsAtStart = (first & 1) === 1
    this.endsInside = (ends & 1) === 1
    return row
  }

  #forward(row: number, one: number, meter: Meter): number {
    const { automaton } = this
    const { set, kind } = this.stateAt(row)
    const after = automaton.alphabet.kinds[one] ?? 0
    const { first, next, ends } = automaton.edges(kind, after)
    let work = set.length + first.length
    let isEnd = 0
    const found: number[] = []
    this.#round++
    for (let at = 0; at < set.length; at++) isEnd |= ends[set[at] ?? 0] ?? 0
    if (one !== automaton.alphabet.end) {
      this.#take(first, { from: 0, to: first.length, one, found })
      for (let at = 0; at < set.length; at++) {
        const position = set[at] ?? 0
        const [from, to] = [next.offsets[position] ?? 0, next.offsets[position + 1] ?? 0]
        work += to - from
        this.#take(next.items, { from, to, one, found })
      }
    }
    meter.spend(COST.entry + work * COST.edge)
    return this.rowOf({ set: this.#pruned(found), kind: after }) * 2 + isEnd
  }

  #backward(row: number, one: number, meter: Meter): number {
    const { automaton } = this
    const { set, kind } = this.stateAt(row)
    const before = automaton.alphabet.kinds[one] ?? 0
    const { before: sources, ends } = automaton.edges(before, kind)
    let work = ends.length
    const found: number[] = []
    this.#round++
    for (let position = 0; position < ends.length; position++) {
      if (ends[position] === 1 && automaton.consumes(position, one)) {
        this.#marks[position] = this.#round
        found.push(position)
      }
    }
    for (let at = 0; at < set.length; at++) {
      const position = set[at] ?? 0
      const [from, to] = [sources.offsets[position] ?? 0, sources.offsets[position + 1] ?? 0]
      work += to - from
      this.#take(sources.items, { from, to, one, found })
    }
    meter.spend(COST.entry + work * COST.edge)
    return this.rowOf({ set: Int32Array.from(found).sort(), kind: before }) * 2
  }

  #take(items: Int32Array, { from, to, one, found }: AddedThreads): void {
    const marks = this.#marks
    for (let at = from; at < to; at++) {
      const position = items[at] ?? 0
      if (marks[position] === this.#round || !this.automaton.consumes(position, one)) continue
      marks[position] = this.#round
      found.push(position)
    }
  }

  /** Keeps only the first position of each chain, since the others accept nothing more. */
  #pruned(found: readonly number[]): Int32Array {
    const { chains, ranks } = this.automaton
    const leads = this.#leads
    for (const position of found) {
      const chain = chains[position] ?? 0
      if (chain !== -1) leads[chain] = ranks.length
    }
    for (const position of found) {
      const chain = chains[position] ?? 0
      if (chain !== -1) leads[chain] = Math.min(leads[chain] ?? 0, ranks[position] ?? 0)
    }
    const kept = found.filter((position) => {
      const chain = chains[position] ?? 0
      return chain === -1 || ranks[position] === leads[chain]
    })
    return Int32Array.from(kept).sort()
  }

  #grow(needed: number): void {
    const table = new Int32Array(Math.max(needed, this.table.length * 2, this.stride * 16)).fill(UNKNOWN)
    table.set(this.table)
    this.#count(table.length - this.table.length)
    this.table = table
  }

  /** Accounts for memory that is stored with the states. */
  countKept(cells: number): void {
    this.#kept += cells
    allCells += cells
  }

  #count(cells: number): void {
    if (this.#cells === 0) all.add(this)
    this.#cells += cells
    allCells += cells
  }
}

function isSame(state: State, set: Int32Array, kind: number): boolean {
  if (state.kind !== kind || state.set.length !== set.length) return false
  for (let at = 0; at < set.length; at++) if (state.set[at] !== set[at]) return false
  return true
}
