import type { Program } from "../content/program.ts"

/** From a unit of a text up to another, in UTF-16 units. */
export type Part = readonly [from: number, to: number]

/** One kind of thing that is looked for in texts. */
export type Detector = {
  /** As `patterns` tell it. */
  name: string
  engine: "regex" | "pii" | "secrets" | "prompt-injection"
  /** Stands in the place of what is redacted. */
  label: string
  /** What every text that has a match has; a cheap look before a long one. */
  hint?: RegExp
} & (Scanned | Searched)

/** Found in a text that comes in pieces as well. */
type Scanned = {
  program: () => Program
  /** No match is longer, in UTF-16 units. */
  limit: number
  /** The parts of a match that are what is looked for; absent where all of it is. `before`: what precedes it, CONTEXT units. */
  refine?: (match: string, before: string) => readonly Part[]
}

/** Found in whole texts alone. */
type Searched = {
  search: (text: string) => readonly Part[]
  /** What reading one character costs (meter.ts), in the dearest of texts. */
  unitsPerCharacter: number
}

/** How much of what precedes a match a detector sees, in UTF-16 units. */
export const CONTEXT = 32
