import { KIND, runeAt } from "./alphabet.ts"
import type { GlushkovAutomaton, Edges } from "./glushkov.ts"
import { normalizeRune } from "../texts/normalize.ts"
import { COST, type WorkBudget } from "../work-budget.ts"
import { elementAt } from "../../../support/arrays.ts"

/** A state: sorted positions, and the KIND of the adjacent character. */
export type State = {
  set: Int32Array
  kind: number
  /** Caches of match-crossing.ts: the set as bits, and its successors. */
  bits?: Int32Array
  successorBits?: Map<Edges, Int32Array>
}

export type Trace = {
  /** Row before a character times two, plus one if a match ends there; the last entry is the row after the block. */
  rows: Int32Array
  classes: Uint16Array
}

/** Class of the second unit of a surrogate pair. */
export const LOW_SURROGATE = 0xffff

type RunInput = {
  from: number
  to: number
  startRow: number
  stopsAtEnd?: boolean
  /** Normalizes characters by normalize.ts. */
  normalizes?: boolean
  trace?: Trace
}

/** A search drops its states above this limit. Accepted patterns need fewer. */
export const MAX_STATES = 10_000
/** Memory limit of all searches of an isolate, in cells of 4 bytes. */
const MAX_TOTAL_CELLS = 6_000_000
export const NOT_COMPUTED = -1

const instances = new Set<Dfa>()
let totalCells = 0

const KINDS = Object.values(KIND)
const NO_POSITIONS = new Int32Array(0)

type TransitionInput = { from: number; to: number; charClass: number; found: number[] }

/**
 * A DFA, constructed lazily. `forward`: a state holds the positions of threads that began anywhere before. `backward`:
 * the positions that take the next character and lead to a match.
 */
export class Dfa {
  readonly automaton: GlushkovAutomaton
  readonly #isBackward: boolean
  readonly stride: number
  /** By state and character class: the next state's row times two, plus one if a match ends before the character. */
  table = new Int32Array(0)
  states: State[] = []
  #rowsByHash = new Map<number, number[]>()
  #cells = 0
  #cachedCells = 0
  readonly #visited: Int32Array
  #round = 0
  #hasEmptyStates = false
  readonly #chainHeads: Int32Array
  /** Incremented when the states are dropped: rows of earlier generations are invalid. */
  generation = 0
  /** For the last block: whether a match ends at its start, and whether one ends inside. */
  endsAtStart = false
  endsInside = false

  constructor(automaton: GlushkovAutomaton, direction: "forward" | "backward") {
    this.automaton = automaton
    this.#isBackward = direction === "backward"
    this.stride = automaton.alphabet.size + 1
    this.#visited = new Int32Array(automaton.size)
    this.#chainHeads = new Int32Array(automaton.size)
  }

  /** The first row of a state with positions. States without positions come before it. */
  get firstLiveRow(): number {
    return KINDS.length * this.stride
  }

  get isFull(): boolean {
    return this.states.length > MAX_STATES || this.#cells > this.automaton.maxCells
  }

  /** Drops all states if a memory limit is exceeded. Earlier rows are invalid if `generation` changes. */
  evictIfFull(): void {
    if (totalCells > MAX_TOTAL_CELLS) for (const dfa of instances) dfa.clear()
    else if (this.isFull) this.clear()
  }

  clear(): void {
    totalCells -= this.#cells + this.#cachedCells
    this.#cachedCells = 0
    instances.delete(this)
    this.#cells = 0
    this.table = new Int32Array(0)
    this.states = []
    this.#rowsByHash = new Map()
    this.#hasEmptyStates = false
    this.generation++
  }

  /** The state without positions. */
  emptyStateRow(kind: number): number {
    return this.rowOf({ set: NO_POSITIONS, kind })
  }

