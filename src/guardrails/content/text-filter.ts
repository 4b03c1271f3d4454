import { CONTEXT, type Detector, type Scanned } from "../detectors/detector.ts"
import { surveyOf, windowsOf } from "../detectors/surveyor.ts"
import type { Survey } from "../prefilter/survey.ts"
import { hasUnread } from "../prefilter/windows.ts"
import { fold, foldBefore } from "./fold.ts"
import { addMark, type Mark } from "./marks.ts"
import { atOnce, BudgetExceeded, COST, Meter } from "./meter.ts"
import { Scanner, type Span } from "./scanner.ts"
import { findFirstEnd, findRegions, findRanges, runeBefore, searcherOf } from "./search.ts"

export type Action = "block" | "redact" | "flag"

export type Rule = { detector: Detector; action: Action }

export type Finding = Span & { rule: Rule; score?: number | undefined }

/** A streamed text, unchanged except for redactions. `units` define how it is escaped (json-units.ts). */
export type Units = {
  /** Takes more of the escaped text; returns the decoded one. */
  take: (piece: string, isLast: boolean) => string
  /** The escaped text between two units of the decoded one. */
  slice: (from: number, to: number) => string
  /** Replacement for a redacted stretch. */
  replace: (from: number, to: number, label: string) => string
  /** Units before this are no longer needed. */
  forget: (before: number) => void
  /** `take` is expensive and counts as work. */
  isDear?: true
}

export type FilterOptions = {
  meter?: Meter
  /** Reports the position of every finding, not only of redactions. */
  reportsPlaces?: boolean
  /** Called with the rule that exceeded the work limit. The text is then blocked. */
  onUnchecked?: (rule: Rule) => void
}

export function plainUnits(): Units {
  let text = ""
  let base = 0
  return {
    take: (piece) => {
      text += piece
      return piece
    },
    slice: (from, to) => text.slice(from - base, to - base),
    replace: (_from, _to, label) => label,
    forget: (before) => {
      if (before <= base) return
      text = text.slice(before - base)
      base = before
    },
  }
}

const PIECE = 16_384

/**
 * Filters one text, complete or in pieces. Text that may become part of a redaction or block is delayed; the rest is
 * released at once.
 */
export class TextFilter {
  readonly #units: Units
  readonly #rules: readonly Rule[]
  #scans: { rule: Rule; scanner: Scanner }[]
  #isBegun = false
  readonly #onFinding: (finding: Finding) => void
  /** Decoded text that may still be needed. */
  #text = ""
  #textStart = 0
  #length = 0
  #released = 0
  /** Redactions, in order and without overlaps. */
  #marks: Mark[] = []
  readonly #meter: Meter
  readonly #reportsPlaces: boolean
  isBlocked = false
  isChanged = false
  readonly #onUnchecked: (rule: Rule) => void

  constructor(
    rules: readonly Rule[],
    units: Units,
    onFinding: (finding: Finding) => void,
    { meter = new Meter(), reportsPlaces = false, onUnchecked = () => {} }: FilterOptions = {},
  ) {
    this.#units = units
    this.#onFinding = onFinding
    this.#rules = rules
    this.#scans = []
    this.#meter = meter
    this.#reportsPlaces = reportsPlaces
    this.#onUnchecked = onUnchecked
  }

