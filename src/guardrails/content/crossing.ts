import type { Automaton, Edges } from "./automaton.ts"
import type { State } from "./dfa.ts"
import { COST, type Meter } from "./meter.ts"

/** Up to this number of positions, sets are also stored as bits: 128 bytes each. */
const MAX_BITS = 1_024

/** Cells of 4 bytes that `meeting` caches with a state. */
export function cachedCells({ bits, frontiers }: State): number {
  let cells = bits?.length ?? 0
  for (const frontier of frontiers?.values() ?? []) cells += frontier.length + OVERHEAD
  return cells
}

/** Cells for a map and its entry. */
const OVERHEAD = 32

function has(ordered: Int32Array, wanted: number): boolean {
  let low = 0
  let high = ordered.length - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const one = ordered[middle] ?? 0
    if (one === wanted) return true
    if (one < wanted) low = middle + 1
    else high = middle - 1
  }
  return false
}

export const ENDS = 1
export const CROSSES = 2

/** Whether matches cross or end between a forward state and the backward state after it. */
export function crossingOf(automaton: Automaton, behind: State, ahead: State, meter: Meter): number {
  const edges = automaton.edges(behind.kind, ahead.kind)
  const ends = behind.set.some((position) => edges.ends[position] === 1) ? ENDS : 0
  if (ahead.set.length === 0) return ends
  const crosses =
    automaton.size > MAX_BITS
      ? meetsOneByOne(edges, behind, ahead, meter)
      : meetsByBits(automaton.size, { edges, behind, ahead, meter })
  return ends | (crosses ? CROSSES : 0)
}

function meetsOneByOne({ next }: Edges, behind: State, ahead: State, meter: Meter): boolean {
  meter.spend(COST.entry)
  for (let at = 0; at < behind.set.length; at++) {
    const position = behind.set[at] ?? 0
    const [from, to] = [next.offsets[position] ?? 0, next.offsets[position + 1] ?? 0]
    meter.spend((1 + to - from) * COST.edge)
    for (let edge = from; edge < to; edge++) if (has(ahead.set, next.items[edge] ?? 0)) return true
  }
  return false
}

type Meeting = {
  edges: Edges
  behind: State
  ahead: State
  meter: Meter
}

function meetsByBits(size: number, { edges, behind, ahead, meter }: Meeting): boolean {
  meter.spend(COST.crossingOf)
  let frontier = behind.frontiers?.get(edges)
  if (!frontier) {
    frontier = frontierOf(size, edges, behind, meter)
    behind.frontiers ??= new Map()
    behind.frontiers.set(edges, frontier)
  }
  const bits = (ahead.bits ??= bitsOf(size, ahead.set))
  for (let at = 0; at < bits.length; at++) if (((bits[at] ?? 0) & (frontier[at] ?? 0)) !== 0) return true
  return false
}

/** Positions of threads after the next character. */
function frontierOf(size: number, { next }: Edges, { set }: State, meter: Meter): Int32Array {
  const bits = new Int32Array((size + 31) >> 5)
  let work = set.length
  for (const position of set) {
    const [from, to] = [next.offsets[position] ?? 0, next.offsets[position + 1] ?? 0]
    work += to - from
    for (let edge = from; edge < to; edge++) setBit(bits, next.items[edge] ?? 0)
  }
  meter.spend(COST.entry + work * COST.edge)
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
