import { COST, type WorkBudget } from "../../content/work-budget.ts"
import { type ObfuscationCandidates, obfuscationCandidates } from "../../prefilter/obfuscation.ts"
import type { PrefilterResult } from "../../prefilter/prefilter.ts"
import type { MatchRange } from "../detector.ts"
import { LEET_DIGITS } from "./characters.ts"
import { type DecodedText, decodeObfuscated } from "./decoding.ts"
import { DECODED_BONUS, scoreInjections } from "./model.ts"
import { type PhrasePattern, phrasePatterns } from "./patterns.ts"
import { findMisspelled, findMisspelledAt, possibleVerbStart } from "./typos.ts"
import { elementAt } from "../../../support/arrays.ts"
import { literalIndex, prefilterForAll, rescanText } from "../detector-prefilter.ts"

/** Phrases without spaces, for text with separated letters. */
const WITHOUT_SPACES =
  /(?:ignore|disregard|forget|override|bypass)(?:all|any|the|my|your|of|these|those){0,4}(?:previous|prior|above|earlier|preceding|system|safety|your)(?:system)?(?:instructions?|prompts?|rules|directives?|guidelines?|commands?)|(?:reveal|show|print|repeat|output|leak)(?:me)?(?:your|the)(?:hidden|secret|initial|full|entire|original){0,2}system(?:prompt|instructions?|message)|doanythingnow/i

const INVISIBLE = /[\u00ad\u200b-\u200f\u2060-\u2064\ufeff\u{e0000}-\u{e007f}]/gu
const LEET_LETTERS: Readonly<Record<string, string>> = { ...LEET_DIGITS, "@": "a", $: "s", "!": "i" }

/** Starts with the symbol, which is rarer than a letter. */
const LEET_IN_WORD = /[013457@$](?:(?=[a-z])|(?<=[a-z].))/i

/** Finds attempts to override the instructions of a model, plain or obfuscated. */
export function findInjections(text: string, prefilter: PrefilterResult, budget: WorkBudget): MatchRange[] {
  const { parts, decoded } = scanText(text, prefilter, budget)
  return withModel(parts, { text, decoded }, budget)
}

/** Matches of the patterns, without the model. */
export function findPhrases(text: string, prefilter: PrefilterResult, budget: WorkBudget): MatchRange[] {
  return scanText(text, prefilter, budget).parts
}

function scanText(
  text: string,
  prefilter: PrefilterResult,
  budget: WorkBudget,
): { parts: MatchRange[]; decoded: DecodedText[] } {
  const obfuscation = obfuscationIn(text, prefilter, budget)
  const decoded = decodeObfuscated(text, { prefilter, obfuscation }, budget)
  return { parts: [...findPlain(text, { prefilter, obfuscation }, budget), ...findDecoded(decoded, budget)], decoded }
}

/** The decoded text of obfuscated parts. */
export function decodedTexts(text: string, prefilter: PrefilterResult, budget: WorkBudget): DecodedText[] {
  return decodeObfuscated(text, { prefilter, obfuscation: obfuscationIn(text, prefilter, budget) }, budget)
}

function obfuscationIn(
  text: string,
  prefilter: PrefilterResult,
  budget: WorkBudget,
): ObfuscationCandidates | undefined {
  const candidates =
    prefilter.literalHits && !prefilter.hasAstralLetters
      ? obfuscationCandidates(text, prefilter.verbEnds, possibleVerbStart)
      : undefined
  budget.spend(text.length * COST.obfuscationCharacter + (candidates?.verbStarts.length ?? 0) * COST.misspelledWord)
  return candidates
}

function findPlain(
  text: string,
  { prefilter, obfuscation }: { prefilter: PrefilterResult; obfuscation: ObfuscationCandidates | undefined },
  budget: WorkBudget,
): MatchRange[] {
  const parts = matchPhrases(text, prefilter, budget)
  // With surrogate pairs, or too many possible starts, the complete text is searched.
  if (!obfuscation) budget.spend(text.length * COST.allPhrasesCharacter)
  parts.push(
    ...(obfuscation ? obfuscation.verbStarts.flatMap((from) => findMisspelledAt(text, from)) : findMisspelled(text)),
  )
  if (!prefilter.isAscii) budget.spend(text.length * COST.regexCharacter)
  const clean = normalizeText(text, prefilter)
  if (clean !== text && parts.length === 0 && matchPhrases(clean, chargePrefilter(clean, budget), budget).length > 0) {
    parts.push([0, text.length])
  }
  if (parts.length === 0 && LEET_IN_WORD.test(text)) {
    budget.spend(text.length * COST.regexCharacter)
    const changed: number[] = []
    const unleeted = unleet(text, changed)
    parts.push(...matchPhrases(unleeted, rescanText(prefilter, unleeted, changed), budget))
  }
  return parts
}

/** Obfuscated parts that match a phrase after decoding. */
function findDecoded(decoded: readonly DecodedText[], budget: WorkBudget): MatchRange[] {
  return decoded.flatMap(({ text, range }) => (isInjection(text, budget) ? [range] : []))
}

type ScannedTexts = { text: string; decoded: readonly DecodedText[] }

/** Adds matches of the model outside those of the patterns. */
function withModel(
  parts: readonly MatchRange[],
  { text, decoded: decodedTexts }: ScannedTexts,
  budget: WorkBudget,
): MatchRange[] {
  const scored = scoreInjections(text, budget)
  const decodedMatches = decodedTexts
    .map((decoded) => ({ ...scoreInjections(decoded.text, budget, DECODED_BONUS), range: decoded.range }))
    .filter((decoded) => decoded.parts.length > 0)
  const modelMatches = [...scored.parts, ...decodedMatches.map(({ range }) => range)]
  const score = Math.max(scored.score, ...decodedMatches.map((decoded) => decoded.score))
  const others = modelMatches.filter(([from, to]) => !parts.some((part) => part[0] < to && part[1] > from))
  return [
    ...parts.map(([from, to]): MatchRange => [from, to, score]),
    ...others.map(([from, to]): MatchRange => [from, to, score]),
  ]
}

