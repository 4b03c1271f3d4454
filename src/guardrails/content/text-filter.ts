import { CONTEXT, type Detector } from "../detectors/detector.ts"
import { fold, foldBefore } from "./fold.ts"
import { Scanner, type Span } from "./scanner.ts"

export type Action = "block" | "redact" | "flag"

/** What a text is searched for, and what follows from finding it. */
export type Rule = { detector: Detector; action: Action }

export type Finding = Span & { rule: Rule }

type Mark = Span & { label: string }

/** A text as it goes on: as it came, but for what is redacted. `units` say how it is written (json-units.ts). */
export type Units = {
  /** Takes more of the text as written; returns what it says. */
  take: (piece: string, isLast: boolean) => string
  /** As written, from one unit of what is said up to another. */
  slice: (from: number, to: number) => string
  /** What is written in place of such a stretch. */
  replace: (from: number, to: number, label: string) => string
  /** Nothing before this will be asked for. */
  forget: (before: number) => void
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

/**
 * One text on its way through the rules, in one piece or in many. What may yet be part of something to redact or to block
 * waits; all else goes on at once.
 */
export class TextFilter {
  readonly #units: Units
  readonly #rules: readonly Rule[]
  #scans: { rule: Rule; scanner: Scanner }[]
  #isBegun = false
  readonly #onFinding: (finding: Finding) => void
  /** Said, as far as it may still be needed. */
  #said = ""
  #saidFrom = 0
  #length = 0
  #told = 0
  /** To redact, in order, none overlapping another. */
  #marks: Mark[] = []
  isBlocked = false
  isChanged = false

  constructor(rules: readonly Rule[], units: Units, onFinding: (finding: Finding) => void) {
    this.#units = units
    this.#onFinding = onFinding
    this.#rules = rules
    this.#scans = []
  }

  /** What goes on now. Nothing does once something is blocked. */
  push(piece: string, isLast: boolean): string {
    const said = this.#units.take(piece, isLast)
    this.#said += said
    this.#length += said.length
    if (!this.#isBegun) this.#begin(isLast)
    for (const { scanner } of this.#scans) scanner.push(said, isLast)
    return this.#release(isLast ? this.#length : this.#safe())
  }

  /** Of a text that is all there, a look tells which detectors have nothing to find. */
  #begin(isWhole: boolean): void {
    this.#isBegun = true
    const read = isWhole ? fold(this.#said).text : ""
    for (const rule of this.#rules) {
      const { detector } = rule
      if (isWhole && detector.hint?.test(read) === false) continue
      if ("program" in detector) {
        // What is built in knows what it looks for in any spelling; a pattern of a customer is what it says.
        const folds = detector.engine !== "regex"
        const options = { limit: detector.limit, isWhole: detector.refine !== undefined, folds }
        const scanner = new Scanner(detector.program(), options, (span) => this.#match(rule, span))
        this.#scans.push({ rule, scanner })
      } else if (isWhole) {
        for (const [start, end] of detector.search(this.#said)) this.#find(rule, { start, end })
      }
    }
  }

  /**
   * All that waits, read as if the text ended here, although more may come: something else is told next, and order counts.
   * What turns out later to have begun before here is redacted from here on.
   */
  yield(): string {
    for (const { scanner } of this.#scans) scanner.settle()
    return this.#release(this.#length)
  }

  #safe(): number {
    let safe = this.#length
    for (const { rule, scanner } of this.#scans) if (rule.action !== "flag") safe = Math.min(safe, scanner.safe)
    // A mark that something else may yet grow into waits with it.
    const open = this.#marks.find(({ start, end }) => start < safe && end > safe)
    return open ? open.start : safe
  }

  #release(upTo: number): string {
    if (this.isBlocked) return ""
    let out = ""
    for (let mark = this.#marks[0]; mark && mark.end <= upTo; mark = this.#marks[0]) {
      const start = Math.max(mark.start, this.#told)
      out += this.#units.slice(this.#told, start)
      if (mark.end > start) out += this.#units.replace(start, mark.end, mark.label)
      this.#told = Math.max(this.#told, mark.end)
      this.isChanged = true
      this.#marks.shift()
    }
    const end = Math.max(upTo, this.#told)
    out += this.#units.slice(this.#told, end)
    this.#told = end
    this.#forget()
    return out
  }

  /** What no match can reach any more, but for what detectors may look back at. */
  #forget(): void {
    let needed = this.#told
    for (const { scanner } of this.#scans) needed = Math.min(needed, scanner.safe)
    this.#units.forget(Math.min(needed, this.#told))
    const from = needed - CONTEXT
    if (from - this.#saidFrom < 1_024) return
    this.#said = this.#said.slice(from - this.#saidFrom)
    this.#saidFrom = from
  }

  #match(rule: Rule, { start, end }: Span): void {
    const refine = "refine" in rule.detector ? rule.detector.refine : undefined
    if (!refine) return this.#find(rule, { start, end })
    const at = (place: number) => Math.max(0, place - this.#saidFrom)
    const { text, places } = fold(this.#said.slice(at(start), at(end)))
    const place = (unit: number) => start + (places?.[unit] ?? unit)
    const parts = refine(text, foldBefore(this.#said.slice(at(start - CONTEXT), at(start))))
    for (const [from, to] of parts) this.#find(rule, { start: place(from), end: place(to) })
  }

  #find(rule: Rule, span: Span): void {
    this.#onFinding({ ...span, rule })
    if (rule.action === "block") this.isBlocked = true
    if (rule.action === "redact") this.#mark({ ...span, label: rule.detector.label })
  }

  /** Marks that overlap are one, under the name of the one that began first, or else is longer. */
  #mark(mark: Mark): void {
    let at = this.#marks.length
    let merged = mark
    while (at > 0) {
      const other = this.#marks[at - 1] as Mark
      if (other.end <= merged.start) break
      at--
      if (other.start >= merged.end) continue
      const isFirst = other.start < merged.start || (other.start === merged.start && other.end >= merged.end)
      const { label } = isFirst ? other : merged
      merged = { start: Math.min(other.start, merged.start), end: Math.max(other.end, merged.end), label }
      this.#marks.splice(at, 1)
    }
    this.#marks.splice(at, 0, merged)
  }
}
