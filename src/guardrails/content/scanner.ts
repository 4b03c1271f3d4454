import { readAs, UNREAD } from "./fold.ts"
import { COST, Meter } from "./meter.ts"
import { AFTER_TEXT, BEFORE_TEXT, beginningsWith, conditionsBetween, OP, type Program, consumes } from "./program.ts"
import { elementAt } from "../../support/arrays.ts"

/** From `start` to before `end`, in UTF-16 units of the complete text. */
export type Span = { start: number; end: number }

const SPACE = 32
const MAX_UNPAID_STEPS = 100_000

type ScanOptions = { limit: number; isWhole: boolean; folds?: boolean; meter?: Meter }

type Threads = { places: Int32Array; starts: Int32Array; count: number }

/** A character with the conditions between it and the previous one. */
type CharacterRead = { rune: number; width: number; conditions: number }

/**
 * Runs a program over a text that arrives in pieces, in linear time: of the threads at one step only the one with the
 * earliest start is kept. Reports matching spans, which may overlap and contain every character of every match, so that
 * matches within or across other matches are not missed.
 */
export class Scanner {
  readonly #program: Program
  readonly #limit: number
  readonly #isWhole: boolean
  readonly #folds: boolean
  readonly #meter: Meter
  #steps = 0
  readonly #onMatch: (span: Span) => void
  #now: Threads
  #next: Threads
  readonly #seen: Int32Array
  readonly #queued: Int32Array
  readonly #open: number[] = []
  #round = 0
  #before = BEFORE_TEXT
  #at = 0
  #half = ""
  /** A skipped character lies between the last character and the next. */
  #isParted = false
  /** Matches that may still grow, with the longest end so far of each start. */
  readonly #growing = new Map<number, number>()

  /**
   * `limit`: maximum length of a match in UTF-16 units; longer candidates are dropped. `isWhole`: a match is reported
   * only when it cannot grow, which needs a limit; otherwise at each length, where longer ones include shorter ones.
   * `folds`: the text is normalized by fold.ts; reported positions are those of the original.
   */
  constructor(
    program: Program,
    { limit, isWhole, folds = false, meter = new Meter(Number.POSITIVE_INFINITY) }: ScanOptions,
    onMatch: (span: Span) => void,
  ) {
    const size = program.steps.length
    const threads = (): Threads => ({ places: new Int32Array(size), starts: new Int32Array(size), count: 0 })
    this.#program = program
    this.#limit = limit
    this.#isWhole = isWhole
    this.#folds = folds
    this.#meter = meter
    this.#onMatch = onMatch
    this.#now = threads()
    this.#next = threads()
    this.#seen = new Int32Array(size)
    this.#queued = new Int32Array(size)
  }

  /** No further match can begin before this index of the complete text. */
  get safe(): number {
    let safe = this.#now.count > 0 ? (this.#now.starts[0] ?? 0) : this.#at
    for (const start of this.#growing.keys()) safe = Math.min(safe, start)
    return safe
  }

  /** Continues at an index before which no match is open. */
  skipTo(at: number, before: number): void {
    this.#at = at
    this.#before = before
  }

  push(piece: string, isLast: boolean): void {
    const text = this.#half === "" ? piece : this.#half + piece
    this.#half = ""
    for (let at = 0; at < text.length;) {
      const isHalf = (text.charCodeAt(at) & 0xfc00) === 0xd800
      // First half of a surrogate pair: the other half arrives with the next piece.
      if (isHalf && at === text.length - 1 && !isLast) {
        this.#half = text.slice(at)
        return
      }
      // Only if there is a next unit: at the end of a slice, V8 was seen to read the unit after it.
      const rune = isHalf && at < text.length - 1 ? (text.codePointAt(at) ?? 0) : text.charCodeAt(at)
      const width = rune > 0xffff ? 2 : 1
      const read = this.#folds ? readAs(rune) : rune
      if (read === UNREAD) this.#part(width)
      else this.#step(read, width)
      at += width
      if (this.#steps > MAX_UNPAID_STEPS) this.#pay()
    }
    this.#meter.spend(text.length * COST.threadedCharacter)
    this.#pay()
    if (isLast) this.#step(AFTER_TEXT, 0)
  }

  #pay(): void {
    const steps = this.#steps
    this.#steps = 0
    this.#meter.spend(steps * COST.threadedStep)
  }

  /** Reports matches as if the text ended here, without ending it. */
  settle(): void {
    const { places, starts, count } = this.#now
    const read = { rune: AFTER_TEXT, width: 0, conditions: conditionsBetween(this.#before, AFTER_TEXT) }
    this.#round++
    for (let thread = 0; thread < count; thread++) {
      this.#follow(places[thread] ?? 0, starts[thread] ?? 0, read)
    }
    this.#report(true)
  }

  /** Handles a skipped character, which may be inside a word or between two words: both are searched. */
  #part(width: number): void {
    const { places, starts, count } = this.#now
    const read = { rune: AFTER_TEXT, width: 0, conditions: conditionsBetween(this.#before, SPACE) }
    this.#round++
    for (let thread = 0; thread < count; thread++) {
      this.#follow(places[thread] ?? 0, starts[thread] ?? 0, read)
    }
    this.#at += width
    this.#isParted = true
  }

  #step(rune: number, width: number): void {
    const { places, starts, count } = this.#now
    const conditions = conditionsBetween(this.#before, rune)
    const read = { rune, width, conditions }
    this.#round++
    this.#next.count = 0
    for (let thread = 0; thread < count; thread++) {
      this.#follow(places[thread] ?? 0, starts[thread] ?? 0, read)
    }
    if (rune !== AFTER_TEXT) {
      this.#begin(conditions, rune)
      if (this.#isParted) this.#begin(conditionsBetween(SPACE, rune), rune)
      this.#isParted = false
    }
    const emptied = this.#now
    this.#now = this.#next
    this.#next = emptied
    this.#at += width
    this.#before = rune
    if (this.#growing.size > 0) this.#report(rune === AFTER_TEXT)
  }

  #begin(conditions: number, rune: number): void {
    const begun = beginningsWith(this.#program, conditions, rune)
    for (let one = 0; one < begun.length; one++) this.#queue(begun[one] ?? 0, this.#at)
  }

  /** Follows all steps without a character, then adds the steps after this character. */
  #follow(scope: number, start: number, { rune, width, conditions }: CharacterRead): void {
    const { steps } = this.#program
    const open = this.#open
    open.push(scope)
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (this.#seen[at] === this.#round) continue
      this.#seen[at] = this.#round
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
          if (this.#isWhole) this.#growing.set(start, this.#at)
          else this.#onMatch({ start, end: this.#at })
          break
        case OP.fail:
          break
        default:
          if (rune !== AFTER_TEXT && this.#at + width - start <= this.#limit && consumes(this.#program, at, rune)) {
            this.#queue(step.out, start)
          }
      }
    }
  }

  #queue(scope: number, start: number): void {
    if (this.#queued[scope] === this.#round) return
    this.#queued[scope] = this.#round
    const { count, places, starts } = this.#next
    places[count] = scope
    starts[count] = start
    this.#next.count = count + 1
  }

  /** Reports matches that no thread can extend. Threads are ordered by their start, so the first is the oldest. */
  #report(isOver: boolean): void {
    const oldest = isOver || this.#now.count === 0 ? Number.POSITIVE_INFINITY : (this.#now.starts[0] ?? 0)
    for (const [start, end] of this.#growing) {
      if (start >= oldest) continue
      this.#growing.delete(start)
      this.#onMatch({ start, end })
    }
  }
}
