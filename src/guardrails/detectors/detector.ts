import type { Meter } from "../content/meter.ts"
import type { Program } from "../content/program.ts"
import type { Signs, Survey } from "../prefilter/survey.ts"

/** From a unit of a text up to another, in UTF-16 units. */
export type Part = readonly [from: number, to: number]

/** One kind of thing that is looked for in texts. */
export type Detector = Named & (OfPieces | Searched)

export type Scanned = Named & OfPieces

type Named = {
  /** The name that `patterns` reports. */
  name: string
  engine: "regex" | "pii" | "secrets" | "prompt-injection"
  /** Stands in the place of what is redacted. */
  label: string
}

/** Found in a text that comes in pieces as well. */
type OfPieces = {
  program: () => Program
  /** No match is longer, in UTF-16 units. */
  limit: number
  /**
   * The parts of a match that are what is looked for; absent where all of it is. `before`: what precedes it, CONTEXT
   * units.
   */
  refine?: (match: string, before: string) => readonly Part[]
  /** What every match that is not refused has one of. */
  signs?: Signs
  /** Replaces the program in texts without a literal, to find positions that no match crosses (stops.ts). */
  without?: { literal: string; program: () => Program }
}

/** Found in whole texts alone. */
type Searched = {
  search: (text: string, survey: Survey, meter: Meter) => readonly Part[]
}

/** How much of what precedes a match a detector sees, in UTF-16 units. */
export const CONTEXT = 32
