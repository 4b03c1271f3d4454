import { runeAt } from "./alphabet.ts"
import { GlushkovAutomaton } from "./glushkov.ts"
import { Dfa, LOW_SURROGATE, type State } from "./dfa.ts"
import { MATCH_CROSSES, MATCH_ENDS, cachedCells, matchCrossing } from "../match-crossing.ts"
import { pairEnd, normalizeRune } from "../texts/normalize.ts"
import { COST, type WorkBudget } from "../work-budget.ts"
import { BEFORE_TEXT, type Program } from "./program.ts"
import type { Span } from "./nfa-scanner.ts"
import { RangeList } from "./range-list.ts"

/** UTF-16 units between two checks of the memory use. */
const BLOCK = 2_048
const BLOCKS_PER_BATCH = 16
const CROSSING_CACHE_SIZE = 32_768
/** Shift from a 32-bit hash to an index of the cache. */
const CROSSING_CACHE_SHIFT = 17

/** A program prepared for searches in complete texts. */
export class Searcher {
  readonly automaton: GlushkovAutomaton
  readonly forward: Dfa
  readonly backward: Dfa
  /**
   * Cache of crossing results by a hash of both rows: the forward row, and four times the backward row plus the
   * result.
   */
  readonly crossings = new Int32Array(2 * CROSSING_CACHE_SIZE).fill(-1)
  #generations = 0

