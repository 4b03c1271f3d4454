import type { GlushkovAutomaton, Edges } from "./patterns/glushkov.ts"
import type { State } from "./patterns/dfa.ts"
import { COST, type WorkBudget } from "./work-budget.ts"

/** Up to this number of positions, sets are also stored as bits: 128 bytes each. */
const MAX_BITS = 1_024

/** Cells of 4 bytes that `intersectsByBits` caches with a state. */
export function cachedCells({ bits, successorBits }: State): number {
  let cells = bits?.length ?? 0
  for (const bitset of successorBits?.values() ?? []) cells += bitset.length + MAP_OVERHEAD
  return cells
}

/** Cells for a map and its entry. */
const MAP_OVERHEAD = 32

function includesSorted(ordered: Int32Array, wanted: number): boolean {
  let low = 0
  let high = ordered.length - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const value = ordered[middle] ?? 0
    if (value === wanted) return true
    if (value < wanted) low = middle + 1
    else high = middle - 1
  }
  return false
}

export const MATCH_ENDS = 1
export const MATCH_CROSSES = 2

/** Whether matches cross or end between a forward state and the backward state after it. */
export function matchCrossing(
  automaton: GlushkovAutomaton,
  forward: State,
  backward: State,
  budget: WorkBudget,
): number {
  const edges = automaton.edges(forward.kind, backward.kind)
  const ends = forward.set.some((position) => edges.ends[position] === 1) ? MATCH_ENDS : 0
  if (backward.set.length === 0) return ends
  const crosses =
    automaton.size > MAX_BITS
      ? intersectsByLookup(edges, forward, backward, budget)
      : intersectsByBits(automaton.size, { edges, forward, backward, budget })
  return ends | (crosses ? MATCH_CROSSES : 0)
}

function intersectsByLookup({ next }: Edges, behind: State, ahead: State, budget: WorkBudget): boolean {
  budget.spend(COST.tableEntry)
  for (let at = 0; at < behind.set.length; at++) {
    const position = behind.set[at] ?? 0
    const [from, to] = [next.offsets[position] ?? 0, next.offsets[position + 1] ?? 0]
    budget.spend((1 + to - from) * COST.edge)
    for (let edge = from; edge < to; edge++) if (includesSorted(ahead.set, next.items[edge] ?? 0)) return true
  }
  return false
}

type Intersection = {
  edges: Edges
  forward: State
  backward: State
  budget: WorkBudget
}

function intersectsByBits(size: number, { edges, forward, backward, budget }: Intersection): boolean {
  budget.spend(COST.crossingCheck)
  let successors = forward.successorBits?.get(edges)
  if (!successors) {
    successors = successorBits(size, edges, forward, budget)
    forward.successorBits ??= new Map()
    forward.successorBits.set(edges, successors)
  }
  const bits = (backward.bits ??= bitsOf(size, backward.set))
  for (let at = 0; at < bits.length; at++) if (((bits[at] ?? 0) & (successors[at] ?? 0)) !== 0) return true
  return false
}

/** Positions of threads after the next character. */
function successorBits(size: number, { next }: Edges, { set }: State, budget: WorkBudget): Int32Array {
  const bits = new Int32Array((size + 31) >> 5)
  let work = set.length
  for (const position of set) {
    const [from, to] = [next.offsets[position] ?? 0, next.offsets[position + 1] ?? 0]
    work += to - from
    for (let edge = from; edge < to; edge++) setBit(bits, next.items[edge] ?? 0)
  }
  budget.spend(COST.tableEntry + work * COST.edge)
  return bits
}

function bitsOf(size: number, set: Int32Array): Int32Array {
  const bits = new Int32Array((size + 31) >> 5)
  for (const position of set) setBit(bits, position)
  return bits
}

function setBit(bits: Int32Array, at: number): void {
  bits[at >> 5] = (bits[at >> 5] ?? 0) | (1 << (at & 31))
}
