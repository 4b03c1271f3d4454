import type { Literal } from "../../prefilter/aho-corasick.ts"
import { CONTEXT, type MatchRange, type PatternDetector } from "../detector.ts"
import { lazyProgram } from "../../content/patterns/program.ts"
import { CAPITAL, LETTERS } from "../letters.ts"
import { hanName, HAN_SOURCES, HAN_LITERALS } from "./han-names.ts"
import { isScriptName, SCRIPT_LITERALS, SCRIPT_SOURCES, scriptName } from "./script-names.ts"
import {
  areAllNames,
  areFamilyAndGiven,
  FAMILY_ENDS,
  FAMILY_PARTICLES,
  NAME_FORMS,
  nameAmong,
  type NameContext,
  toToken,
  type Token,
  VIETNAMESE_FAMILY,
} from "./name-rules.ts"
import {
  ARABIC_ROLES,
  CLOSINGS,
  GIVEN_ARABIC,
  GIVEN_CYRILLIC,
  KEYS,
  LABELS,
  PHRASES,
  ROLES,
  SMALL_TITLES,
  TITLES,
} from "./name-introductions.ts"
import { stemCyrillic } from "./name-folding.ts"

/** RE2's word boundary is between ASCII characters: it cannot precede other letters. */
const atWordStart = (texts: readonly string[]) =>
  `(?:\\b${anyOf(texts.filter((text) => /^[a-z]/i.test(text)))}|${anyOf(texts.filter((text) => !/^[a-z]/i.test(text)))})`
const anyOf = (texts: readonly string[]) =>
  `(?:${[...new Set(texts)]
    .toSorted((one, other) => (`${one}\uffff` < `${other}\uffff` ? -1 : 1))
    .map((text) => text.replaceAll(/[.+*?()|[\]{}]/g, "\\$&"))
    .join("|")})`

/** Digits and some symbols are included, so that a part of an identifier is not taken for a word. */
const WORD = `(?:(?:${CAPITAL}\\.){1,2}|${CAPITAL}[${LETTERS}0-9'’@#_-]*)`
/** Few alternatives, since the NFA follows all of them after every word of a name. */
const PARTICLE =
  "(?:&|y|bin|ibn|ben|te[nr]|a[fv]|[dv][aiou]n?|v[ao]n de[rn]|von dem|d[eo]s?|das|de[lnr]|della|de l[ao]s?|l[ae]|[ae]l)"
/** Particles that begin a name after a title. Without "der": "Herr der Ringe" is not a name. */
const FIRST_PARTICLE = "(?:v[ao]n(?: de[rnm])?|de(?: la)?|d[iou]|da|dos|das|della|te[nr]|bin|ibn|[ae]l)"
const RUN = `${WORD}(?: (?:${PARTICLE}[ -])?${WORD}){0,3}`
const TITLE = atWordStart([...TITLES, ...SMALL_TITLES])
/** Any capitalized word after these is a name: `"last_name": "`, `<surname>`. */
const KEYED = `${atWordStart(KEYS)}["']? ?[:=>]{1,2} ?["']?`
const INTRODUCTION = [
  KEYED,
  `${atWordStart(PHRASES)}[: ] ?`,
  `${atWordStart(LABELS)} ?: ?["“]?`,
  `${atWordStart(CLOSINGS)},?\\n{1,2}`,
  `${atWordStart(ROLES)},? `,
].join("|")
const ARABIC_TITLE =
  "(?:السيدة?|أنا|الدكتورة?|الأستاذة?|المهندسة?|الآنسة|اسمي|عزيزي|عزيزتي|المريضة?|الزميلة?|العميلة?|الموظفة?)"

const AT_START = { wordStart: true } as const
const NAME = { wordStart: true, wordEnd: true, isCapitalized: true } as const

const literals: Literal[] = [
  ...NAME_FORMS.map((text) => ({ text, ...NAME })),
  ...GIVEN_CYRILLIC.map((name) => ({ text: stemCyrillic(name) })),
  ..."abcdefghijklmnoprstuvwyzабвгдежзиклмнопрстуфхцчшэюя".split("").map((letter) => ({
    text: `${letter}. `,
    ...AT_START,
    isCapitalized: true as const,
  })),
  { text: "@" },
  { text: "mc", wordStart: true, isCapitalized: true },
  ...VIETNAMESE_FAMILY.map((text) => ({ text: `${text} `, ...AT_START, isCapitalized: true as const })),
  ...FAMILY_PARTICLES.map((text) => ({ text: ` ${text} ` })),
  ...FAMILY_ENDS.map((text) => ({ text, wordEnd: true }) as const),
  ...TITLES.flatMap((title) => [`${title.toLowerCase()} `, `${title.toLowerCase()}.`]).map((text) => ({
    text,
    ...AT_START,
    isCapitalized: true as const,
  })),
  ...SMALL_TITLES.flatMap((title) => [`${title} `, `${title}.`]).map((text) => ({ text, ...AT_START })),
  ...PHRASES.map((text) => ({ text })),
  ...LABELS.flatMap((label) => [`${label}:`, `${label} :`]).map((text) => ({ text, ...AT_START })),
  ...KEYS.map((text) => ({ text, ...AT_START })),
  ...CLOSINGS.flatMap((closing) => [`${closing}\n`, `${closing},\n`]).map((text) => ({ text })),
  ...ROLES.flatMap((role) => [`${role} `, `${role}, `]).map((text) => ({ text, ...AT_START })),
  ...[
    " بن ",
    " بنت ",
    "السيد",
    "الدكتور",
    "الأستاذ",
    "المهندس",
    "الآنسة",
    "اسمي",
    "عزيز",
    "أنا ",
    "المريض",
    "الزميل",
    "العميل",
    "الموظف",
  ].map((text) => ({ text })),
  ...[...HAN_LITERALS, ...SCRIPT_LITERALS].map((text) => ({ text })),
]

