import { CONTEXT, type Detector, type PatternDetector } from "../detectors/detector.ts"
import {
  candidateRanges,
  candidateWindows,
  prefilterText,
  regionsWithTrigger,
  triggerCheck,
} from "../detectors/detector-prefilter.ts"
import type { PrefilterResult } from "../prefilter/prefilter.ts"
import { hasIgnored } from "../prefilter/windows.ts"
import { normalizeText, normalizeContext } from "./texts/normalize.ts"
import { addRedaction, type Redaction } from "./redactions.ts"
import type { TextCodec } from "./texts/text-codec.ts"
import { runToCompletion, BudgetExceeded, COST, WorkBudget } from "./work-budget.ts"
import { NfaScanner, type Span } from "./patterns/nfa-scanner.ts"
import { StreamScanner } from "./stream-scanner.ts"
import { findFirst, findRegions, findRanges, runeBefore, searcherOf } from "./patterns/dfa-search.ts"

export type Action = "block" | "redact" | "flag"

export type Rule = { detector: Detector; action: Action }

export type Finding = Span & { rule: Rule; score?: number | undefined }

export type FilterOptions = {
  budget?: WorkBudget
  /** Reports the position of every finding, not only of redactions. */
  reportsPositions?: boolean
  /** Called with the rule that exceeded the work limit. The text is then blocked. */
  onUnchecked?: (rule: Rule) => void
}

const PIECE_LENGTH = 16_384

/**
 * Filters one text, complete or in pieces. Text that may become part of a redaction or block is delayed; the rest is
 * released at once.
 */
export class TextFilter {
  readonly #codec: TextCodec
  readonly #rules: readonly Rule[]
  #scanners: { rule: Rule; scanner: StreamScanner }[]
  #isStarted = false
  readonly #onFinding: (finding: Finding) => void
  /** Decoded text that may still be needed. */
  #text = ""
  #textStart = 0
  #length = 0
  #released = 0
  /** Length of the text when `releaseAll` was called last. */
  #releasedAllTo = 0
  /** Redactions, in order and without overlaps. */
  #redactions: Redaction[] = []
  readonly #budget: WorkBudget
  readonly #reportsPositions: boolean
  isBlocked = false
  isChanged = false
  readonly #onUnchecked: (rule: Rule) => void

  constructor(
    rules: readonly Rule[],
    codec: TextCodec,
    onFinding: (finding: Finding) => void,
    { budget = new WorkBudget(), reportsPositions = false, onUnchecked = () => {} }: FilterOptions = {},
  ) {
    this.#codec = codec
    this.#onFinding = onFinding
    this.#rules = rules
    this.#scanners = []
    this.#budget = budget
    this.#reportsPositions = reportsPositions
    this.#onUnchecked = onUnchecked
  }