  /** Returns the released text; empty once something is blocked. */
  push(piece: string, isLast: boolean): string {
    if (isLast && !this.#isBegun) return atOnce(this.readWhole(piece))
    if (this.isBlocked) return ""
    const content = this.#take(piece, isLast)
    if (!this.#isBegun) this.#begin()
    for (const { rule, scanner } of this.#scans) {
      if (!this.#isWithin(rule, () => scanner.push(content, isLast))) return ""
    }
    return this.#release(isLast ? this.#length : this.#safe())
  }

  /** Filters a complete text. Yields to other work. */
  *readWhole(text: string): Generator<void, string> {
    this.#isBegun = true
    const first = this.#rules[0]
    let survey: Survey | undefined
    const isPrepared =
      !first ||
      this.#isWithin(first, () => {
        this.#take(text, true)
        if (this.#rules.every(({ detector }) => detector.engine === "regex")) return
        this.#meter.spend(this.#length * COST.surveyed)
        survey = surveyOf(this.#text)
      })
    if (!isPrepared) return ""
    for (const rule of this.#rules) {
      try {
        yield* this.#search(rule, survey)
      } catch (thrown) {
        this.#giveUp(rule, thrown)
        return ""
      }
      yield
    }
    return first ? this.#release(this.#length) : text
  }

  *#search(rule: Rule, survey: Survey | undefined): Generator<void> {
    const { detector } = rule
    if ("search" in detector) {
      const parts = survey ? detector.search(this.#text, survey, this.#meter) : []
      for (const [start, end, score] of parts) this.#find(rule, { start, end }, score)
    } else if (survey && detector.engine !== "regex") {
      yield* this.#scan(rule, detector, survey)
    } else if (rule.action === "redact" || this.#reportsPlaces) {
      const searcher = searcherOf(detector.program())
      const found = yield* findRanges(searcher, this.#text, this.#meter)
      for (let at = 0; at < found.count; at++) this.#find(rule, found.at(at))
    } else {
      const end = yield* findFirstEnd(searcherOf(detector.program()), this.#text, this.#meter)
      if (end !== undefined) this.#find(rule, { start: end - 1, end })
    }
  }

  /** Runs the NFA only where the literals and the DFA tables find the end of a match. */
  *#scan(rule: Rule, detector: Scanned, survey: Survey): Generator<void> {
    const text = this.#text
    let scanner: Scanner | undefined
    let last = 0
    let done = 0
    for (const { start: first, end: least } of windowsOf(detector, text, survey)) {
      if (least <= done) continue
      const window = { start: Math.max(first, done), end: least }
      this.#meter.spend(window.end - window.start)
      // The tables do not handle skipped characters.
      const isPlain = !survey.hasUnread || !hasUnread(text, window)
      const found = isPlain
        ? yield* findRegions(searcherOf(detector.program()), text, window, this.#meter)
        : { regions: [window], end: window.end }
      const { regions } = found
      done = found.end
      scanner ??= regions.length > 0 ? this.#scannerOf(rule, detector) : undefined
      for (const { start, end } of regions) {
        if (start > 0) scanner?.skipTo(start, runeBefore(text, start))
        for (let from = start; from < end; from += PIECE) {
          scanner?.push(text.slice(from, Math.min(end, from + PIECE)), false)
          yield
        }
        last = end
      }
    }
    if (last === text.length) scanner?.push("", true)
  }

  #take(piece: string, isLast: boolean): string {
    if (this.#units.isDear) this.#meter.spend(piece.length * COST.prepared)
    const content = this.#units.take(piece, isLast)
    this.#text += content
    this.#length += content.length
    return content
  }

  /** Runs the work of a rule. False if it exceeded the budget; then nothing of the text is released. */
  #isWithin(rule: Rule, work: () => void): boolean {
    try {
      work()
      return true
    } catch (thrown) {
      this.#giveUp(rule, thrown)
      return false
    }
  }

  #giveUp(rule: Rule, thrown: unknown): void {
    if (!(thrown instanceof BudgetExceeded)) throw thrown
    this.isBlocked = true
    this.#onUnchecked(rule)
  }

  #begin(): void {
    this.#isBegun = true
    for (const rule of this.#rules) {
      const { detector } = rule
      if ("program" in detector) this.#scans.push({ rule, scanner: this.#scannerOf(rule, detector) })
    }
  }

  #scannerOf(rule: Rule, detector: Scanned): Scanner {
    // Built-in detectors match any spelling; custom patterns match literally.
    const folds = detector.engine !== "regex"
    const options = { limit: detector.limit, isWhole: detector.refine !== undefined, folds, meter: this.#meter }
    return new Scanner(detector.program(), options, (span) => this.#match(rule, span))
  }

  /**
   * Releases all delayed text as if it ended here, because another field follows and order counts. A match found later
   * that began earlier is redacted from here on.
   */
  yield(): string {
    for (const { rule, scanner } of this.#scans) if (!this.#isWithin(rule, () => scanner.settle())) return ""
    return this.#release(this.#length)
  }

  /** Whether text is delayed. */
  get isWaiting(): boolean {
    return this.#released < this.#length
  }

  #safe(): number {
    let safe = this.#length
    for (const { rule, scanner } of this.#scans) if (rule.action !== "flag") safe = Math.min(safe, scanner.safe)
    // A mark is delayed while a later match may overlap it.
    const open = this.#marks.find(({ start, end }) => start < safe && end > safe)
    return open ? open.start : safe
  }

  #release(upTo: number): string {
    if (this.isBlocked) return ""
    let out = ""
    let over = 0
    for (const mark of this.#marks) {
      if (mark.end > upTo) break
      over++
      const start = Math.max(mark.start, this.#released)
      out += this.#units.slice(this.#released, start)
      if (mark.end > start) out += this.#units.replace(start, mark.end, mark.label)
      this.#released = Math.max(this.#released, mark.end)
      this.isChanged = true
    }
    this.#marks.splice(0, over)
    const end = Math.max(upTo, this.#released)
    out += this.#units.slice(this.#released, end)
    this.#released = end
    this.#forget()
    return out
  }

  /** Drops text that no match can reach, except for the context that detectors need. */
  #forget(): void {
    let needed = this.#released
    for (const { scanner } of this.#scans) needed = Math.min(needed, scanner.safe)
    this.#units.forget(Math.min(needed, this.#released))
    const from = needed - CONTEXT
    if (from - this.#textStart < 1_024) return
    this.#text = this.#text.slice(from - this.#textStart)
    this.#textStart = from
  }

  #match(rule: Rule, { start, end }: Span): void {
    const refine = "refine" in rule.detector ? rule.detector.refine : undefined
    if (!refine) return this.#find(rule, { start, end })
    const at = (scope: number) => Math.max(0, scope - this.#textStart)
    const { text, places } = fold(this.#text.slice(at(start), at(end)))
    const scope = (unit: number) => start + (places?.[unit] ?? unit)
    const parts = refine(text, foldBefore(this.#text.slice(at(start - CONTEXT), at(start))))
    for (const [from, to] of parts) this.#find(rule, { start: scope(from), end: scope(to) })
  }

  #find(rule: Rule, span: Span, score?: number): void {
    this.#meter.spend(COST.finding)
    this.#onFinding({ ...span, rule, score })
    if (rule.action === "block") this.isBlocked = true
    if (rule.action === "redact") addMark(this.#marks, { ...span, label: rule.detector.label })
  }
}