const AT_INTRODUCTION = new RegExp(`^(?:${INTRODUCTION})`, "iu")
const AT_PHRASE = new RegExp(`^(?:${anyOf(PHRASES)})[: ]`, "iu")
const KEY_NAMES = new Set(KEYS)
const AFTER_KEY = /["']? ?[:=>]{1,2} ?["']?$/
/** Whether any capitalized word after an introduction is a name. */
const isPhrase = (introduction: string) =>
  KEY_NAMES.has(introduction.toLowerCase().replace(AFTER_KEY, "")) || AT_PHRASE.test(introduction)
const AT_TITLE = new RegExp(`^(?:(?:${TITLE})\\.? )+(?=\\p{Lu}|${FIRST_PARTICLE} \\p{Lu})`, "u")

export const personName: PatternDetector = {
  name: "person-name",
  engine: "pii",
  label: "[PERSON_NAME]",
  program: lazyProgram(
    [
      `(?:(?i:${INTRODUCTION})(?:${WORD}, )?)?(?:(?:${TITLE}\\.? ){1,3}(?:${FIRST_PARTICLE} )?)?${RUN}(?:"? <[\\w.+-]+@)?`,
      `(?:${GIVEN_ARABIC.join("|")}) (?:بن|بنت) \\p{Arabic}{2,14}`,
      `${ARABIC_TITLE} \\p{Arabic}{2,14}(?: \\p{Arabic}{2,14})?`,
      ...HAN_SOURCES,
      ...SCRIPT_SOURCES,
    ].join("|"),
  ),
  limit: 128,
  maxLead: 128,
  triggers: { literals },
  refine(match, before) {
    const first = match.codePointAt(0) ?? 0
    if (isScriptName(first) || /^(?:نام من|اسم من|میرا نام) |^\d{1,4}호/u.test(match)) return scriptName(match, before)
    if (first >= 0x2e80) return hanName(match)
    if (first >= 0x600 && first < 0x700) return arabicName(match)
    return nameIn(match, before)
  },
}

/** The address behind a name in the header of a mail. */
const MAIL_ADDRESS = /"? <[^<>\s]+@$/

function nameIn(complete: string, before: string): MatchRange[] {
  const match = complete.replace(MAIL_ADDRESS, "")
  if (match !== complete) {
    const tokens = tokensIn(match, match.indexOf(": ") + 1, match.length)
    if (areAllNames(tokens)) return [[tokens[0]?.from ?? 0, match.length]]
  }
  // A mention, `@Rachel`, is a name; `ann@Rachel` is not.
  const isPart = /[\p{L}\p{N}_.@/\\-]$/u.test(before) && !/(?:^|\s)[-.@]$|\\[nrt]$/.test(before)
  const introduction = AT_INTRODUCTION.exec(match)?.[0] ?? ""
  // The ranges of capital letters contain small ones: a match may begin at the "ę" of "się Jan Kowalski".
  const rest = isPart && introduction === "" ? /^[^\s,]*\p{Ll}[^\s,]* /u.exec(match)?.[0] : undefined
  if (rest !== undefined && !/^\p{Lu}/u.test(match)) {
    const found = nameIn(match.slice(rest.length), (before + rest).slice(-CONTEXT))
    return found.map(([from, to]) => [from + rest.length, to + rest.length])
  }
  if (isPart && introduction === "") return nameAfterComma(match, match.indexOf(", "))
  const isIntroduced = introduction !== "" && !isPart
  const title = AT_TITLE.exec(match.slice(introduction.length))?.[0] ?? ""
  const from = introduction.length + title.length
  const comma = match.indexOf(", ", from)
  const tokens = tokensIn(match, from, comma === -1 ? match.length : comma)
  const kind = isIntroduced ? (isPhrase(introduction) ? "phrase" : "role") : undefined
  const context: NameContext = {
    title: title.trim(),
    introduced: kind,
    before: isIntroduced || title !== "" ? "" : introduction === "" ? before : introduction,
  }
  const second = comma === -1 ? [] : tokensIn(match, comma + 2, match.length)
  if (areFamilyAndGiven(tokens, second, /: ?["“]?$/.test(introduction))) return [[from, second.at(-1)?.to ?? comma]]
  const found = nameAmong(tokens, context)
  const others = nameAfterComma(match, comma)
  if (!found) return others
  return [[title !== "" && found[0] === from ? introduction.length : found[0], found[1]], ...others]
}

function nameAfterComma(match: string, comma: number): MatchRange[] {
  if (comma === -1) return []
  const before = match.slice(0, comma + 2)
  const found = nameAmong(tokensIn(match, comma + 2, match.length), { title: "", introduced: undefined, before })
  return found ? [found] : []
}

const tokensIn = (match: string, from: number, to: number): Token[] =>
  [...match.slice(from, to).matchAll(/\S+/g)].map((word) => toToken(word[0], from + word.index))

function arabicName(match: string): MatchRange[] {
  const [title = "", first = "", second = ""] = match.split(" ")
  if (/^بنت?$/u.test(first)) return [[0, match.length]]
  const isRole = /^(?:أنا|المريض|الزميل|العميل|الموظف)/u.test(title)
  if (ARABIC_ROLES.test(first) || (isRole && !GIVEN_ARABIC.includes(first))) return []
  const isFamily = second !== "" && !/^[يتن]/u.test(second) && !ARABIC_ROLES.test(second)
  const from = title.length + 1
  return [[from, isFamily ? match.length : from + first.length]]
}
