/** Parts of the patterns of postal addresses, in RE2 syntax. */
import type { Literal } from "../prefilter/aho-corasick.ts"
import { CAPITAL, LETTERS } from "./letters.ts"

/**
 * `tail`: what may follow; patterns with the same tail share its steps. Every match contains one of the literals.
 */
export type Pattern = { source: string; tail?: string; literals: readonly Literal[] }

export const anyOf = (alternatives: readonly string[]) =>
  `(?:${alternatives.map((word) => word.replaceAll(".", "\\.")).join("|")})`
export const split = (list: string) => list.split("|")
export const plain = (texts: readonly string[]): Literal[] => texts.map((text) => ({ text }))
export const atStart = (texts: readonly string[]): Literal[] => texts.map((text) => ({ text, wordStart: true }))

export const WORD = `${CAPITAL}[${LETTERS}'’-]*`
export const CITY = `${WORD}(?:[ -](?:(?:am|im|an der|in der|d[aeo]l?|l[ae]s?|sur|en|on|upon)[ -])?${WORD}){0,3}`
/** Also with the code of the country: `D-10115`. */
export const POSTCODE = `(?:[A-Z]{1,2}-)?(?:\\d{4} ?[A-Z]{2}\\b|\\d{3} \\d{2}|\\d{3,6}|\\d{2}-\\d{3}|\\d{4,5}-\\d{3}|[A-Z]\\d{4}(?:[A-Z]{3})?)`
/** Postal code and city. */
export const PLACE = `${POSTCODE},? ${CITY}(?: \\d{1,2}\\b)?(?: \\([A-Z]{2}\\))?`
/** Between the street and the city. */
export const SEPARATOR = "(?:,? | ?[-–] |,?\\n)"
export const TAIL = `(?:${SEPARATOR}${PLACE}|, ${CITY}(?:,? ${POSTCODE}\\b)?)?`
export const HOUSE_NUMBER =
  "\\d{1,4}(?: ?[a-zA-Z]\\b(?: \\d{1,3}\\b)?)?(?:[-/](?:\\d{1,4}|[A-Za-z]\\b)){0,3}(?:,? (?:bus|bte|boîte|app|apt|Top|Stg|lok|kv|lgh)\\.? ?\\d{1,4})?(?:, (?:(?:st|\\d{1,2})\\.? ?(?:th|tv|mf|OG|Stock|Etage)\\b\\.?|EG|DG|Hinterhaus))?"
