import { COST, type Meter } from "../content/meter.ts"
import { type Runs, runsOf } from "../prefilter/runs.ts"
import type { Survey } from "../prefilter/survey.ts"
import type { Part } from "./detector.ts"
import { LETTER_OF_DIGIT } from "./injection-letters.ts"
import { type Reading, readingsOf } from "./injection-readings.ts"
import { HIDDEN_SCORE, scoreInjections } from "./injection-model.ts"
import { type Sign, SIGNS } from "./injection-signs.ts"
import { fuzzyInjections, injectionsFrom, misspeltVerb } from "./injection-typos.ts"
import { numberOf, surveyChanged, surveyOf } from "./surveyor.ts"

/** The signs without spaces, for text with separated letters. */
const SQUEEZED =
  /(?:ignore|disregard|forget|override|bypass)(?:all|any|the|my|your|of|these|those){0,4}(?:previous|prior|above|earlier|preceding|system|safety|your)(?:system)?(?:instructions?|prompts?|rules|directives?|guidelines?|commands?)|(?:reveal|show|print|repeat|output|leak)(?:me)?(?:your|the)(?:hidden|secret|initial|full|entire|original){0,2}system(?:prompt|instructions?|message)|doanythingnow/i

const INVISIBLE = /[\u00ad\u200b-\u200f\u2060-\u2064\ufeff\u{e0000}-\u{e007f}]/gu
const LEET: Readonly<Record<string, string>> = { ...LETTER_OF_DIGIT, "@": "a", $: "s", "!": "i" }

/** Starts with the symbol, which is rarer than a letter. */
const LEET_IN_WORD = /[013457@$](?:(?=[a-z])|(?<=[a-z].))/i

/** Finds attempts to override the instructions of a model, plain or disguised. */
export function findInjections(text: string, survey: Survey, meter: Meter): Part[] {
  const { parts, readings } = read(text, survey, meter)
  return withModel(parts, { text, readings }, meter)
}

/** Matches of the patterns, without the model. */
export function findSigns(text: string, survey: Survey, meter: Meter): Part[] {
  return read(text, survey, meter).parts
}

function read(text: string, survey: Survey, meter: Meter): { parts: Part[]; readings: Reading[] } {
  const runs = runsIn(text, survey, meter)
  const readings = readingsOf(text, { survey, runs }, meter)
  return { parts: [...signsIn(text, { survey, runs }, meter), ...hidden(readings, meter)], readings }
}

/** The decoded text of disguised parts. */
export function hiddenTexts(text: string, survey: Survey, meter: Meter): Reading[] {
  return readingsOf(text, { survey, runs: runsIn(text, survey, meter) }, meter)
}

function runsIn(text: string, survey: Survey, meter: Meter): Runs | undefined {
  const runs = survey.places && !survey.hasPairs ? runsOf(text, survey.verbs, misspeltVerb) : undefined
  meter.spend(text.length * COST.runs + (runs?.verbs.length ?? 0) * COST.misspelt)
  return runs
}

function signsIn(text: string, { survey, runs }: { survey: Survey; runs: Runs | undefined }, meter: Meter): Part[] {
  const parts = plainly(text, survey, meter)
  // With surrogate pairs, or too many possible starts, the complete text is searched.
  if (!runs) meter.spend(text.length * COST.dearest)
  parts.push(...(runs ? runs.verbs.flatMap((from) => injectionsFrom(text, from)) : fuzzyInjections(text)))
  if (!survey.isAscii) meter.spend(text.length * COST.searched)
  const clean = cleaned(text, survey)
  if (clean !== text && parts.length === 0 && plainly(clean, paidSurvey(clean, meter), meter).length > 0) {
    parts.push([0, text.length])
  }
  if (parts.length === 0 && LEET_IN_WORD.test(text)) {
    meter.spend(text.length * COST.searched)
    const changed: number[] = []
    const plain = unleet(text, changed)
    parts.push(...plainly(plain, surveyChanged(survey, plain, changed), meter))
  }
  return parts
}