function chargePrefilter(text: string, budget: WorkBudget): PrefilterResult {
  budget.spend(text.length * COST.prefilterCharacter)
  return prefilterForAll(text)
}

function normalizeText(text: string, { hasIgnored, isAscii }: PrefilterResult): string {
  if (isAscii) return text
  return (hasIgnored ? text.replaceAll(INVISIBLE, "") : text).normalize("NFKC")
}

function matchPhrases(text: string, prefilter: PrefilterResult, budget: WorkBudget): MatchRange[] {
  const parts: MatchRange[] = []
  const index = (phraseIndex ??= buildPhraseIndex())
  const missing = missingGroups(prefilter, index)
  const startsByPhrase = new Map<number, number[]>()
  for (let phrase = missing.indexOf(0); phrase !== -1; phrase = missing.indexOf(0, phrase + 1))
    startsByPhrase.set(phrase, [])
  if (startsByPhrase.size === 0) return parts
  const { literalHits } = prefilter
  for (let at = 0; literalHits && at < literalHits.starts.length; at++) {
    for (const phrase of index.phrasesByPrefix[literalHits.literals[at] ?? 0] ?? [])
      startsByPhrase.get(phrase)?.push(literalHits.starts[at] ?? 0)
  }
  for (const [at, phraseStarts] of startsByPhrase) {
    const phrase = elementAt(phrasePatterns(), at)
    if (phrase.prefixes && literalHits)
      matchAtStarts(phrase, text, { startsByPhrase: sortStarts(phraseStarts), budget, parts })
    else {
      budget.spend(text.length * COST.regexCharacter)
      for (const match of text.matchAll(phrase.search)) parts.push(partOf(match))
    }
  }
  return parts
}

/** For each phrase, the number of its groups of which the text has no literal. */
function missingGroups(
  { present }: PrefilterResult,
  { groupsByLiteral, phraseOfGroup, counts }: PhraseIndex,
): Uint8Array {
  const missing = counts.slice()
  const found = new Uint8Array(phraseOfGroup.length)
  for (let literal = present.indexOf(1); literal !== -1; literal = present.indexOf(1, literal + 1)) {
    for (const group of groupsByLiteral[literal] ?? []) {
      if (found[group] === 1) continue
      found[group] = 1
      const phrase = phraseOfGroup[group] ?? 0
      missing[phrase] = (missing[phrase] ?? 0) - 1
    }
  }
  return missing
}

type PhraseIndex = {
  /** The groups of required literals that contain each literal, numbered over all phrases. */
  groupsByLiteral: readonly number[][]
  phraseOfGroup: readonly number[]
  /** The number of groups of each phrase. */
  counts: Uint8Array
  /** The phrases that begin with each literal. */
  phrasesByPrefix: readonly number[][]
}

let phraseIndex: PhraseIndex | undefined

function buildPhraseIndex(): PhraseIndex {
  const phrasesByPrefix: number[][] = []
  for (const [phrase, { prefixes }] of phrasePatterns().entries()) {
    for (const index of new Set(prefixes?.map(literalIndex))) (phrasesByPrefix[index] ??= []).push(phrase)
  }
  const groupsByLiteral: number[][] = []
  const phraseOfGroup: number[] = []
  for (const [phrase, { groups }] of phrasePatterns().entries()) {
    for (const group of groups) {
      const number = phraseOfGroup.push(phrase) - 1
      for (const literal of new Set(group.map(literalIndex))) (groupsByLiteral[literal] ??= []).push(number)
    }
  }
  const counts = Uint8Array.from(phrasePatterns(), ({ groups }) => groups.length)
  return { groupsByLiteral, phraseOfGroup, counts, phrasesByPrefix }
}

/** Sorts starts: literals are found in the order of their ends. */
function sortStarts(starts: number[]): number[] {
  return starts.sort((one, other) => one - other)
}

type PhraseSearch = {
  startsByPhrase: readonly number[]
  budget: WorkBudget
  parts: MatchRange[]
}

/** Equivalent to a search of the complete text that continues after each match. */
function matchAtStarts(
  { sticky: pattern }: PhrasePattern,
  text: string,
  { startsByPhrase: starts, budget, parts }: PhraseSearch,
): void {
  let minStart = 0
  budget.spend(starts.length * COST.phraseAttempt)
  for (const start of starts) {
    if (start < minStart) continue
    pattern.lastIndex = start
    const match = pattern.exec(text)
    if (!match) continue
    parts.push(partOf(match))
    minStart = pattern.lastIndex
  }
}

function partOf(match: RegExpExecArray): MatchRange {
  return [match.index, match.index + match[0].length]
}

/** Replaces symbols by the letters they imitate, one by one, so that indexes stay the same. */
function unleet(text: string, changed: number[]): string {
  return text.replaceAll(/[013457@$!]/g, (symbol, at: number) => {
    changed.push(at)
    return LEET_LETTERS[symbol] ?? symbol
  })
}

function isInjection(text: string, budget: WorkBudget): boolean {
  return (
    matchPhrases(text, chargePrefilter(text, budget), budget).length > 0 ||
    WITHOUT_SPACES.test(text.replaceAll(/\W/g, ""))
  )
}
