import { runeAt } from "./patterns/alphabet.ts"
import { NfaScanner, type ScanOptions, type Span } from "./patterns/nfa-scanner.ts"
import { IGNORED, normalizeRune, pairEnd } from "./texts/normalize.ts"
import { runeBefore, type Searcher, searcherOf } from "./patterns/dfa-search.ts"
import type { Dfa, State } from "./patterns/dfa.ts"
import { BEFORE_TEXT, type Program } from "./patterns/program.ts"
import { COST, WorkBudget } from "./work-budget.ts"

/** UTF-16 units between two checks of the memory use. */
const BLOCK = 2_048
/** Units of a candidate after which the NFA takes over: it knows where each thread began, the DFA does not. */
const MAX_CANDIDATE = 32
/** The same for a candidate without a trigger. */
const MAX_WITHOUT_TRIGGER = 96
const NO_POSITIONS = new Int32Array(0)

/** `hasTrigger`: whether a text may contain a match that is accepted; without it, any may. */
export type StreamScanOptions = ScanOptions & { hasTrigger?: ((text: string) => boolean) | undefined }

/**
 * Scans a text that arrives in pieces. Reports the same matches as NfaScanner, but costs one table lookup for each
 * character where no match is possible: the NFA reads only candidates that are long, contain the end of a match and a
 * trigger, or contain a character that is skipped.
 */
export class StreamScanner {
  readonly #newNfa: () => NfaScanner
  #nfa: NfaScanner | undefined
  readonly #searcher: Searcher
  readonly #normalizes: boolean
  readonly #budget: WorkBudget
  /** The NFA while it has threads. */
  #activeNfa: NfaScanner | undefined
  #length = 0
  /** Text since the DFA last had no thread. */
  #candidate = ""
  /** The candidate contains the end of a match. */
  #hasEnd = false
  readonly #hasTrigger: ((text: string) => boolean) | undefined
  /** The character before the candidate. */
  #before = BEFORE_TEXT
  /** First half of a surrogate pair, whose other half arrives with the next piece. */
  #half = ""
  #state: State
  #row = 0
  /** Generation of the DFA tables in which `#row` is valid. */
  #generation = -1

  constructor(program: Program, options: StreamScanOptions, onMatch: (span: Span) => void) {
    const { normalizes = false, budget = new WorkBudget(Number.POSITIVE_INFINITY) } = options
    this.#newNfa = () => new NfaScanner(program, { ...options, budget }, onMatch)
    this.#searcher = searcherOf(program)
    this.#normalizes = normalizes
    this.#budget = budget
    this.#hasTrigger = options.hasTrigger
    this.#state = { set: NO_POSITIONS, kind: this.#searcher.edge }
  }

  /** No further match can begin before this index of the complete text. */
  get earliestOpen(): number {
    return this.#activeNfa ? this.#activeNfa.earliestOpen : this.#length - this.#candidate.length - this.#half.length
  }