  constructor(program: Program) {
    this.automaton = new GlushkovAutomaton(program)
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

  crossingBits(behind: number, ahead: number, budget: WorkBudget): number {
    const slot = crossingSlot(behind, ahead)
    const [left, right] = [this.forward.stateAt(behind), this.backward.stateAt(ahead)]
    const before = [cachedCells(left), cachedCells(right)] as const
    const bits = matchCrossing(this.automaton, left, right, budget)
    this.forward.countCached(cachedCells(left) - before[0])
    this.backward.countCached(cachedCells(right) - before[1])
    this.crossings[slot] = behind
    this.crossings[slot + 1] = ahead * 4 + bits
    return bits
  }

  evictIfFull(): void {
    this.forward.evictIfFull()
    this.forward.createEmptyStates()
    this.backward.evictIfFull()
    // Both only grow.
    const generations = this.forward.generation + this.backward.generation
    if (generations === this.#generations) return
    this.crossings.fill(-1)
    this.#generations = generations
  }
}

function crossingSlot(behind: number, ahead: number): number {
  return ((Math.imul(behind, 0x9e3779b1) ^ Math.imul(ahead, 0x85ebca6b)) >>> CROSSING_CACHE_SHIFT) << 1
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
 * All matching ranges of a text in order, with overlapping ones merged. Yields between blocks. A forward pass finds
 * the ends of matches; a backward pass through blocks with an end finds their extent: at each character, the positions
 * that threads from the left reached are intersected with those that lead to a match on the right.
 */
export function* findRanges(searcher: Searcher, text: string, budget: WorkBudget): Generator<void, RangeList> {
  const { forward } = searcher
  const blocks = yield* forwardPass(searcher, text, budget, true)
  const found = new RangeList()
  const state: BackwardState = { stateAfter: undefined, open: -1, found }
  let blockCount = 0
  for (const block of blocks.toReversed()) {
    if (!block.hasEnd && state.open === -1) {
      state.stateAfter = undefined
      continue
    }
    searcher.evictIfFull()
    forward.run(text, { from: block.from, to: block.to, startRow: forward.rowOf(block.before), trace }, budget)
    backwardPass(searcher, text, { block, state, budget })
    if (++blockCount % BLOCKS_PER_BATCH === 0) yield
  }
  if (state.open !== -1) found.add(0, state.open)
  return found
}

/** Record of the current block; only one is read at a time. */
const trace = { rows: new Int32Array(BLOCK + 2), classes: new Uint16Array(BLOCK + 2) }

/** State of the backward pass: the state after the block, and the end of a match whose start is not found yet. */
type BackwardState = { stateAfter: State | undefined; open: number; found: RangeList }

type BackwardInput = {
  block: Block
  state: BackwardState
  budget: WorkBudget
}

function backwardPass(searcher: Searcher, text: string, { block: { from, to }, state, budget }: BackwardInput): void {
  const { backward, crossings } = searcher
  const { alphabet } = searcher.automaton
  const { rows, classes } = trace
  const { found } = state
  const before = found.count
  const firstLiveRow = searcher.forward.firstLiveRow
  let { open } = state
  // Without an open match, only the boundary character after the block counts.
  const kind = to < text.length ? searcher.kindOf(runeAt(text, to)) : searcher.edge
  let row = state.stateAfter ? backward.rowOf(state.stateAfter) : backward.emptyStateRow(kind)
  let { table } = backward
  let stepCount = 0
  for (let at = to; at > from; stepCount++) {
    if (open !== -1 || at === to) {
      const left = (rows[at - from] ?? 0) >> 1
      let crossing = 0
      if (left >= firstLiveRow) {
        const slot = crossingSlot(left, row)
        const cached = crossings[slot + 1] ?? 0
        crossing =
          crossings[slot] === left && cached >> 2 === row ? cached & 3 : searcher.crossingBits(left, row, budget)
      }
      if ((crossing & MATCH_CROSSES) === 0) {
        if (open !== -1) found.add(at, open)
        open = (crossing & MATCH_ENDS) === 0 ? -1 : at
      }
    }
    if (open === -1) {
      // Skips to the next match end: no match crosses the text between.
      do at--
      while (at > from && ((rows[at - from] ?? 0) & 1) === 0)
      if (at === from) break
      open = at
      row = backward.emptyStateRow(alphabet.kinds[classes[at - from] ?? 0] ?? 0)
      ;({ table } = backward)
    }
    at--
    if (classes[at - from] === LOW_SURROGATE) at--
    const charClass = classes[at - from] ?? 0
    let transition = table[row + charClass] ?? 0
    if (transition < 0) {
      transition = backward.transition(row, charClass, budget)
      ;({ table } = backward)
    }
    row = transition >> 1
  }
  budget.spend(to - from + stepCount * COST.backwardCharacter + (found.count - before) * COST.match)
  state.open = open
  state.stateAfter = open === -1 ? undefined : backward.stateAt(row)
}

/** Characters to read at once after a window. */
const LOOKAHEAD = 64

/**
 * Regions that contain all matches of a window, without live threads at their borders: the part that the NFA must read.
 * The text must have no ignored characters (normalize.ts). `end`: end of the text that was read, which is after the
 * window if a thread is alive at its end.
 */
export function* findRegions(
  searcher: Searcher,
  text: string,
  { start, end }: Span,
  budget: WorkBudget,
): Generator<void, { regions: Span[]; end: number }> {
  const { forward, automaton } = searcher
  const regions: Span[] = []
  const before = runeBefore(text, start)
  let state: State = { set: new Int32Array(0), kind: before < 0 ? searcher.edge : searcher.kindOf(before) }
  const open = { start, hasEnd: false }
  let from = start
  let isLive = false
  for (let blocks = 1; from < end || (isLive && from < text.length); blocks++) {
    searcher.evictIfFull()
    const to = Math.min(from < end ? end : pairEnd(text, from + LOOKAHEAD), blockEnd(text, from))
    const row = forward.run(text, { from, to, startRow: forward.rowOf(state), normalizes: true, trace }, budget)
    addRegions(from, to, { firstLiveRow: forward.firstLiveRow, open, regions })
    isLive = row >= forward.firstLiveRow
    state = forward.stateAt(row)
    from = to
    if (blocks % BLOCKS_PER_BATCH === 0) yield
  }
  if (from < text.length) return { regions, end: from }
  const last = forward.transition(forward.rowOf(state), automaton.alphabet.end, budget)
  if (open.hasEnd || (last & 1) === 1) regions.push({ start: open.start, end: from })
  return { regions, end: from }
}

type RegionInput = {
  firstLiveRow: number
  open: { start: number; hasEnd: boolean }
  regions: Span[]
}

/** Adds the regions of a block between states without threads that contain a match end. */
function addRegions(from: number, to: number, { firstLiveRow: live, open, regions }: RegionInput) {
  const { rows } = trace
  for (let at = from; at < to; at++) {
    if (((rows[at - from] ?? 0) & 1) === 1) open.hasEnd = true
    if ((rows[at + 1 - from] ?? 0) >> 1 >= live) continue
    if (open.hasEnd) regions.push({ start: open.start, end: at + 1 })
    open.hasEnd = false
    open.start = at + 1
  }
}

/** The character before an index. */
export function runeBefore(text: string, at: number, normalizes = true): number {
  if (at === 0) return BEFORE_TEXT
  const pair = at > 1 ? runeAt(text, at - 2) : 0
  const rune = pair > 0xffff ? pair : text.charCodeAt(at - 1)
  return normalizes ? normalizeRune(rune) : rune
}

/** End of the first match; undefined if there is none. */
export function* findFirst(searcher: Searcher, text: string, budget: WorkBudget): Generator<void, number | undefined> {
  const blocks = yield* forwardPass(searcher, text, budget, false)
  const last = blocks.at(-1)
  return last?.hasEnd ? last.to : undefined
}

/**
 * The blocks of a text; without `all`, only up to the end of the first match.
 */
function* forwardPass(searcher: Searcher, text: string, budget: WorkBudget, all: boolean): Generator<void, Block[]> {
  const { forward } = searcher
  const blocks: Block[] = []
  let state: State = { set: new Int32Array(0), kind: searcher.edge }
  for (let from = 0; from < text.length;) {
    const to = blockEnd(text, from)
    searcher.evictIfFull()
    const row = forward.run(text, { from, to, startRow: forward.rowOf(state), stopsAtEnd: !all }, budget)
    if (row < 0) return [{ from, to: ~row, before: state, hasEnd: true }]
    const last = blocks.at(-1)
    if (last && forward.endsAtStart) last.hasEnd = true
    blocks.push({ from, to, before: state, hasEnd: forward.endsInside })
    state = forward.stateAt(row)
    from = to
    if (blocks.length % BLOCKS_PER_BATCH === 0) yield
  }
  const last = blocks.at(-1)
  const end = forward.transition(forward.rowOf(state), searcher.automaton.alphabet.end, budget)
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
export function exploreStates(searcher: Searcher, budget: WorkBudget): void {
  const { forward, backward, automaton } = searcher
  const { alphabet } = automaton
  try {
    forward.emptyStateRow(searcher.edge)
    exploreFrom(forward, alphabet.size + 1, budget)
    for (const kind of new Set(alphabet.kinds)) backward.emptyStateRow(kind)
    exploreFrom(backward, alphabet.size, budget)
  } finally {
    forward.clear()
    backward.clear()
  }
}

function exploreFrom(dfa: Dfa, classes: number, budget: WorkBudget): void {
  for (let state = 0; state < dfa.states.length; state++) {
    for (let charClass = 0; charClass < classes; charClass++) dfa.transition(state * dfa.stride, charClass, budget)
    if (dfa.isFull) budget.spend(Number.POSITIVE_INFINITY)
  }
}
