import { Alphabet, KIND } from "./alphabet.ts"
import { BudgetExceeded } from "../work-budget.ts"
import { BEFORE_TEXT, conditionsBetween, OP, type Program, type Step, isConsuming } from "./program.ts"
import { elementAt } from "../../../support/arrays.ts"

/** Concatenated lists: list `at` goes from `offsets[at]` to `offsets[at + 1]`. */
type Lists = { offsets: Int32Array; items: Int32Array }

/** Edges that are valid under certain conditions between two characters. */
export type Edges = {
  /** Positions at which a match can begin. */
  first: Int32Array
  /** The possible next positions of each position. */
  next: Lists
  /** The possible previous positions of each position. */
  before: Lists
  /** Whether a match can end after each position. */
  ends: Uint8Array
}

/** With more edges, each table entry would be expensive: `(?:a?){1000}` has half a million. */
const MAX_EDGES = 400_000

/**
 * Glushkov automaton of a program: positions with the set of characters that each takes, and the edges between them.
 * Input of the DFA (dfa.ts).
 */
export class GlushkovAutomaton {
  readonly alphabet: Alphabet
  readonly size: number
  readonly maxCells: number
  /** The character set of each position. */
  readonly #sets: Int32Array
  /** The program step of each position. */
  readonly #steps: Int32Array
  readonly #positions: Int32Array
  readonly #program: Program
  readonly #conditions: number
  readonly #edges = new Map<number, Edges>()
  readonly #edgesBetween: (Edges | undefined)[] = []
  /** Order within a chain, where each position accepts all that later ones accept; -1 for positions in no chain. */
  readonly chains: Int32Array
  readonly ranks: Int32Array

  constructor(program: Program) {
    const { steps } = program
    this.#program = program
    this.maxCells = program.maxCells
    const consuming = [...steps.keys()].filter((at) => isConsuming(elementAt(steps, at)))
    this.#steps = Int32Array.from(consuming)
    this.size = consuming.length
    this.#positions = new Int32Array(steps.length).fill(-1)
    for (const [position, at] of consuming.entries()) this.#positions[at] = position
    const setIndexes = new Map<string, number>()
    const sets: Step[] = []
    this.#sets = Int32Array.from(consuming, (at) => {
      const step = elementAt(steps, at)
      const key = `${step.op} ${step.runes.length === 1 ? step.arg : 0} ${step.runes.join()}`
      const found = setIndexes.get(key) ?? sets.push(step) - 1
      setIndexes.set(key, found)
      return found
    })
    this.#conditions = steps.reduce(
      (conditions, step) => (step.op === OP.emptyWidth ? conditions | step.arg : conditions),
      0,
    )
    this.alphabet = new Alphabet(sets, this.#conditions !== 0)
    this.chains = new Int32Array(this.size).fill(-1)
    this.ranks = new Int32Array(this.size)
    this.#findChains()
  }

  consumes(position: number, charClass: number): boolean {
    return this.alphabet.has(this.#sets[position] ?? 0, charClass)
  }

  /** Number of the characters that a position takes: positions with the same number take the same ones. */
  setOf(position: number): number {
    return this.#sets[position] ?? 0
  }

  /** The edges between two characters of these kinds. */
  edges(before: number, after: number): Edges {
    return (this.#edgesBetween[before * KIND_SAMPLES.length + after] ??= this.#findEdges(before, after))
  }

  #findEdges(before: number, after: number): Edges {
    const conditions = conditionsBetween(KIND_SAMPLES[before] ?? 0, KIND_SAMPLES[after] ?? 0) & this.#conditions
    let edges = this.#edges.get(conditions)
    if (!edges) {
      edges = this.#edgesUnder(conditions)
      this.#edges.set(conditions, edges)
    }
    return edges
  }

  #edgesUnder(conditions: number): Edges {
    const { steps, start } = this.#program
    const seen = new Int32Array(steps.length)
    const open: number[] = []
    const found: number[] = []
    let round = 0
    let isEnd = false
    const close = (from: number) => {
      round++
      isEnd = false
      open.push(from)
      for (let at = open.pop(); at !== undefined; at = open.pop()) {
        if (seen[at] === round) continue
        seen[at] = round
        const step = elementAt(steps, at)
        if (step.op === OP.alt || step.op === OP.altMatch) open.push(step.arg, step.out)
        else if (step.op === OP.emptyWidth) {
          if ((step.arg & ~conditions) === 0) open.push(step.out)
        } else if (step.op === OP.capture || step.op === OP.nop) open.push(step.out)
        else if (step.op === OP.match) isEnd = true
        else if (step.op !== OP.fail) {
          if (found.push(this.#positions[at] ?? 0) > MAX_EDGES) throw new BudgetExceeded()
        }
      }
    }
    close(start)
    const first = Int32Array.from(found)
    found.length = 0
    const offsets = new Int32Array(this.size + 1)
    const ends = new Uint8Array(this.size)
    for (let position = 0; position < this.size; position++) {
      close(elementAt(steps, this.#steps[position] ?? 0).out)
      ends[position] = isEnd ? 1 : 0
      offsets[position + 1] = found.length
    }
    const next = { offsets, items: Int32Array.from(found) }
    return { first, next, before: reverseLists(next), ends }
  }

  /** The edges for all possible conditions. */
  #variants(): Edges[] {
    const kinds = this.#conditions === 0 ? [KIND.other] : Object.values(KIND)
    return [...new Set(kinds.flatMap((before) => kinds.map((after) => this.edges(before, after))))]
  }

  /**
   * `x{0,9}` is a chain: a state that has consumed fewer repetitions accepts all that later states accept. Following
   * only the first state of a chain keeps the DFA small.
   */
  #findChains(): void {
    const variants = this.#variants()
    if (variants.some(({ next }) => next.items.length > MAX_EDGES_FOR_CHAINS * (this.size + 100))) return
    const leaders = this.#leaders(variants)
    // Starts from the assumption that all chains hold and removes contradictions until none is left.
    for (let pass = 0; pass < MAX_PASSES; pass++) {
      let isChanged = false
      for (let position = this.size - 1; position >= 0; position--) {
        if (leaders[position] === -1 || variants.every((edges) => isDominated(position, leaders, edges))) continue
        leaders[position] = -1
        isChanged = true
      }
      if (!isChanged) return this.#number(leaders)
    }
  }

  /** A predecessor of each position that accepts the same characters. */
  #leaders(variants: readonly Edges[]): Int32Array {
    const leaders = new Int32Array(this.size).fill(-1)
    for (const { next } of variants) {
      for (let from = 0; from < this.size; from++) {
        for (let at = next.offsets[from] ?? 0; at < (next.offsets[from + 1] ?? 0); at++) {
          const to = next.items[at] ?? 0
          if (to !== from && this.#sets[to] === this.#sets[from]) leaders[to] = from
        }
      }
    }
    return leaders
  }

  #number(leaders: Int32Array): void {
    const led = new Int32Array(this.size).fill(-1)
    for (let position = 0; position < this.size; position++) {
      const leader = leaders[position] ?? 0
      if (leader === -1) continue
      // Chains do not branch: another position with the same leader begins a new chain.
      if (led[leader] === -1) led[leader] = position
      else leaders[position] = -1
    }
    let chain = 0
    for (let position = 0; position < this.size; position++) {
      if (leaders[position] !== -1 || led[position] === -1) continue
      let rank = 0
      for (let at = position; at !== -1; at = led[at] ?? 0) {
        this.chains[at] = chain
        this.ranks[at] = rank++
      }
      chain++
    }
  }
}