  push(piece: string, isLast: boolean): void {
    this.#length += piece.length
    if (this.#activeNfa) return this.#pushToNfa(this.#activeNfa, piece, isLast)
    let text = this.#half === "" ? piece : this.#half + piece
    this.#half = ""
    if (!isLast && endsWithHalf(text)) {
      this.#half = text.slice(-1)
      text = text.slice(0, -1)
    }
    const needsNfa = this.#search(text) || (isLast && this.#mayEndHere)
    if (needsNfa || this.#isLong) this.#startNfa(isLast)
  }

  /** Reports matches as if the text ended here, without ending it. */
  reportOpen(): void {
    if (!this.#activeNfa && this.#mayEndHere) this.#startNfa(false)
    this.#activeNfa?.reportOpen()
  }

  /** Whether a match ended in the candidate or would end here if the text did. */
  get #mayEndHere(): boolean {
    if (this.#hasEnd) return true
    const { forward, automaton } = this.#searcher
    return (forward.transition(this.#currentRow(), automaton.alphabet.end, this.#budget) & 1) === 1
  }

  get #isLong(): boolean {
    const { length } = this.#candidate
    if (length <= MAX_CANDIDATE || length > MAX_WITHOUT_TRIGGER) return length > MAX_CANDIDATE
    return this.#hasTrigger?.(this.#candidate) ?? true
  }

  /** The row of the state, which changes when the tables were dropped. */
  #currentRow(): number {
    const { forward } = this.#searcher
    if (this.#generation !== forward.generation) {
      this.#row = forward.rowOf(this.#state)
      this.#generation = forward.generation
    }
    return this.#row
  }

  /** Reads text with the DFA, and adds it to the candidate if a thread is left. True if the NFA must read it. */
  #search(text: string): boolean {
    const { forward } = this.#searcher
    this.#candidate += text
    for (let from = 0; from < text.length;) {
      this.#searcher.evictIfFull()
      const to = pairEnd(text, from + BLOCK)
      const range = {
        from,
        to,
        startRow: this.#currentRow(),
        normalizes: this.#normalizes,
        hasEnd: this.#hasTrigger ? this.#hasEnd : undefined,
      }
      const found = readPiece(forward, text, range, this.#budget)
      this.#row = found.row
      this.#state = forward.stateAt(found.row)
      this.#hasEnd = found.hasEnd === true
      if (found.idleAt !== -1) this.#dropTo(text, found.idleAt)
      if (found.needsNfa) return true
      if (found.closedAt !== -1) {
        const closed = this.#candidate.slice(0, this.#candidate.length - (text.length - found.closedAt))
        this.#budget.spend(closed.length * COST.prefilterCharacter)
        if (this.#hasTrigger?.(closed)) return true
        this.#hasEnd = false
        this.#dropTo(text, found.closedAt)
      }
      from = found.closedAt === -1 ? to : found.closedAt
    }
    return false
  }

  /** Ends the candidate before an index of the text that was read last. */
  #dropTo(text: string, at: number): void {
    this.#candidate = text.slice(at)
    this.#before = runeBefore(text, at, this.#normalizes)
  }

  #startNfa(isLast: boolean): void {
    const text = this.#candidate + this.#half
    const nfa = (this.#nfa ??= this.#newNfa())
    this.#activeNfa = nfa
    this.#candidate = ""
    this.#hasEnd = false
    this.#half = ""
    nfa.skipTo(this.#length - text.length, this.#before)
    this.#pushToNfa(nfa, text, isLast)
  }

  #pushToNfa(nfa: NfaScanner, text: string, isLast: boolean): void {
    nfa.push(text, isLast)
    if (isLast || !nfa.isIdle) return
    this.#activeNfa = undefined
    this.#before = nfa.before
    this.#state = {
      set: NO_POSITIONS,
      kind: this.#before < 0 ? this.#searcher.edge : this.#searcher.kindOf(this.#before),
    }
    this.#generation = -1
  }
}

/** `hasEnd`: whether a match ended before; undefined if the NFA must read every match at once. */
type Piece = { from: number; to: number; startRow: number; normalizes: boolean; hasEnd: boolean | undefined }

type PieceResult = {
  row: number
  /** The last index before which no thread was left, or -1. */
  idleAt: number
  /** The index at which no thread was left after the end of a match, or -1. */
  closedAt: number
  hasEnd: boolean | undefined
  /** A match ends, or a character is skipped, which the tables do not handle. */
  needsNfa: boolean
}

/** Reads a piece with the tables, up to the first character that the NFA must read or the end of a match's region. */
function readPiece(dfa: Dfa, text: string, piece: Piece, budget: WorkBudget): PieceResult {
  const { from, to, startRow, normalizes } = piece
  let { hasEnd } = piece
  const { alphabet } = dfa.automaton
  const { firstLiveRow } = dfa
  let { table } = dfa
  let row = startRow
  let idleAt = -1
  budget.spend(to - from)
  for (let at = from; at < to; at++) {
    const unit = text.charCodeAt(at)
    let charClass: number
    if (unit < 128) charClass = alphabet.ascii[unit] ?? 0
    else {
      const original = runeAt(text, at)
      if (original > 0xffff) at++
      const rune = normalizes ? normalizeRune(original) : original
      if (rune === IGNORED) return { row, idleAt, closedAt: -1, hasEnd, needsNfa: true }
      charClass = alphabet.classOf(rune)
    }
    let transition = table[row + charClass] ?? 0
    if (transition < 0) {
      transition = dfa.transition(row, charClass, budget)
      ;({ table } = dfa)
    }
    if ((transition & 1) === 1) {
      if (hasEnd === undefined) return { row, idleAt, closedAt: -1, hasEnd, needsNfa: true }
      hasEnd = true
    }
    row = transition >> 1
    if (row >= firstLiveRow) continue
    if (hasEnd) return { row, idleAt, closedAt: at + 1, hasEnd, needsNfa: false }
    idleAt = at + 1
  }
  return { row, idleAt, closedAt: -1, hasEnd, needsNfa: false }
}

function endsWithHalf(text: string): boolean {
  return (text.charCodeAt(text.length - 1) & 0xfc00) === 0xd800
}
