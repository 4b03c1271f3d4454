import { FAMILY_NAMES as FREQUENT_FAMILY_NAMES } from "./family-names.ts"
import { GIVEN_NAMES as FREQUENT_GIVEN_NAMES } from "./given-names.ts"
import { MORE_FAMILY_NAMES, MORE_GIVEN_NAMES } from "./more-given-names.ts"
import { RARER_FAMILY_NAMES, RARER_GIVEN_NAMES } from "./rarer-names.ts"
import { fold, stemCyrillic } from "./name-folding.ts"
import { CALLS_PERSON, GIVEN_CYRILLIC, TITLES } from "./name-introductions.ts"
import { NAMED_PRODUCTS, NO_PERSONS, NOT_BEFORE_NAMES, NOT_NAMES, WORD_FAMILY } from "./name-lexicon.ts"

/**
 * A word with its place in the match. `lower` is looked up in the lists of names, whose forms are also the literals of
 * the prefilter; `key`, without accents, in the others.
 */
export type Token = { word: string; lower: string; key: string; from: number; to: number }

export type NameContext = {
  title: string
  /** A phrase such as "my name is", or a role such as "patient", directly before. */
  introduced: "phrase" | "role" | undefined
  before: string
}

const GIVEN_NAMES = [...FREQUENT_GIVEN_NAMES, ...MORE_GIVEN_NAMES, ...RARER_GIVEN_NAMES]
const FAMILY_NAMES = [...FREQUENT_FAMILY_NAMES, ...MORE_FAMILY_NAMES, ...RARER_FAMILY_NAMES]
const isMarked = (name: string) => /[~!]$/.test(name)
const isWordOrPlace = (name: string) => name.endsWith("!")
const withFolded = (names: readonly string[]) =>
  names.map((name) => name.replace(/[~!]/, "")).flatMap((name) => [name, fold(name)])

export const NAME_FORMS: readonly string[] = [...new Set(withFolded([...GIVEN_NAMES, ...FAMILY_NAMES]))]
const GIVEN = new Set(withFolded(GIVEN_NAMES))
const GIVEN_STEMS = new Set(GIVEN_CYRILLIC.map(stemCyrillic))
const FAMILY = new Set(withFolded(FAMILY_NAMES))
const AMBIGUOUS_GIVEN = new Set(withFolded(GIVEN_NAMES.filter(isMarked)))
const GIVEN_PLACES = new Set(withFolded(GIVEN_NAMES.filter(isWordOrPlace)))
const AMBIGUOUS_FAMILY = new Set(withFolded(FAMILY_NAMES.filter(isMarked)))
/** Ends of family names of several countries. */
export const FAMILY_ENDS = (
  "ski|ska|cki|cka|wicz|czyk|enko|opoulos|escu|oğlu|oglu|sson|nova|ovich|ová|qvist|ström|ević|ović|dóttir|shvili|енко|ченко|" +
  "auskas|avičius|evičius|ienė|aitė|adze|idze|zadeh|nejad|singhe|murthy|krishnan|swamy|chuk|czuk|dottir|opulos|idis|eanu|evski|ovski|osyan|етян|швили"
).split("|")
const FAMILY_END = new RegExp(`\\p{L}{3}(?:${FAMILY_ENDS.join("|")})$`, "u")
const IN_RUN_TITLES = new Set(TITLES.filter((title) => !/^(?:MM?\.|Bay|Pan|Don|Miss)$/.test(title)))
const PARTICLES = new Set(
  "van von de da di do dos das del della la le el al bin ibn ben ten ter af av du des der den dem".split(" "),
)

export const FAMILY_PARTICLES: readonly string[] = ["van der", "van den"]
const KOREAN = /^\p{Lu}\p{Ll}{1,5}-\p{Ll}{2,5}$/u
/** Family names that come first, so frequent that any word after them is a given name. */
const VIETNAMESE = new Set("nguyen tran pham hoang huynh".split(" "))
/** The same for names that are other words without their accents. */
export const VIETNAMESE_FAMILY =
  "lê đặng vũ võ đỗ bùi ngô dương lý phan trương đinh nguyễn trần phạm hoàng huỳnh đoàn trịnh lưu phùng".split(" ")

/** Words before the name of a street or a district. */
const VIETNAMESE_STREET = /(?:đường|phố|phường|quận|xã|huyện|ngõ|chợ) $/iu

