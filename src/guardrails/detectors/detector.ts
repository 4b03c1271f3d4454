import type { Meter } from "../content/meter.ts"
import type { Program } from "../content/program.ts"
import type { Signs, Survey } from "../prefilter/survey.ts"

/** A span in UTF-16 units; `score`: confidence of the model, from 0 to 1. */
export type Part = readonly [from: number, to: number, score?: number]

/** Finds one kind of content in texts. */
export type Detector = Named & (OfPieces | Searched)

export type Scanned = Named & OfPieces

type Named = {
  /** The name that `patterns` reports. */
  name: string
  engine: "regex" | "pii" | "secrets" | "prompt-injection"
  /** Replacement for redacted text. */
  label: string
}

/** A detector that also works on streamed text. */
type OfPieces = {
  program: () => Program
  /** Maximum length of a match in UTF-16 units. */
  limit: number
  /** Selects the parts of a match to report; without it the whole match. `before`: the CONTEXT units before it. */
  refine?: (match: string, before: string) => readonly Part[]
  /** Signs of which every accepted match has one. */
  signs?: Signs
  /** Replaces the program in texts without a literal, to find positions that no match crosses (stops.ts). */
  without?: { literal: string; program: () => Program }
  /** In such texts a match starts at most this many units before its first sign, except for a run without blanks. */
  lead?: number
}

/** A detector that needs complete texts. */
type Searched = {
  search: (text: string, survey: Survey, meter: Meter) => readonly Part[]
}

/** Length of the context before a match that a detector receives, in UTF-16 units. */
export const CONTEXT = 32
