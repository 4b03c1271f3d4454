import { Automaton } from "./automaton.ts"
import { Dfa, runeAt, type State, UNKNOWN } from "./dfa.ts"
import { CROSSES, ENDS, meeting } from "./meeting.ts"
import { readAs } from "./fold.ts"
import { COST, type Meter } from "./meter.ts"
import { BEFORE_TEXT, type Program } from "./program.ts"
import type { Span } from "./scanner.ts"

/** UTF-16 units that are read between two looks at how much memory is in use. */
const BLOCK = 2_048
const BLOCKS_AT_ONCE = 16
const MEETINGS = 8_192
/** From a hash of 32 bits to a place among them. */
const MEETINGS_SHIFT = 19

/** A program, ready to be searched for in texts that are all there. */
export class Searcher {
  readonly automaton: Automaton
  readonly forward: Dfa
  readonly backward: Dfa
  /** What `meeting` made of the latest pairs of rows, by a hash of the two. */
  readonly behind = new Int32Array(MEETINGS).fill(-1)
  readonly ahead = new Int32Array(MEETINGS).fill(-1)
  readonly bits = new Uint8Array(MEETINGS)
  #generations = 0

  constructor(program: Program) {
    this.automaton = new Automaton(program)
    this.forward = new Dfa(this.automaton, "forward")
    this.backward = new Dfa(this.automaton, "backward")
  }

  /** Beside the beginning or the end of a text. */
  get edge(): number {
    const { kinds, end } = this.automaton.alphabet
    return kinds[end] as number
  }

  kindOf(rune: number): number {
    const { alphabet } = this.automaton
    return alphabet.kinds[alphabet.classOf(rune)] as number
  }

  meeting(behind: number, ahead: number, meter: Meter): number {
    const at = hashOf(behind, ahead)
    const bits = meeting(this.automaton, this.forward.stateAt(behind), this.backward.stateAt(ahead), meter)
    this.behind[at] = behind
    this.ahead[at] = ahead
    this.bits[at] = bits
    return bits
  }

