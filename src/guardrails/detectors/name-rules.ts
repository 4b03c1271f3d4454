import { FAMILY_NAMES } from "./family-names.ts"
import { GIVEN_NAMES } from "./given-names.ts"
import { fold, stemCyrillic } from "./name-folding.ts"
import { CALLS_PERSON, GIVEN_CYRILLIC, TITLES } from "./name-introductions.ts"
import {
  AMBIGUOUS_FAMILY,
  AMBIGUOUS_GIVEN,
  NO_PERSONS,
  NOT_BEFORE_NAMES,
  NOT_NAMES,
  WORD_FAMILY,
} from "./name-words.ts"

/** A word with its place in the match. `key`: folded, for the lists. */
export type Token = { word: string; key: string; from: number; to: number }

export type NameContext = {
  title: string
  /** A phrase such as "my name is", or a role such as "patient", directly before. */
  introduced: "phrase" | "role" | undefined
  before: string
}

const GIVEN = new Set(GIVEN_NAMES.map(fold))
const GIVEN_STEMS = new Set(GIVEN_CYRILLIC.map((name) => stemCyrillic(fold(name))))
const FAMILY = new Set(FAMILY_NAMES.map(fold))
/** Ends of family names of several countries. */
export const FAMILY_ENDS = "ski|ska|cki|cka|wicz|czyk|enko|opoulos|escu|oğlu|sson|nova|ovich".split("|")
const FAMILY_END = new RegExp(`\\p{L}{3}(?:${FAMILY_ENDS.map(fold).join("|")})$`, "u")
const IN_RUN_TITLES = new Set(TITLES.filter((title) => !/^(?:Me|MM?\.|Bay|Pan|Don|Ing|Miss)$/.test(title)))
const PARTICLES = new Set("van von de da di do dos das del della la le el al bin ibn ben ten ter af av du des der den".split(" "))