  /** Creates the states without positions first, so that their row numbers identify them. */
  createEmptyStates(): void {
    if (this.#hasEmptyStates) return
    this.clear()
    for (const kind of KINDS) this.emptyStateRow(kind)
    this.#hasEmptyStates = true
  }

  rowOf({ set, kind }: State): number {
    let hash = kind
    for (let at = 0; at < set.length; at++) hash = (Math.imul(hash, 31) + (set[at] ?? 0)) | 0
    const sameHash = this.#rowsByHash.get(hash)
    for (const row of sameHash ?? []) if (isSame(this.stateAt(row), set, kind)) return row
    const row = this.states.length * this.stride
    this.states.push({ set, kind })
    if (sameHash) sameHash.push(row)
    else this.#rowsByHash.set(hash, [row])
    if (row + this.stride > this.table.length) this.#grow(row + this.stride)
    this.#count(set.length + 8)
    return row
  }

  stateAt(row: number): State {
    return elementAt(this.states, row / this.stride)
  }

  /** Entry of the table for a state and a class; computed on first use. */
  transition(row: number, charClass: number, budget: WorkBudget): number {
    const cached = this.table[row + charClass] ?? 0
    if (cached !== NOT_COMPUTED) return cached
    const next = this.#isBackward ? this.#backward(row, charClass, budget) : this.#forward(row, charClass, budget)
    this.table[row + charClass] = next
    return next
  }

  /**
   * Reads a block forward. Returns the row after it or, with `stopsAtEnd`, the bitwise complement of the index of the
   * first match end.
   */
  run(text: string, { from, to, startRow, stopsAtEnd, normalizes, trace }: RunInput, budget: WorkBudget): number {
    const { alphabet } = this.automaton
    const { ascii } = alphabet
    const stop = stopsAtEnd ? 1 : 0
    let { table } = this
    let row = startRow
    let [first, ends] = [0, 0]
    budget.spend(to - from)
    for (let at = from; at < to; at++) {
      const before = at
      const unit = text.charCodeAt(at)
      let charClass: number
      if (unit < 128) charClass = ascii[unit] ?? 0
      else {
        const rune = runeAt(text, at)
        if (rune > 0xffff) at++
        charClass = alphabet.classOf(normalizes ? normalizeRune(rune) : rune)
      }
      let transition = table[row + charClass] ?? 0
      if (transition < 0) {
        transition = this.transition(row, charClass, budget)
        ;({ table } = this)
      }
      if (trace) {
        trace.rows[before - from] = row * 2 + (transition & 1)
        trace.classes[before - from] = charClass
        if (at > before) {
          trace.rows[at - from] = this.firstLiveRow * 2
          trace.classes[at - from] = LOW_SURROGATE
        }
      }
      row = transition >> 1
      ends |= transition
      if ((transition & stop) !== 0) return ~before
      // A match that ends at the start of the block lies before it.
      if (before === from) {
        first = ends
        ends = 0
      }
    }
    if (trace) trace.rows[to - from] = row * 2
    this.endsAtStart = (first & 1) === 1
    this.endsInside = (ends & 1) === 1
    return row
  }

  #forward(row: number, charClass: number, budget: WorkBudget): number {
    const { automaton } = this
    const { set, kind } = this.stateAt(row)
    const after = automaton.alphabet.kinds[charClass] ?? 0
    const { first, next, ends } = automaton.edges(kind, after)
    let work = set.length + first.length
    let isEnd = 0
    const found: number[] = []
    this.#round++
    for (let at = 0; at < set.length; at++) isEnd |= ends[set[at] ?? 0] ?? 0
    if (charClass !== automaton.alphabet.end) {
      this.#addConsuming(first, { from: 0, to: first.length, charClass, found })
      for (let at = 0; at < set.length; at++) {
        const position = set[at] ?? 0
        const [from, to] = [next.offsets[position] ?? 0, next.offsets[position + 1] ?? 0]
        work += to - from
        this.#addConsuming(next.items, { from, to, charClass, found })
      }
    }
    budget.spend(COST.tableEntry + work * COST.edge)
    return this.rowOf({ set: this.#withoutDominated(found), kind: after }) * 2 + isEnd
  }

  #backward(row: number, charClass: number, budget: WorkBudget): number {
    const { automaton } = this
    const { set, kind } = this.stateAt(row)
    const before = automaton.alphabet.kinds[charClass] ?? 0
    const { before: sources, ends } = automaton.edges(before, kind)
    let work = ends.length
    const found: number[] = []
    this.#round++
    for (let position = 0; position < ends.length; position++) {
      if (ends[position] === 1 && automaton.consumes(position, charClass)) {
        this.#visited[position] = this.#round
        found.push(position)
      }
    }
    for (let at = 0; at < set.length; at++) {
      const position = set[at] ?? 0
      const [from, to] = [sources.offsets[position] ?? 0, sources.offsets[position + 1] ?? 0]
      work += to - from
      this.#addConsuming(sources.items, { from, to, charClass, found })
    }
    budget.spend(COST.tableEntry + work * COST.edge)
    return this.rowOf({ set: Int32Array.from(found).sort(), kind: before }) * 2
  }

  #addConsuming(items: Int32Array, { from, to, charClass, found }: TransitionInput): void {
    const visited = this.#visited
    for (let at = from; at < to; at++) {
      const position = items[at] ?? 0
      if (visited[position] === this.#round || !this.automaton.consumes(position, charClass)) continue
      visited[position] = this.#round
      found.push(position)
    }
  }

  /** Keeps only the first position of each chain, since the others accept nothing more. */
  #withoutDominated(found: readonly number[]): Int32Array {
    const { chains, ranks } = this.automaton
    const chainHeads = this.#chainHeads
    for (const position of found) {
      const chain = chains[position] ?? 0
      if (chain !== -1) chainHeads[chain] = ranks.length
    }
    for (const position of found) {
      const chain = chains[position] ?? 0
      if (chain !== -1) chainHeads[chain] = Math.min(chainHeads[chain] ?? 0, ranks[position] ?? 0)
    }
    const leading = found.filter((position) => {
      const chain = chains[position] ?? 0
      return chain === -1 || ranks[position] === chainHeads[chain]
    })
    return Int32Array.from(leading).sort()
  }

  #grow(needed: number): void {
    const table = new Int32Array(Math.max(needed, this.table.length * 2, this.stride * 16)).fill(NOT_COMPUTED)
    table.set(this.table)
    this.#count(table.length - this.table.length)
    this.table = table
  }

  /** Accounts for memory that is stored with the states. */
  countCached(cells: number): void {
    this.#cachedCells += cells
    totalCells += cells
  }

  #count(cells: number): void {
    if (this.#cells === 0) instances.add(this)
    this.#cells += cells
    totalCells += cells
  }
}

function isSame(state: State, set: Int32Array, kind: number): boolean {
  if (state.kind !== kind || state.set.length !== set.length) return false
  for (let at = 0; at < set.length; at++) if (state.set[at] !== set[at]) return false
  return true
}
