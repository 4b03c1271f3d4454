import { runeAt } from "./alphabet.ts"
import { Automaton } from "./automaton.ts"
import { Dfa, HALF, type State } from "./dfa.ts"
import { CROSSES, ENDS, cachedCells, crossingOf } from "./crossing.ts"
import { pairEnd, readAs } from "./fold.ts"
import { COST, type Meter } from "./meter.ts"
import { BEFORE_TEXT, type Program } from "./program.ts"
import type { Span } from "./scanner.ts"
import { RangeList } from "./range-list.ts"

/** UTF-16 units between two checks of the memory use. */
const BLOCK = 2_048
const BLOCKS_PER_BATCH = 16
const MEETINGS = 32_768
/** Shift from a 32-bit hash to an index of the cache. */
const MEETINGS_SHIFT = 17

/** A program prepared for searches in complete texts. */
export class Searcher {
  readonly automaton: Automaton
  readonly forward: Dfa
  readonly backward: Dfa
  /**
   * Cache of `meeting` results by a hash of both rows: the forward row, and four times the backward row plus the
   * result.
   */
  readonly meetings = new Int32Array(2 * MEETINGS).fill(-1)
  #generations = 0

  constructor(program: Program) {
    this.automaton = new Automaton(program)
    this.forward = new Dfa(this.automaton, "forward")
    this.backward = new Dfa(this.automaton, "backward")
  }

  /** KIND before the start and after the end of a text. */
  get edge(): number {
    const { kinds, end } = this.automaton.alphabet
    return kinds[end] ?? 0
  }

  kindOf(rune: number): number {
    const { alphabet } = this.automaton
    return alphabet.kinds[alphabet.classOf(rune)] ?? 0
  }

  crossingOf(behind: number, ahead: number, meter: Meter): number {
    const scope = combineSides(behind, ahead)
    const [left, right] = [this.forward.stateAt(behind), this.backward.stateAt(ahead)]
    const before = [cachedCells(left), cachedCells(right)] as const
    const bits = crossingOf(this.automaton, left, right, meter)
    this.forward.countKept(cachedCells(left) - before[0])
    this.backward.countKept(cachedCells(right) - before[1])
    this.meetings[scope] = behind
    this.meetings[scope + 1] = ahead * 4 + bits
    return bits
  }

