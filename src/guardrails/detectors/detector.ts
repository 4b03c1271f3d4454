import type { WorkBudget } from "../content/work-budget.ts"
import type { Program } from "../content/patterns/program.ts"
import type { Triggers, PrefilterResult } from "../prefilter/prefilter.ts"

/** A span in UTF-16 units; `score`: confidence of the model, from 0 to 1. */
export type MatchRange = readonly [from: number, to: number, score?: number]

/** Finds one kind of content in texts. */
export type Detector = DetectorInfo & (PatternMatching | TextSearch)

export type PatternDetector = DetectorInfo & PatternMatching

type DetectorInfo = {
  /** The name that `patterns` reports. */
  name: string
  engine: "regex" | "pii" | "secrets" | "prompt-injection"
  /** Replacement for redacted text. */
  label: string
}

/** A detector that also works on streamed text. */
type PatternMatching = {
  program: () => Program
  /** Maximum length of a match in UTF-16 units. */
  limit: number
  /** Selects the parts of a match to report; without it the complete match. `before`: the CONTEXT units before it. */
  refine?: (match: string, before: string) => readonly MatchRange[]
  /** Triggers of which every accepted match has one. */
  triggers?: Triggers
  /** Replaces the program in texts without a literal, to find positions that no match crosses (match-boundaries.ts). */
  reduced?: { literal: string; program: () => Program }
  /**
   * A match starts at most this many units before its first trigger, except for a run without blanks; with `reduced`
   * only in texts without its literal.
   */
  maxLead?: number
}

/** A detector that needs complete texts. */
type TextSearch = {
  search: (text: string, prefilter: PrefilterResult, budget: WorkBudget) => readonly MatchRange[]
}

/** Length of the context before a match that a detector receives, in UTF-16 units. */
export const CONTEXT = 32