/** Brands that look like the possessive of a name. */
const BRAND = /^(?:Wendy|Denny|Macy|Levi|Christie|Lowe|Kohl)['’]s$/

export function toToken(written: string, from: number): Token {
  const word = written.replace(/['’]s?$/u, "")
  const lower = (BRAND.test(written) ? written : word).toLowerCase().replace(/^[dol]['’]/, "")
  return { word, lower, key: fold(lower), from, to: from + word.length }
}

const isInitial = ({ word }: Token) => /^(?:\p{Lu}\.){1,2}$|^\p{Lu}$/u.test(word)
/** Two initials that are a country or a place. */
const OTHER_INITIALS = new Set("us uk eu un dc bc ad po ps nb".split(" "))

const CYRILLIC_FAMILY = /(?:[оеё]ва?|[иы]на?|[сц]к(?:ий|ая)|ко|[уюя]к|ич|[иы]х|ман|ян|дзе|швили|ец)$/

/** Index of the second initial after a family name. */
function initialsAfter(tokens: readonly Token[], at: number): number | undefined {
  if (!CYRILLIC_FAMILY.test(tokens[at]?.lower ?? "")) return undefined
  const [next, second] = [tokens[at + 1], tokens[at + 2]]
  if (next && /^\p{Lu}\.\p{Lu}\.$/u.test(next.word)) return at + 1
  return second && isInitial(second) ? at + 2 : undefined
}

/** "J. R. Hollister", whose family name may be any. */
function initialsEnd(tokens: readonly Token[], at: number): number | undefined {
  const next = tokens.findIndex((token, index) => index >= at && !isInitial(token))
  const family = tokens[next]
  const initials = tokens.slice(at, next).map(({ word }) => word.replaceAll(".", ""))
  const letters = initials.join("").toLowerCase()
  const hasName = next > at && family !== undefined && !isStop(family) && family.word.length > 2
  return hasName && letters.length === 2 && !OTHER_INITIALS.has(letters) ? next : undefined
}
const isWord = ({ word }: Token) => !/[0-9@#_&]/.test(word) && /^(?:(?:al|el|ar|as|an|ad|ul|bin)-)?\p{Lu}/u.test(word)
const isParticle = ({ word }: Token) => PARTICLES.has(word)
const isCyrillic = (word: string) => /^[\u0400-\u04ff]/.test(word)

function isGiven({ lower }: Token): boolean {
  if (isCyrillic(lower)) return GIVEN.has(lower) || GIVEN_STEMS.has(stemCyrillic(lower))
  return GIVEN.has(lower.split(/-|['’](?!s$)/)[0] ?? "")
}
const isClearGiven = (token: Token) => isGiven(token) && !AMBIGUOUS_GIVEN.has(token.key)

function isFamily({ lower }: Token): boolean {
  return FAMILY.has(lower.split("-")[0] ?? "") || FAMILY_END.test(lower) || /^mc\p{L}{3}/u.test(lower)
}
const isClearFamily = (token: Token) => isFamily(token) && !AMBIGUOUS_FAMILY.has(token.key) && token.key.length > 3
/** As in "Henriette Le Goff". */
const CAPITAL_PARTICLES = new Set("Ó Ní Nic Mac Le La De Van Von Di Del Della Da Dos Du El Al Ben Ter Ten".split(" "))
/** "Hermann-Löns-Str" is a street. */
const NAMED_AFTER = /-(?:str|straße|strasse|platz|weg|allee|ring|gasse|schule|haus|stiftung|institut|preis)$/
/** An inflected abbreviation: "Pani SMS-em wyśle kod". */
const ABBREVIATION = /^\p{Lu}{2,4}-\p{Ll}/u
const isStop = (token: Token) =>
  !isWord(token) || NOT_NAMES.has(token.key) || NAMED_AFTER.test(token.lower) || ABBREVIATION.test(token.word)

/** The first name among capitalized words, as its first and last unit. */
export function nameAmong(tokens: readonly Token[], context: NameContext): [number, number] | undefined {
  if (tokens.some(({ word }) => word === "&") || isNoPerson(tokens, context)) return undefined
  const previous = context.title === "" && context.introduced === undefined ? tokensBefore(context.before) : []
  if (previous.some(({ key }) => NOT_BEFORE_NAMES.has(key)) || /\d $/.test(context.before)) return undefined
  const last = previous.at(-1)
  if (last && isWord(last) && (isGiven(last) || isFamily(last) || isInitial(last))) return undefined
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]
    if (!token || isParticle(token)) continue
    if (context.title === "" && NOT_BEFORE_NAMES.has(token.key)) return undefined
    const titledEnd = IN_RUN_TITLES.has(token.word) ? titledName(tokens, at + 1) : undefined
    const end = titledEnd ?? nameEnd(tokens, at, context)
    const isTitled = context.title !== "" && tokens.slice(0, at).every(isParticle)
    if (end !== undefined) return [(isTitled ? tokens[0] : token)?.from ?? token.from, tokens[end]?.to ?? token.to]
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
function tokensBefore(before: string): Token[] {
  const found = /(?:\S+ )?(?:\p{Lu}[\p{L}'’.-]* )*$/u.exec(before)?.[0] ?? ""
  return [...found.matchAll(/\S+/g)]
    .map(([word], at) => toToken(word.replace(/\.$/, ""), at))
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
  // "Mevrouw de Vries": the particle belongs to the name.
  const isFirst = at === 0 || (context.title !== "" && tokens.slice(0, at).every(isParticle))
  const end = lastWord(tokens, at)
  if (isFirst && context.title !== "") return isNameStart(token) ? end : undefined
  if (isFirst && context.introduced === "phrase" && !isStop(token)) return end
  const next = tokens[at + 1]
  if (isInitial(token)) return end > at && tokens.slice(at, end + 1).some(isFamily) ? end : initialsEnd(tokens, at)
  const isVietnamese = VIETNAMESE_FAMILY.includes(token.lower) || (isFamily(token) && VIETNAMESE.has(token.key))
  if (next && isWord(next) && isVietnamese && !VIETNAMESE_STREET.test(context.before)) return vietnameseEnd(tokens, at)
  if (isStop(token)) return undefined
  // "Иванов И. И."
  const withInitials = isCyrillic(token.lower) && next && isInitial(next) ? initialsAfter(tokens, at) : undefined
  if (withInitials !== undefined) return withInitials
  // "Соколова Дарья Игоревна".
  if (next && isCyrillic(token.lower) && CYRILLIC_FAMILY.test(token.lower) && isGiven(next) && !isGiven(token))
    return end
  if (isGiven(token)) return givenEnd(tokens, at, context)
  if (isClearFamily(token) && end === at) return callsPerson(tokens, at, context) ? at : undefined
  if (isFirst && context.introduced === "role" && end > at && !tokens.slice(at, end + 1).some(isInitial)) return end
  if (next && KOREAN.test(token.word) && isFamily(next)) return end
  if (next && hasFamilyParticles(tokens, at + 1)) return end
  if (next && (isClearFamily(next) || (isFamily(token) && isGiven(next))) && !isBusiness(tokens[at + 2])) return end
  return undefined
}

/** "Hargrove, Linda", as in lists that are sorted by family name. */
export function areFamilyAndGiven(
  [family, ...more]: readonly Token[],
  given: readonly Token[],
  isLabelled: boolean,
): boolean {
  const [first, second] = given
  if (!family || !first || more.length > 0 || isStop(family) || isStop(first)) return false
  if (second && !isGiven(second) && !isInitial(second)) return false
  return (isLabelled || isClearFamily(family)) && isGiven(first) && !isGiven(family)
}

/** Two to four words, none of which is known as another word. */
export function areAllNames(tokens: readonly Token[]): boolean {
  const isName = (token: Token) => isParticle(token) || isInitial(token) || !isStop(token)
  return tokens.length >= 2 && tokens.length <= 4 && tokens.every(isName)
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
    const isCalled = isIntroduced || callsPerson(tokens, at, context)
    if (NAMED_PRODUCTS.has(token.key) && !isIntroduced) return undefined
    return isCalled || (isClear && !isShouted) ? at : undefined
  }
  if (isClear && WORD_FAMILY.has(next.key)) return at + 1
  const end = lastWord(tokens, at)
  if (end === at) return isIntroduced && isClear ? at : undefined
  const others = tokens.slice(at + 1, end + 1)
  const isName =
    !GIVEN_PLACES.has(token.key) || isIntroduced || others.some((one) => isFamily(one) || isClearGiven(one))
  return isName ? end : undefined
}

/** "Noortje van der Flaas": these particles occur in names only. */
function hasFamilyParticles(tokens: readonly Token[], at: number): boolean {
  const pair = `${tokens[at]?.word ?? ""} ${tokens[at + 1]?.word ?? ""}`
  const family = tokens[at + 2]
  return FAMILY_PARTICLES.includes(pair) && family !== undefined && !isStop(family)
}

function vietnameseEnd(tokens: readonly Token[], at: number): number {
  const after = tokens.findIndex((token, index) => index > at && !isWord(token))
  return Math.min(after === -1 ? tokens.length - 1 : after - 1, at + 3)
}

function callsPerson(tokens: readonly Token[], at: number, { before }: NameContext): boolean {
  return CALLS_PERSON.test(at === 0 ? before : `${tokens[at - 1]?.word ?? ""} `)
}

/** The last of the words that may belong to one name: no stop word, at most four. */
function lastWord(tokens: readonly Token[], at: number): number {
  let end = at
  for (let next = at + 1; next < tokens.length && next <= at + 5; next++) {
    const token = tokens[next]
    if (!token) break
    const isCapitalParticle = CAPITAL_PARTICLES.has(token.word) && tokens[next + 1] !== undefined
    if (isParticle(token) || isCapitalParticle) continue
    if (isStop(token)) break
    end = next
  }
  return end
}
