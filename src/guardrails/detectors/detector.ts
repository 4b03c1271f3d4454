import type { Meter } from "../content/meter.ts"
import type { Program } from "../content/program.ts"
import type { Signs, Survey } from "../prefilter/survey.ts"

/** From a unit of a text up to another, in UTF-16 units; `score`: how sure a model is, from 0 to 1. */
export type Part = readonly [from: number, to: number, score?: number]

/** One kind of thing that is looked for in texts. */
export type Detector = Named & (OfPieces | Searched)

export type Scanned = Named & OfPieces

type Named = {
  /** The name that `patterns` reports. */
  name: string
  engine: "regex" | "pii" | "secrets" | "prompt-injection"
  /** Replacement for redacted text. */
  label: string
}

/** Found in a text that comes in pieces as well. */
type OfPieces = {
  program: () => Program
  /** No match is longer, in UTF-16 units. */
  limit: number
  /** Selects the parts of a match to report; without it the whole match. `before`: the CONTEXT units before it. */
  refine?: (match: string, before: string) => readonly Part[]
  /** What every match that is not refused has one of. */
  signs?: Signs
  /** Replaces the program in texts without a literal, to find positions that no match crosses (stops.ts). */
  without?: { literal: string; program: () => Program }
  /** In such texts a match begins at most this many units before its first sign, but for a run without blanks. */
  lead?: number
}

/** Found in whole texts alone. */
type Searched = {
  search: (text: string, survey: Survey, meter: Meter) => readonly Part[]
}

/** How much of what precedes a match a detector sees, in UTF-16 units. */
export const CONTEXT = 32
