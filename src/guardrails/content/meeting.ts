import type { Automaton } from "./automaton.ts"
import type { State } from "./dfa.ts"
import { COST, type Meter } from "./meter.ts"

/** Whether any of the positions stands among the others, which are in order. */
function meet(positions: Int32Array, from: number, to: number, others: Int32Array): boolean {
  for (let at = from; at < to; at++) if (has(others, positions[at] as number)) return true
  return false
}

function has(ordered: Int32Array, wanted: number): boolean {
  let low = 0
  let high = ordered.length - 1
  while (low <= high) {
    const middle = (low + high) >> 1
    const one = ordered[middle] as number
    if (one === wanted) return true
    if (one < wanted) low = middle + 1
    else high = middle - 1
  }
  return false
}

export const ENDS = 1
export const CROSSES = 2

/** What matches do between the character that a forward state is behind and the one a backward state is before. */
export function meeting(automaton: Automaton, behind: State, ahead: State, meter: Meter): number {
  const { next, ends } = automaton.edges(behind.kind, ahead.kind)
  let bits = 0
  let work = behind.set.length
  for (let at = 0; at < behind.set.length; at++) {
    const position = behind.set[at] as number
    const [from, to] = [next.offsets[position] as number, next.offsets[position + 1] as number]
    work += to - from
    if (ends[position] === 1) bits |= ENDS
    if ((bits & CROSSES) === 0 && meet(next.items, from, to, ahead.set)) bits |= CROSSES
  }
  meter.spend(COST.entry + work * COST.edge)
  return bits
}