  makeRoom(): void {
    this.forward.makeRoom()
    this.forward.putNothingFirst()
    this.backward.makeRoom()
    // Both only grow.
    const generations = this.forward.generation + this.backward.generation
    if (generations === this.#generations) return
    this.meetings.fill(-1)
    this.#generations = generations
  }
}

function combineSides(behind: number, ahead: number): number {
  return ((Math.imul(behind, 0x9e3779b1) ^ Math.imul(ahead, 0x85ebca6b)) >>> MEETINGS_SHIFT) << 1
}

const searchers = new WeakMap<Program, Searcher>()

export function searcherOf(program: Program): Searcher {
  let searcher = searchers.get(program)
  if (!searcher) {
    searcher = new Searcher(program)
    searchers.set(program, searcher)
  }
  return searcher
}

type Block = { from: number; to: number; before: State; hasEnd: boolean }

/**
 * All matching stretches of a text in order, with overlapping ones merged. Yields between blocks. A forward pass finds
 * the ends of matches; a backward pass through blocks with an end finds their extent: at each character, the positions
 * that threads from the left reached are intersected with those that lead to a match on the right.
 */
export function* findRanges(searcher: Searcher, text: string, meter: Meter): Generator<void, RangeList> {
  const { forward } = searcher
  const blocks = yield* readForward(searcher, text, meter, true)
  const found = new RangeList()
  const reading: Reading = { ahead: undefined, open: -1, found }
  let read = 0
  for (const block of blocks.toReversed()) {
    if (!block.hasEnd && reading.open === -1) {
      reading.ahead = undefined
      continue
    }
    searcher.makeRoom()
    forward.run(text, { from: block.from, to: block.to, startRow: forward.rowOf(block.before), record }, meter)
    readBackward(searcher, text, { block, reading, meter })
    if (++read % BLOCKS_PER_BATCH === 0) yield
  }
  if (reading.open !== -1) found.add(0, reading.open)
  return found
}

/** Record of the current block; only one is read at a time. */
const record = { rows: new Int32Array(BLOCK + 2), classes: new Uint16Array(BLOCK + 2) }

/** State of the backward pass: the state after the block, and the end of a match whose start is not found yet. */
type Reading = { ahead: State | undefined; open: number; found: RangeList }

type BackwardRead = {
  block: Block
  reading: Reading
  meter: Meter
}

function readBackward(searcher: Searcher, text: string, { block: { from, to }, reading, meter }: BackwardRead): void {
  const { backward, meetings } = searcher
  const { alphabet } = searcher.automaton
  const { rows, classes } = record
  const { found } = reading
  const before = found.count
  const live = searcher.forward.live
  let { open } = reading
  // Without an open match, only the boundary character after the block counts.
  const kind = to < text.length ? searcher.kindOf(runeAt(text, to)) : searcher.edge
  let row = reading.ahead ? backward.rowOf(reading.ahead) : backward.rowOfNothing(kind)
  let { table } = backward
  let read = 0
  for (let at = to; at > from; read++) {
    if (open !== -1 || at === to) {
      const left = (rows[at - from] ?? 0) >> 1
      let met = 0
      if (left >= live) {
        const scope = combineSides(left, row)
        const known = meetings[scope + 1] ?? 0
        met = meetings[scope] === left && known >> 2 === row ? known & 3 : searcher.crossingOf(left, row, meter)
      }
      if ((met & CROSSES) === 0) {
        if (open !== -1) found.add(at, open)
        open = (met & ENDS) === 0 ? -1 : at
      }
    }
    if (open === -1) {
      // Skips to the next match end: no match crosses the text between.
      do at--
      while (at > from && ((rows[at - from] ?? 0) & 1) === 0)
      if (at === from) break
      open = at
      row = backward.rowOfNothing(alphabet.kinds[classes[at - from] ?? 0] ?? 0)
      ;({ table } = backward)
    }
    at--
    if (classes[at - from] === HALF) at--
    const one = classes[at - from] ?? 0
    let entry = table[row + one] ?? 0
    if (entry < 0) {
      entry = backward.entry(row, one, meter)
      ;({ table } = backward)
    }
    row = entry >> 1
  }
  meter.spend(to - from + read * COST.backward + (found.count - before) * COST.found)
  reading.open = open
  reading.ahead = open === -1 ? undefined : backward.stateAt(row)
}

/** Characters to read at once after a window. */
const BEYOND = 64

/**
 * Regions that contain all matches of a window, without live threads at their borders: the part that the NFA must read.
 * The text must have no skipped characters (fold.ts). `end`: end of the text that was read, which is after the window
 * if a thread is alive at its end.
 */
export function* findRegions(
  searcher: Searcher,
  text: string,
  { start, end }: Span,
  meter: Meter,
): Generator<void, { regions: Span[]; end: number }> {
  const { forward, automaton } = searcher
  const regions: Span[] = []
  const before = runeBefore(text, start)
  let state: State = { set: new Int32Array(0), kind: before < 0 ? searcher.edge : searcher.kindOf(before) }
  const open = { start, hasEnd: false }
  let from = start
  let isLive = false
  for (let blocks = 1; from < end || (isLive && from < text.length); blocks++) {
    searcher.makeRoom()
    const to = Math.min(from < end ? end : pairEnd(text, from + BEYOND), blockEnd(text, from))
    const row = forward.run(text, { from, to, startRow: forward.rowOf(state), folds: true, record }, meter)
    addRegions(from, to, { live: forward.live, open, regions })
    isLive = row >= forward.live
    state = forward.stateAt(row)
    from = to
    if (blocks % BLOCKS_PER_BATCH === 0) yield
  }
  if (from < text.length) return { regions, end: from }
  const last = forward.entry(forward.rowOf(state), automaton.alphabet.end, meter)
  if (open.hasEnd || (last & 1) === 1) regions.push({ start: open.start, end: from })
  return { regions, end: from }
}

type RegionSearch = {
  live: number
  open: { start: number; hasEnd: boolean }
  regions: Span[]
}

/** Adds the regions of a block between states without threads that contain a match end. */
function addRegions(from: number, to: number, { live, open, regions }: RegionSearch) {
  const { rows } = record
  for (let at = from; at < to; at++) {
    if (((rows[at - from] ?? 0) & 1) === 1) open.hasEnd = true
    if ((rows[at + 1 - from] ?? 0) >> 1 >= live) continue
    if (open.hasEnd) regions.push({ start: open.start, end: at + 1 })
    open.hasEnd = false
    open.start = at + 1
  }
}

/** The normalized character before an index. */
export function runeBefore(text: string, at: number): number {
  if (at === 0) return BEFORE_TEXT
  const pair = at > 1 ? runeAt(text, at - 2) : 0
  return readAs(pair > 0xffff ? pair : text.charCodeAt(at - 1))
}

/** End of the first match; undefined if there is none. */
export function* findFirstEnd(searcher: Searcher, text: string, meter: Meter): Generator<void, number | undefined> {
  const blocks = yield* readForward(searcher, text, meter, false)
  const last = blocks.at(-1)
  return last?.hasEnd ? last.to : undefined
}

/**
 * The blocks of a text; without `isWhole`, only up to the end of the first match.
 */
function* readForward(searcher: Searcher, text: string, meter: Meter, isWhole: boolean): Generator<void, Block[]> {
  const { forward } = searcher
  const blocks: Block[] = []
  let state: State = { set: new Int32Array(0), kind: searcher.edge }
  for (let from = 0; from < text.length;) {
    const to = blockEnd(text, from)
    searcher.makeRoom()
    const row = forward.run(text, { from, to, startRow: forward.rowOf(state), stopsAtEnd: !isWhole }, meter)
    if (row < 0) return [{ from, to: ~row, before: state, hasEnd: true }]
    const last = blocks.at(-1)
    if (last && forward.endsAtStart) last.hasEnd = true
    blocks.push({ from, to, before: state, hasEnd: forward.endsInside })
    state = forward.stateAt(row)
    from = to
    if (blocks.length % BLOCKS_PER_BATCH === 0) yield
  }
  const last = blocks.at(-1)
  const end = forward.entry(forward.rowOf(state), searcher.automaton.alphabet.end, meter)
  if (last && (end & 1) === 1) last.hasEnd = true
  return blocks
}

/** End of a block, never inside a surrogate pair. */
function blockEnd(text: string, from: number): number {
  const to = Math.min(text.length, from + BLOCK)
  const isInside = to < text.length && runeAt(text, to - 1) > 0xffff
  return isInside ? to + 1 : to
}

/** Constructs all DFA states. Throws if that exceeds the budget. */
export function explore(searcher: Searcher, meter: Meter): void {
  const { forward, backward, automaton } = searcher
  const { alphabet } = automaton
  try {
    forward.rowOfNothing(searcher.edge)
    exploreFrom(forward, alphabet.size + 1, meter)
    for (const kind of new Set(alphabet.kinds)) backward.rowOfNothing(kind)
    exploreFrom(backward, alphabet.size, meter)
  } finally {
    forward.forget()
    backward.forget()
  }
}

function exploreFrom(dfa: Dfa, classes: number, meter: Meter): void {
  for (let state = 0; state < dfa.states.length; state++) {
    for (let one = 0; one < classes; one++) dfa.entry(state * dfa.stride, one, meter)
    if (dfa.isFull) meter.spend(Number.POSITIVE_INFINITY)
  }
}