  makeRoom(): void {
    this.forward.makeRoom()
    this.backward.makeRoom()
    // Both only grow.
    const generations = this.forward.generation + this.backward.generation
    if (generations === this.#generations) return
    this.behind.fill(-1)
    this.#generations = generations
  }
}

function hashOf(behind: number, ahead: number): number {
  return (Math.imul(behind, 0x9e3779b1) ^ Math.imul(ahead, 0x85ebca6b)) >>> MEETINGS_SHIFT
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
 * All stretches of a text that match, those that overlap as one, from front to back. Yields between blocks, for other
 * work to be done. One pass forward finds where matches end, and one backward, through blocks that have one, how far they
 * reach: at each place the positions that threads from the left have come to meet those that lead to a match on the right.
 */
export function* findStretches(searcher: Searcher, text: string, meter: Meter): Generator<void, Span[]> {
  const blocks = yield* readForward(searcher, text, meter, true)
  const spans: Span[] = []
  const rows = new Int32Array(BLOCK + 2)
  const reading: Reading = { ahead: undefined, open: -1, spans }
  let read = 0
  for (const block of blocks.toReversed()) {
    if (!block.hasEnd && reading.open === -1) {
      reading.ahead = undefined
      continue
    }
    searcher.makeRoom()
    searcher.forward.record(text, block.from, block.to, searcher.forward.rowOf(block.before), meter, rows)
    readBackward(searcher, text, block, rows, reading, meter)
    if (++read % BLOCKS_AT_ONCE === 0) yield
  }
  if (reading.open !== -1) spans.push({ start: 0, end: reading.open })
  return spans.toReversed()
}

/** What is known of the text behind a block: where it stands, and where a stretch ends whose beginning is not found yet. */
type Reading = { ahead: State | undefined; open: number; spans: Span[] }

function readBackward(
  searcher: Searcher,
  text: string,
  { from, to }: Block,
  rows: Int32Array,
  reading: Reading,
  meter: Meter,
): void {
  const { backward, behind, ahead, bits } = searcher
  const { alphabet } = searcher.automaton
  const { ascii } = alphabet
  const { spans } = reading
  const before = spans.length
  let { open } = reading
  // Where nothing is open, no match goes on behind this block: all that counts of what follows is the boundary.
  let row = backward.rowOf(
    reading.ahead ?? {
      set: new Int32Array(0),
      kind: to < text.length ? searcher.kindOf(runeAt(text, to)) : searcher.edge,
    },
  )
  let { table } = backward
  meter.spend((to - from) * 4)
  for (let at = to; at > from;) {
    const left = rows[at - from] as number
    const hash = hashOf(left, row)
    const isKnown = behind[hash] === left && ahead[hash] === row
    const met = isKnown ? (bits[hash] as number) : searcher.meeting(left, row, meter)
    if ((met & CROSSES) === 0) {
      if (open !== -1) spans.push({ start: at, end: open })
      open = (met & ENDS) === 0 ? -1 : at
    }
    at--
    let rune = text.charCodeAt(at)
    if ((rune & 0xfc00) === 0xdc00 && at > from) {
      const pair = runeAt(text, at - 1)
      if (pair > 0xffff) {
        rune = pair
        at--
      }
    }
    const one = rune < 128 ? (ascii[rune] as number) : alphabet.classOf(rune)
    let entry = table[row + one] as number
    if (entry === UNKNOWN) {
      entry = backward.entry(row, one, meter)
      ;({ table } = backward)
    }
    row = entry >> 1
  }
  meter.spend((spans.length - before) * COST.found)
  reading.open = open
  reading.ahead = backward.stateAt(row)
}

/**
 * Stretches outside of which no match stands, and at whose borders no thread is alive: what a scan that follows threads
 * needs to read. Between two places where none is either; the text has no character that is not read (fold.ts) there.
 */
export function* findRegions(
  searcher: Searcher,
  text: string,
  { start, end }: Span,
  meter: Meter,
): Generator<void, Span[]> {
  const { forward, automaton } = searcher
  const regions: Span[] = []
  const before = runeBefore(text, start)
  let state: State = { set: new Int32Array(0), kind: before < 0 ? searcher.edge : searcher.kindOf(before) }
  const open = { start, hasEnd: false }
  for (let from = start, blocks = 1; from < end; blocks++) {
    searcher.makeRoom()
    forward.putNothingFirst()
    const to = Math.min(end, blockEnd(text, from))
    const row = forward.runRegions(text, from, to, forward.rowOf(state), meter, open, regions)
    state = forward.stateAt(row)
    from = to
    if (blocks % BLOCKS_AT_ONCE === 0) yield
  }
  if (end < text.length) return regions
  const last = forward.entry(forward.rowOf(state), automaton.alphabet.end, meter)
  if (open.hasEnd || (last & 1) === 1) regions.push({ start: open.start, end })
  return regions
}

/** The character before a place, as detectors read it. */
export function runeBefore(text: string, at: number): number {
  if (at === 0) return BEFORE_TEXT
  const pair = at > 1 ? runeAt(text, at - 2) : 0
  return readAs(pair > 0xffff ? pair : text.charCodeAt(at - 1))
}

/** Where the first match ends; undefined where there is none. */
export function* findFirstEnd(searcher: Searcher, text: string, meter: Meter): Generator<void, number | undefined> {
  const blocks = yield* readForward(searcher, text, meter, false)
  const last = blocks.at(-1)
  return last?.hasEnd ? last.to : undefined
}

/** The blocks of a text; where `isWhole` is not set, up to the first with the end of a match, which then ends with it. */
function* readForward(searcher: Searcher, text: string, meter: Meter, isWhole: boolean): Generator<void, Block[]> {
  const { forward } = searcher
  const blocks: Block[] = []
  let state: State = { set: new Int32Array(0), kind: searcher.edge }
  for (let from = 0; from < text.length;) {
    const to = blockEnd(text, from)
    searcher.makeRoom()
    const row = forward.run(text, from, to, forward.rowOf(state), meter, !isWhole)
    if (row < 0) return [{ from, to: ~row, before: state, hasEnd: true }]
    const last = blocks.at(-1)
    if (last && forward.endsAtStart) last.hasEnd = true
    blocks.push({ from, to, before: state, hasEnd: forward.endsInside })
    state = forward.stateAt(row)
    from = to
    if (blocks.length % BLOCKS_AT_ONCE === 0) yield
  }
  const last = blocks.at(-1)
  const end = forward.entry(forward.rowOf(state), searcher.automaton.alphabet.end, meter)
  if (last && (end & 1) === 1) last.hasEnd = true
  return blocks
}

/** Not in the middle of a character. */
function blockEnd(text: string, from: number): number {
  const to = Math.min(text.length, from + BLOCK)
  const isInside = to < text.length && runeAt(text, to - 1) > 0xffff
  return isInside ? to + 1 : to
}

/** Works out every state there can be. Throws where that is too much work. */
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
