import { normalizeRune, IGNORED } from "../texts/normalize.ts"
import { COST, WorkBudget } from "../work-budget.ts"
import { AFTER_TEXT, BEFORE_TEXT, stepsAfterFirst, conditionsBetween, OP, type Program, consumes } from "./program.ts"
import { elementAt } from "../../../support/arrays.ts"

/** From `start` to before `end`, in UTF-16 units of the complete text. */
export type Span = { start: number; end: number }

const SPACE = 32
const MAX_UNCHARGED_STEPS = 100_000

export type ScanOptions = { limit: number; longestOnly: boolean; normalizes?: boolean; budget?: WorkBudget }

type Threads = { steps: Int32Array; starts: Int32Array; count: number }

/** A character with the conditions between it and the previous one. */
type ScannedCharacter = { rune: number; width: number; conditions: number }

/**
 * Runs a program over a text that arrives in pieces, in linear time: of the threads at one step only the one with the
 * earliest start is kept. Reports matching spans, which may overlap and contain every character of every match, so that
 * matches within or across other matches are not missed.
 */
export class NfaScanner {
  readonly #program: Program
  readonly #limit: number
  readonly #longestOnly: boolean
  readonly #normalizes: boolean
  readonly #budget: WorkBudget
  #steps = 0
  readonly #onMatch: (span: Span) => void
  #current: Threads
  #next: Threads
  readonly #visited: Int32Array
  readonly #queued: Int32Array
  readonly #pending: number[] = []
  #round = 0
  #before = BEFORE_TEXT
  #at = 0
  #pendingSurrogate = ""
  /** A skipped character lies between the last character and the next. */
  #followsIgnored = false
  /** Matches that may still grow, with the longest end so far of each start. */
  readonly #openMatches = new Map<number, number>()

  /**
   * `limit`: maximum length of a match in UTF-16 units; longer candidates are dropped. `longestOnly`: a match is
   * reported only when it cannot grow, which needs a limit; otherwise at each length, where longer ones include shorter
   * ones. `normalizes`: the text is normalized by normalize.ts; reported positions are those of the original.
   */
  constructor(
    program: Program,
    { limit, longestOnly, normalizes = false, budget = new WorkBudget(Number.POSITIVE_INFINITY) }: ScanOptions,
    onMatch: (span: Span) => void,
  ) {
    const size = program.steps.length
    const threads = (): Threads => ({ steps: new Int32Array(size), starts: new Int32Array(size), count: 0 })
    this.#program = program
    this.#limit = limit
    this.#longestOnly = longestOnly
    this.#normalizes = normalizes
    this.#budget = budget
    this.#onMatch = onMatch
    this.#current = threads()
    this.#next = threads()
    this.#visited = new Int32Array(size)
    this.#queued = new Int32Array(size)
  }