/** Disguised parts that have a sign after decoding. */
function hidden(readings: readonly Reading[], meter: Meter): Part[] {
  return readings.flatMap(({ text, whole }) => (isInjection(text, meter) ? [whole] : []))
}

type Texts = { text: string; readings: readonly Reading[] }

/** Adds matches of the model outside those of the patterns. */
function withModel(parts: readonly Part[], { text, readings }: Texts, meter: Meter): Part[] {
  const scored = scoreInjections(text, meter)
  const disguised = readings
    .map((one) => ({ ...scoreInjections(one.text, meter, HIDDEN_SCORE), whole: one.whole }))
    .filter((one) => one.parts.length > 0)
  const weighed = [...scored.parts, ...disguised.map(({ whole }) => whole)]
  const score = Math.max(scored.score, ...disguised.map((one) => one.score))
  const others = weighed.filter(([from, to]) => !parts.some((part) => part[0] < to && part[1] > from))
  return [...parts.map(([from, to]): Part => [from, to, score]), ...others.map(([from, to]): Part => [from, to, score])]
}

function paidSurvey(text: string, meter: Meter): Survey {
  meter.spend(text.length * COST.surveyed)
  return surveyOf(text)
}

function cleaned(text: string, { hasUnread, isAscii }: Survey): string {
  if (isAscii) return text
  return (hasUnread ? text.replaceAll(INVISIBLE, "") : text).normalize("NFKC")
}

function plainly(text: string, survey: Survey, meter: Meter): Part[] {
  const parts: Part[] = []
  const { groups, openers } = (known ??= numbered())
  const has = (literal: number) => survey.seen[literal] === 1
  const starts = SIGNS.map((_, sign): number[] | undefined =>
    groups[sign]?.every((group) => group.some(has)) ? [] : undefined,
  )
  const { places } = survey
  for (let at = 0; places && at < places.starts.length; at++) {
    for (const sign of openers[places.literals[at] ?? 0] ?? []) starts[sign]?.push(places.starts[at] ?? 0)
  }
  for (const [at, sign] of SIGNS.entries()) {
    const current = starts[at]
    if (!current) continue
    if (sign.openings && places) startingAt(sign, text, { starts: inOrder(current), meter, parts })
    else {
      meter.spend(text.length * COST.searched)
      for (const match of text.matchAll(sign.anywhere)) parts.push(partOf(match))
    }
  }
  return parts
}

/** Indexes of literals: the groups of each sign; `openers`: the signs that begin with each literal. */
type Numbered = { groups: readonly number[][][]; openers: readonly number[][] }

let known: Numbered | undefined

function numbered(): Numbered {
  const openers: number[][] = []
  for (const [sign, { openings }] of SIGNS.entries()) {
    for (const number of new Set(openings?.map(numberOf))) (openers[number] ??= []).push(sign)
  }
  return { groups: SIGNS.map(({ groups }) => groups.map((group) => group.map(numberOf))), openers }
}

/** Sorts starts: literals are found in the order of their ends. */
function inOrder(starts: number[]): number[] {
  return starts.sort((one, other) => one - other)
}

type SignSearch = {
  starts: readonly number[]
  meter: Meter
  parts: Part[]
}

/** Equivalent to a search of the complete text that continues after each match. */
function startingAt({ here }: Sign, text: string, { starts, meter, parts }: SignSearch): void {
  let from = 0
  meter.spend(starts.length * COST.attempt)
  for (const start of starts) {
    if (start < from) continue
    here.lastIndex = start
    const match = here.exec(text)
    if (!match) continue
    parts.push(partOf(match))
    from = here.lastIndex
  }
}

function partOf(match: RegExpExecArray): Part {
  return [match.index, match.index + match[0].length]
}

/** Replaces symbols by the letters they imitate, one by one, so that indexes stay the same. */
function unleet(text: string, changed: number[]): string {
  return text.replaceAll(/[013457@$!]/g, (sign, at: number) => {
    changed.push(at)
    return LEET[sign] ?? sign
  })
}

function isInjection(text: string, meter: Meter): boolean {
  return plainly(text, paidSurvey(text, meter), meter).length > 0 || SQUEEZED.test(text.replaceAll(/\W/g, ""))
}
