import { type PrefilterResult, Prefilter } from "../prefilter/prefilter.ts"
import { matchBoundariesOf } from "../prefilter/match-boundaries.ts"
import { windowsAround, windowsWithLead } from "../prefilter/windows.ts"
import type { Span } from "../content/patterns/nfa-scanner.ts"
import { COST, type WorkBudget } from "../content/work-budget.ts"
import { address } from "./address.ts"
import type { Detector, PatternDetector } from "./detector.ts"
import { ENCODING_HINTS } from "./injection/encodings.ts"
import { phrasePatterns } from "./injection/patterns.ts"
import { VERB_FRAGMENTS } from "./injection/typos.ts"
import { personName } from "./people/people.ts"
import { creditCard, email, iban, ipAddress, phone, ssn } from "./pii.ts"
import { secrets } from "./secrets/secrets.ts"

const PATTERN_DETECTORS: readonly PatternDetector[] = [email, phone, ssn, creditCard, ipAddress, secrets, address, iban]

/** The engines whose literals a prefilter has. An isolate spends 0.1 s on the tables of all, and little on those of PII. */
type Scope = "pii" | "patterns" | "all"
const prefilters: Partial<Record<Scope, Prefilter>> = {}
let namePrefilter: Prefilter | undefined

/** Names of persons are thousands of literals: only texts that are searched for them need their tables. */
const personPrefilter = (): Prefilter => (namePrefilter ??= new Prefilter([personName.triggers ?? {}], [], [], []))

const prefilterOf = (scope: Scope): Prefilter => (prefilters[scope] ??= buildPrefilter(scope))

function buildPrefilter(scope: Scope): Prefilter {
  const isIncluded = ({ engine }: PatternDetector) => scope !== "pii" || engine === "pii"
  const triggers = PATTERN_DETECTORS.map((detector) => (isIncluded(detector) ? (detector.triggers ?? {}) : {}))
  const reduced = PATTERN_DETECTORS.filter(isIncluded).flatMap((detector) => detector.reduced?.literal ?? [])
  if (scope !== "all") return new Prefilter(triggers, [], reduced)
  const phrases = phrasePatterns()
  return new Prefilter(
    triggers,
    phrases.flatMap(({ prefixes }) => prefixes ?? []),
    [...phrases.flatMap(({ groups }) => groups.flat()), ...reduced, ...Object.values(ENCODING_HINTS).flat()],
    VERB_FRAGMENTS,
  )
}

function scopeOf(detectors: readonly Pick<Detector, "engine">[]): Scope {
  if (detectors.some(({ engine }) => engine === "prompt-injection")) return "all"
  return detectors.some(({ engine }) => engine === "secrets") ? "patterns" : "pii"
}

/** Positions where these detectors may match, except for names of persons. */
export function prefilterText(text: string, detectors: readonly Pick<Detector, "engine">[]): PrefilterResult {
  return prefilterOf(scopeOf(detectors)).scan(text)
}

/** Positions where any built-in detector may match, except for names of persons. */
export const prefilterForAll = (text: string): PrefilterResult => prefilterOf("all").scan(text)

/** Whether a part of a text may contain an accepted match of a built-in detector; undefined for other detectors. */
export function triggerCheck(detector: PatternDetector): ((text: string) => boolean) | undefined {
  if (detector === personName) return (text) => personPrefilter().hasCandidate(text, 0)
  const owner = PATTERN_DETECTORS.indexOf(detector)
  const scope = scopeOf([detector])
  return owner === -1 ? undefined : (text) => prefilterOf(scope).hasCandidate(text, owner)
}

/** Updates a result of `prefilterForAll` for a text with changes at some indexes, without candidates. */
export function rescanText(prefilter: PrefilterResult, text: string, changed: readonly number[]): PrefilterResult {
  return prefilterOf("all").rescan(prefilter, text, changed)
}

/** Ranges with a trigger of a built-in detector; undefined for other detectors. */
export function candidateRanges(
  detector: PatternDetector,
  text: string,
  { candidates }: PrefilterResult,
  budget: WorkBudget,
): readonly number[] | undefined {
  if (detector !== personName) return candidates[PATTERN_DETECTORS.indexOf(detector)]
  budget.spend(text.length * COST.prefilterCharacter)
  return personPrefilter().scan(text).candidates[0]
}

export type Candidates = { ranges: readonly number[] | undefined; prefilter: PrefilterResult }

/** The windows of a text that a built-in detector must read. */
export function candidateWindows(detector: PatternDetector, text: string, { ranges, prefilter }: Candidates): Span[] {
  if (!ranges) return [{ start: 0, end: text.length }]
  if (ranges.length === 0) return []
  const { maxLead, reduced } = detector
  const hasNoLiteral = reduced && !hasLiteral(prefilter, reduced.literal)
  const isLeadValid = reduced === undefined || hasNoLiteral
  // Ignored characters may lengthen any match.
  if (isLeadValid && maxLead && !prefilter.hasIgnored) return windowsWithLead(ranges, text, maxLead)
  return windowsAround(ranges, text, matchBoundariesOf(hasNoLiteral ? reduced.program() : detector.program()))
}

/**
 * The regions, in order, that contain a trigger: no accepted match is without one. `cursor.range`: the first range to
 * compare, kept between calls.
 */
export function regionsWithTrigger(
  regions: readonly Span[],
  ranges: readonly number[] | undefined,
  cursor: { range: number },
): Span[] {
  if (!ranges) return [...regions]
  return regions.filter(({ start, end }) => {
    while (cursor.range < ranges.length && (ranges[cursor.range + 1] ?? 0) < start) cursor.range += 2
    return (ranges[cursor.range] ?? Number.POSITIVE_INFINITY) < end
  })
}

/** Index of a literal in a result of `prefilterForAll`. */
export function literalIndex(literal: string): number {
  return prefilterOf("all").literalIndex(literal)
}

export function hasLiteral({ present, indexes }: PrefilterResult, literal: string): boolean {
  return present[indexes.get(literal) ?? -1] === 1
}