export function toToken(written: string, from: number): Token {
  const word = written.replace(/['’]s?$/u, "")
  return { word, key: fold(word).replace(/^[dol]['’]/, ""), from, to: from + word.length }
}

const isInitial = ({ word }: Token) => /^\p{Lu}\.?$/u.test(word)
const isWord = ({ word }: Token) => !/[0-9@_&]/.test(word) && /^\p{Lu}/u.test(word)
const isParticle = ({ word }: Token) => PARTICLES.has(word)
const isCyrillic = (key: string) => /^[\u0400-\u04ff]/.test(key)

function isGiven({ key }: Token): boolean {
  if (isCyrillic(key)) return GIVEN_STEMS.has(stemCyrillic(key))
  return GIVEN.has(key.split(/[-'’]/)[0] ?? "")
}
const isClearGiven = (token: Token) => isGiven(token) && !AMBIGUOUS_GIVEN.has(token.key)
const isFamily = ({ key }: Token) => FAMILY.has(key.split("-")[0] ?? "") || FAMILY_END.test(key) || /^(?:mc|o['’])\p{L}{3}/u.test(key)
const isClearFamily = (token: Token) => isFamily(token) && !AMBIGUOUS_FAMILY.has(token.key) && token.key.length > 3
const isStop = (token: Token) => !isWord(token) || NOT_NAMES.has(token.key)

/** The first name among capitalized words, as its first and last unit. */
export function nameAmong(tokens: readonly Token[], context: NameContext): [number, number] | undefined {
  if (tokens.some(({ word }) => word === "&") || isNoPerson(tokens, context)) return undefined
  const previous = context.title === "" && context.introduced === undefined ? wordsBefore(context.before) : []
  if (previous.some(({ key }) => NOT_BEFORE_NAMES.has(key)) || /\d $/.test(context.before)) return undefined
  const last = previous.at(-1)
  if (last && isWord(last) && (isGiven(last) || isFamily(last) || isInitial(last))) return undefined
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]
    if (!token || isParticle(token)) continue
    if (context.title === "" && NOT_BEFORE_NAMES.has(token.key)) return undefined
    const titledEnd = IN_RUN_TITLES.has(token.word) ? titledName(tokens, at + 1) : undefined
    const end = titledEnd ?? nameEnd(tokens, at, context)
    if (end !== undefined) return [token.from, tokens[end]?.to ?? token.to]
  }
  return undefined
}

/** The last word of the name after a title. */
function titledName(tokens: readonly Token[], at: number): number | undefined {
  const token = tokens[at]
  return token && isNameStart(token) ? lastWord(tokens, at) : undefined
}

/** "Van den Berg" is a name after a title, though "Van" is a word. */
const isNameStart = (token: Token) => !isStop(token) || (isWord(token) && PARTICLES.has(token.key))

/** Capitalized words right before a match, and the word before them. */
function wordsBefore(before: string): Token[] {
  const found = /(?:\S+ )?(?:\p{Lu}[\p{L}'’.-]* )*$/u.exec(before)?.[0] ?? ""
  return [...found.matchAll(/\S+/g)].map(([word], at) => toToken(word.replace(/\.$/, ""), at))
    .filter(({ word }, at, all) => at < all.length - 1 || /^[\p{L}'’.-]+$/u.test(word))
}

function isNoPerson(tokens: readonly Token[], { title }: NameContext): boolean {
  const keys = tokens.map(({ key }) => key)
  const titled = title === "" ? keys : [fold(title).replaceAll(".", ""), ...keys]
  return titled.some((_, at) => [2, 3].some((size) => NO_PERSONS.has(titled.slice(at, at + size).join("+"))))
}

/** Index of the last word of a name that begins at `at`. */
function nameEnd(tokens: readonly Token[], at: number, context: NameContext): number | undefined {
  const token = tokens[at]
  if (!token || !isWord(token)) return undefined
  const isFirst = at === 0
  const end = lastWord(tokens, at)
  if (isFirst && context.title !== "") return isNameStart(token) ? end : undefined
  if (isFirst && context.introduced === "phrase" && !isStop(token)) return end
  const next = tokens[at + 1]
  if (isInitial(token)) return end > at && tokens.slice(at, end + 1).some(isFamily) ? end : undefined
  if (isGiven(token)) return givenEnd(tokens, at, context)
  if (isStop(token)) return undefined
  if (isFirst && context.introduced === "role" && end > at && !tokens.slice(at, end + 1).some(isInitial)) return end
  if (next && (isClearFamily(next) || (isFamily(token) && isGiven(next))) && !isBusiness(tokens[at + 2])) return end
  return undefined
}

const isBusiness = (token: Token | undefined) => token !== undefined && NOT_NAMES.has(token.key)

function givenEnd(tokens: readonly Token[], at: number, context: NameContext): number | undefined {
  const token = tokens[at]
  if (!token) return undefined
  const isClear = isClearGiven(token)
  const isIntroduced = at === 0 && context.introduced !== undefined
  const next = tokens[at + 1]
  if (!next) {
    const isShouted = token.word.length > 1 && token.word === token.word.toUpperCase()
    const isCalled = isIntroduced || CALLS_PERSON.test(at === 0 ? context.before : `${tokens[at - 1]?.word ?? ""} `)
    return isCalled || (isClear && !isShouted) ? at : undefined
  }
  if (isClear && WORD_FAMILY.has(next.key)) return at + 1
  const end = lastWord(tokens, at)
  if (end === at) return isIntroduced && isClear ? at : undefined
  const others = tokens.slice(at + 1, end + 1)
  const isName = isClear || isIntroduced || others.some((one) => isFamily(one) || isClearGiven(one))
  return isName ? end : undefined
}

/** The last of the words that may belong to one name: no stop word, at most four. */
function lastWord(tokens: readonly Token[], at: number): number {
  let end = at
  for (let next = at + 1; next < tokens.length && next <= at + 5; next++) {
    const token = tokens[next]
    if (!token) break
    if (isParticle(token)) continue
    if (isStop(token)) break
    end = next
  }
  return end
}