  /** No further match can begin before this index of the complete text. */
  get earliestOpen(): number {
    let earliestOpen = this.#current.count > 0 ? (this.#current.starts[0] ?? 0) : this.#at
    for (const start of this.#openMatches.keys()) earliestOpen = Math.min(earliestOpen, start)
    return earliestOpen
  }

  /** No match is open, and none can begin before the next character. */
  get isIdle(): boolean {
    const hasOpen = this.#current.count > 0 || this.#openMatches.size > 0
    return !hasOpen && !this.#followsIgnored && this.#pendingSurrogate === ""
  }

  /** The last character that was read. */
  get before(): number {
    return this.#before
  }

  /** Continues at an index before which no match is open. */
  skipTo(at: number, before: number): void {
    this.#at = at
    this.#before = before
  }

  push(piece: string, isLast: boolean): void {
    const text = this.#pendingSurrogate === "" ? piece : this.#pendingSurrogate + piece
    this.#pendingSurrogate = ""
    for (let at = 0; at < text.length;) {
      const isHalf = (text.charCodeAt(at) & 0xfc00) === 0xd800
      // First half of a surrogate pair: the other half arrives with the next piece.
      if (isHalf && at === text.length - 1 && !isLast) {
        this.#pendingSurrogate = text.slice(at)
        return
      }
      // Only if there is a next unit: at the end of a slice, V8 was seen to read the unit after it.
      const rune = isHalf && at < text.length - 1 ? (text.codePointAt(at) ?? 0) : text.charCodeAt(at)
      const width = rune > 0xffff ? 2 : 1
      const normalized = this.#normalizes ? normalizeRune(rune) : rune
      if (normalized === IGNORED) this.#skipIgnored(width)
      else this.#step(normalized, width)
      at += width
      if (this.#steps > MAX_UNCHARGED_STEPS) this.#chargeSteps()
    }
    this.#budget.spend(text.length * COST.nfaCharacter)
    this.#chargeSteps()
    if (isLast) this.#step(AFTER_TEXT, 0)
  }

  #chargeSteps(): void {
    const steps = this.#steps
    this.#steps = 0
    this.#budget.spend(steps * COST.nfaStep)
  }

  /** Reports matches as if the text ended here, without ending it. */
  reportOpen(): void {
    const { steps, starts, count } = this.#current
    const read = { rune: AFTER_TEXT, width: 0, conditions: conditionsBetween(this.#before, AFTER_TEXT) }
    this.#round++
    for (let thread = 0; thread < count; thread++) {
      this.#advance(steps[thread] ?? 0, starts[thread] ?? 0, read)
    }
    this.#reportClosed(true)
  }

  /** Handles a skipped character, which may be inside a word or between two words: both are searched. */
  #skipIgnored(width: number): void {
    const { steps, starts, count } = this.#current
    const read = { rune: AFTER_TEXT, width: 0, conditions: conditionsBetween(this.#before, SPACE) }
    this.#round++
    for (let thread = 0; thread < count; thread++) {
      this.#advance(steps[thread] ?? 0, starts[thread] ?? 0, read)
    }
    this.#at += width
    this.#followsIgnored = true
  }

  #step(rune: number, width: number): void {
    const { steps, starts, count } = this.#current
    const conditions = conditionsBetween(this.#before, rune)
    const read = { rune, width, conditions }
    this.#round++
    this.#next.count = 0
    for (let thread = 0; thread < count; thread++) {
      this.#advance(steps[thread] ?? 0, starts[thread] ?? 0, read)
    }
    if (rune !== AFTER_TEXT) {
      this.#startThreads(conditions, rune)
      if (this.#followsIgnored) this.#startThreads(conditionsBetween(SPACE, rune), rune)
      this.#followsIgnored = false
    }
    const emptied = this.#current
    this.#current = this.#next
    this.#next = emptied
    this.#at += width
    this.#before = rune
    if (this.#openMatches.size > 0) this.#reportClosed(rune === AFTER_TEXT)
  }

  #startThreads(conditions: number, rune: number): void {
    const first = stepsAfterFirst(this.#program, conditions, rune)
    for (let entry = 0; entry < first.length; entry++) this.#addThread(first[entry] ?? 0, this.#at)
  }

  /** Follows all steps without a character, then adds the steps after this character. */
  #advance(step: number, start: number, { rune, width, conditions }: ScannedCharacter): void {
    const { steps } = this.#program
    const open = this.#pending
    open.push(step)
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (this.#visited[at] === this.#round) continue
      this.#visited[at] = this.#round
      this.#steps++
      const step = elementAt(steps, at)
      switch (step.op) {
        case OP.alt:
        case OP.altMatch:
          open.push(step.out, step.arg)
          break
        case OP.emptyWidth:
          if ((step.arg & ~conditions) === 0) open.push(step.out)
          break
        case OP.capture:
        case OP.nop:
          open.push(step.out)
          break
        case OP.match:
          if (this.#longestOnly) this.#openMatches.set(start, this.#at)
          else this.#onMatch({ start, end: this.#at })
          break
        case OP.fail:
          break
        default:
          if (rune !== AFTER_TEXT && this.#at + width - start <= this.#limit && consumes(this.#program, at, rune)) {
            this.#addThread(step.out, start)
          }
      }
    }
  }

  #addThread(step: number, start: number): void {
    if (this.#queued[step] === this.#round) return
    this.#queued[step] = this.#round
    const { count, steps, starts } = this.#next
    steps[count] = step
    starts[count] = start
    this.#next.count = count + 1
  }

  /** Reports matches that no thread can extend. Threads are ordered by their start, so the first is the oldest. */
  #reportClosed(isOver: boolean): void {
    const oldest = isOver || this.#current.count === 0 ? Number.POSITIVE_INFINITY : (this.#current.starts[0] ?? 0)
    for (const [start, end] of this.#openMatches) {
      if (start >= oldest) continue
      this.#openMatches.delete(start)
      this.#onMatch({ start, end })
    }
  }
}