  /** Returns the released text; empty once something is blocked. */
  push(piece: string, isLast: boolean): string {
    if (isLast && !this.#isStarted) return runToCompletion(this.filterComplete(piece))
    if (this.isBlocked) return ""
    const content = this.#decode(piece, isLast)
    if (!this.#isStarted) this.#startScanners()
    for (const { rule, scanner } of this.#scanners) {
      if (!this.#runWithinBudget(rule, () => scanner.push(content, isLast))) return ""
    }
    return this.#release(isLast ? this.#length : this.#safeEnd())
  }

  /** Filters a complete text. Yields to other work. */
  *filterComplete(text: string): Generator<void, string> {
    this.#isStarted = true
    const first = this.#rules[0]
    let prefilter: PrefilterResult | undefined
    const isPrepared =
      !first ||
      this.#runWithinBudget(first, () => {
        this.#decode(text, true)
        const builtIn = this.#rules.map(({ detector }) => detector).filter(({ engine }) => engine !== "regex")
        if (builtIn.length === 0) return
        this.#budget.spend(this.#length * COST.prefilterCharacter)
        prefilter = prefilterText(this.#text, builtIn)
      })
    if (!isPrepared) return ""
    for (const rule of this.#rules) {
      try {
        yield* this.#search(rule, prefilter)
      } catch (thrown) {
        this.#blockUnchecked(rule, thrown)
        return ""
      }
      yield
    }
    return first ? this.#release(this.#length) : text
  }

  *#search(rule: Rule, prefilter: PrefilterResult | undefined): Generator<void> {
    const { detector } = rule
    if ("search" in detector) {
      const parts = prefilter ? detector.search(this.#text, prefilter, this.#budget) : []
      for (const [start, end, score] of parts) this.#report(rule, { start, end }, score)
    } else if (prefilter && detector.engine !== "regex") {
      yield* this.#scan(rule, detector, prefilter)
    } else if (rule.action === "redact" || this.#reportsPositions) {
      const searcher = searcherOf(detector.program())
      const found = yield* findRanges(searcher, this.#text, this.#budget)
      for (let at = 0; at < found.count; at++) this.#report(rule, found.at(at))
    } else {
      const end = yield* findFirst(searcherOf(detector.program()), this.#text, this.#budget)
      if (end !== undefined) this.#report(rule, { start: end - 1, end })
    }
  }

  /** Runs the NFA only where the literals and the DFA tables find the end of a match. */
  *#scan(rule: Rule, detector: PatternDetector, prefilter: PrefilterResult): Generator<void> {
    const text = this.#text
    let scanner: NfaScanner | undefined
    let scannedTo = 0
    let done = 0
    const ranges = candidateRanges(detector, text, prefilter, this.#budget)
    const cursor = { range: 0 }
    for (const { start: first, end: last } of candidateWindows(detector, text, { ranges, prefilter })) {
      if (last <= done) continue
      const window = { start: Math.max(first, done), end: last }
      this.#budget.spend(window.end - window.start)
      // The tables do not handle skipped characters.
      const isPlain = !prefilter.hasIgnored || !hasIgnored(text, window)
      const found = isPlain
        ? yield* findRegions(searcherOf(detector.program()), text, window, this.#budget)
        : { regions: [window], end: window.end }
      const regions = regionsWithTrigger(found.regions, ranges, cursor)
      done = found.end
      scanner ??= regions.length > 0 ? new NfaScanner(...this.#scanInput(rule, detector)) : undefined
      for (const { start, end } of regions) {
        if (start > 0) scanner?.skipTo(start, runeBefore(text, start))
        for (let from = start; from < end; from += PIECE_LENGTH) {
          scanner?.push(text.slice(from, Math.min(end, from + PIECE_LENGTH)), false)
          yield
        }
        scannedTo = end
      }
    }
    if (scannedTo === text.length) scanner?.push("", true)
  }

  #decode(piece: string, isLast: boolean): string {
    if (this.#codec.isExpensive) this.#budget.spend(piece.length * COST.decodedCharacter)
    const content = this.#codec.decode(piece, isLast)
    this.#text += content
    this.#length += content.length
    return content
  }

  /** Runs the work of a rule. False if it exceeded the budget; then nothing of the text is released. */
  #runWithinBudget(rule: Rule, work: () => void): boolean {
    try {
      work()
      return true
    } catch (thrown) {
      this.#blockUnchecked(rule, thrown)
      return false
    }
  }

  #blockUnchecked(rule: Rule, thrown: unknown): void {
    if (!(thrown instanceof BudgetExceeded)) throw thrown
    this.isBlocked = true
    this.#onUnchecked(rule)
  }

  #startScanners(): void {
    this.#isStarted = true
    for (const rule of this.#rules) {
      const { detector } = rule
      if ("program" in detector)
        this.#scanners.push({ rule, scanner: new StreamScanner(...this.#scanInput(rule, detector)) })
    }
  }

  #scanInput(rule: Rule, detector: PatternDetector) {
    const options = {
      limit: detector.limit,
      longestOnly: detector.refine !== undefined,
      // Built-in detectors match any spelling; custom patterns match literally.
      normalizes: detector.engine !== "regex",
      hasTrigger: triggerCheck(detector),
      budget: this.#budget,
    }
    return [detector.program(), options, (span: Span) => this.#onMatch(rule, span)] as const
  }

  /**
   * Releases all delayed text as if it ended here, because another field follows and order counts. A match found later
   * that began earlier is redacted from here on.
   */
  releaseAll(): string {
    if (this.#length === this.#releasedAllTo) return ""
    this.#releasedAllTo = this.#length
    for (const { rule, scanner } of this.#scanners)
      if (!this.#runWithinBudget(rule, () => scanner.reportOpen())) return ""
    return this.#release(this.#length)
  }

  /** Whether text is delayed. */
  get hasDelayedText(): boolean {
    return this.#released < this.#length
  }

  #safeEnd(): number {
    let safe = this.#length
    for (const { rule, scanner } of this.#scanners)
      if (rule.action !== "flag") safe = Math.min(safe, scanner.earliestOpen)
    // A redaction is delayed while a later match may overlap it.
    const open = this.#redactions.find(({ start, end }) => start < safe && end > safe)
    return open ? open.start : safe
  }

  #release(upTo: number): string {
    if (this.isBlocked) return ""
    let out = ""
    let done = 0
    for (const redaction of this.#redactions) {
      if (redaction.end > upTo) break
      done++
      const start = Math.max(redaction.start, this.#released)
      out += this.#codec.slice(this.#released, start)
      if (redaction.end > start) out += this.#codec.replace(start, redaction.end, redaction.label)
      this.#released = Math.max(this.#released, redaction.end)
      this.isChanged = true
    }
    this.#redactions.splice(0, done)
    const end = Math.max(upTo, this.#released)
    out += this.#codec.slice(this.#released, end)
    this.#released = end
    this.#discardUnneeded()
    return out
  }

  /** Drops text that no match can reach, except for the context that detectors need. */
  #discardUnneeded(): void {
    let needed = this.#released
    for (const { scanner } of this.#scanners) needed = Math.min(needed, scanner.earliestOpen)
    this.#codec.discard(Math.min(needed, this.#released))
    const from = needed - CONTEXT
    if (from - this.#textStart < 1_024) return
    this.#text = this.#text.slice(from - this.#textStart)
    this.#textStart = from
  }

  #onMatch(rule: Rule, { start, end }: Span): void {
    const refine = "refine" in rule.detector ? rule.detector.refine : undefined
    if (!refine) return this.#report(rule, { start, end })
    const local = (position: number) => Math.max(0, position - this.#textStart)
    const { text, offsets } = normalizeText(this.#text.slice(local(start), local(end)))
    const original = (unit: number) => start + (offsets?.[unit] ?? unit)
    const parts = refine(text, normalizeContext(this.#text.slice(local(start - CONTEXT), local(start))))
    for (const [from, to] of parts) this.#report(rule, { start: original(from), end: original(to) })
  }

  #report(rule: Rule, span: Span, score?: number): void {
    this.#budget.spend(COST.finding)
    this.#onFinding({ ...span, rule, score })
    if (rule.action === "block") this.isBlocked = true
    if (rule.action === "redact") addRedaction(this.#redactions, { ...span, label: rule.detector.label })
  }
}
