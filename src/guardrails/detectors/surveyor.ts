import { type Survey, Surveyor } from "../prefilter/survey.ts"
import { stopsOf } from "../prefilter/stops.ts"
import { windowsAround, windowsWithin } from "../prefilter/windows.ts"
import type { Span } from "../content/scanner.ts"
import type { Scanned } from "./detector.ts"
import { CUES } from "./injection-cues.ts"
import { SIGNS } from "./injection-signs.ts"
import { VERB_PARTS } from "./injection-typos.ts"
import { address, personName } from "./people.ts"
import { creditCard, email, iban, ipAddress, phone, ssn } from "./pii.ts"
import { secrets } from "./secrets.ts"

const SCANNED: readonly Scanned[] = [email, phone, ssn, creditCard, ipAddress, secrets, personName, address, iban]

let known: Surveyor | undefined

function surveyor(): Surveyor {
  known ??= new Surveyor(
    SCANNED.map(({ signs }) => signs ?? {}),
    SIGNS.flatMap(({ openings }) => openings ?? []),
    [
      ...SIGNS.flatMap(({ groups }) => groups.flat()),
      ...SCANNED.flatMap(({ without }) => without?.literal ?? []),
      ...Object.values(CUES).flat(),
    ],
    VERB_PARTS,
  )
  return known
}

/** Survey of the positions where built-in detectors may match. */
export function surveyOf(text: string): Survey {
  return surveyor().survey(text)
}

/** Updates a survey for a text with changes at some indexes, for `plainly` only. */
export function surveyChanged(survey: Survey, text: string, changed: readonly number[]): Survey {
  return surveyor().surveyChanged(survey, text, changed)
}

/** The stretches of a text that a built-in detector must read. */
export function windowsOf(detector: Scanned, text: string, survey: Survey): Span[] {
  const ranges = survey.marks[SCANNED.indexOf(detector)]
  if (!ranges) return [{ start: 0, end: text.length }]
  if (ranges.length === 0) return []
  const { lead, without } = detector
  const isWithout = without && survey.seen[numberOf(without.literal)] === 0
  // Skipped characters may lengthen any match.
  if (isWithout && lead && !survey.hasUnread) return windowsWithin(ranges, text, lead)
  return windowsAround(ranges, text, stopsOf(isWithout ? without.program() : detector.program()))
}

export function numberOf(literal: string): number {
  return surveyor().numberOf(literal)
}