const MAX_EDGES_FOR_CHAINS = 20
const MAX_PASSES = 20

/** Whether the leader of a position accepts all that the position accepts, if that holds for all others. */
function isDominated(position: number, leaders: Int32Array, { next: { offsets, items }, ends }: Edges): boolean {
  const leader = leaders[position] ?? 0
  const from = offsets[leader] ?? 0
  const to = offsets[leader + 1] ?? 0
  const has = (wanted: number) => {
    for (let at = from; at < to; at++) if (items[at] === wanted) return true
    return false
  }
  if (ends[position] === 1 && ends[leader] === 0) return false
  for (let at = offsets[position] ?? 0; at < (offsets[position + 1] ?? 0); at++) {
    const successor = items[at] ?? 0
    const before = leaders[successor] ?? 0
    if (!has(successor) && (before === -1 || !has(before))) return false
  }
  return true
}

/** One character of each KIND. */
const KIND_SAMPLES = [BEFORE_TEXT, 10, 97, 32]

function reverseLists({ offsets, items }: Lists): Lists {
  const size = offsets.length - 1
  const counts = new Int32Array(size + 1)
  for (const to of items) counts[to + 1] = (counts[to + 1] ?? 0) + 1
  for (let at = 0; at < size; at++) counts[at + 1] = (counts[at + 1] ?? 0) + (counts[at] ?? 0)
  const cursors = counts.slice()
  const sources = new Int32Array(items.length)
  for (let from = 0; from < size; from++) {
    for (let at = offsets[from] ?? 0; at < (offsets[from + 1] ?? 0); at++) {
      const to = items[at] ?? 0
      sources[cursors[to] ?? 0] = from
      cursors[to] = (cursors[to] ?? 0) + 1
    }
  }
  return { offsets: counts, items: sources }
}
