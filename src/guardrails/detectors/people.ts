import type { PatternDetector } from "./detector.ts"
import { lazyProgram } from "../content/program.ts"

/** First names that are common in the languages of most prompts and rarely words of those languages. */
const FIRST_NAMES = new Set(
  (
    "aaron abigail ada adam adrian ahmed aisha alan albert alejandro alex alexander alexandra alice alicia alison amanda amir amy " +
    "ana andrea andreas andrew angela anita anna anne annette anthony antonio arjun arthur ashley barbara beatrice benjamin " +
    "bernard beth birgit bob brandon brenda brian bruce camille carl carla carlos carol carmen caroline catherine charles charlotte " +
    "chen chloe chris christian christina christine christopher claire claudia colin craig cynthia daniel daniela david deborah " +
    "denise dennis diana diego dmitri dominic donald donna dorothy douglas edward eileen elena elizabeth ella ellen emily emma " +
    "eric erik ethan eugene eva evelyn fatima felix fernando fiona florian frances francesca francesco francisco frank franz " +
    "frederick gabriel gary george gerald giovanni giulia gloria grace greg gregory hannah hans harold harry hassan heather heidi " +
    "heinrich helen helena henry hiroshi howard hugo ian ibrahim igor ines ingrid isabel isabella ivan jack jacob jacqueline " +
    "jacques james jan jane janet jason javier jean jeffrey jennifer jeremy jessica joan joanna johann johanna john johnny " +
    "jonas jonathan jorge jose joseph joshua joyce juan judith judy julia julian julie jun jurgen karen karl katharina " +
    "katherine kathleen kathryn katie keith kelly kenji kenneth kevin klaus kumar larry laura lauren laurent lea leila leon " +
    "leonardo leslie liam linda lisa logan lorenzo louis louise luca lucas lucia ludwig lucy luis lukas madison manuel marco marcus " +
    "margaret maria marie marina mario marion mark markus martha martin martina mary matteo matthew maximilian megan mei " +
    "melissa michael michelle miguel mohamed mohammed monica monika nadia nancy natalia natalie natasha nathan nicholas nicola " +
    "nicole nina noah nora olaf olga oliver olivia omar oscar pablo pamela paolo patricia patrick paul paula pedro peter petra " +
    "philip philipp philippe pierre priya rachel rafael raj ralph ramesh raymond rebecca renate ricardo richard robert roberto " +
    "roger roland ronald rosa rosemary roy russell ruth ryan sabine sally samantha samuel sandra sanjay sara sarah scott sean " +
    "sebastian sergei sharon sheila shirley simon simone sofia sophia sophie stefan stephanie stephen steven stuart sunita susan " +
    "susanne suzanne sven sylvia tanya tatiana teresa terry thomas timothy tobias tom tony tyler ursula valentina vanessa vera " +
    "veronica victor victoria vijay vincent vladimir walter wayne wei wendy werner william wolfgang xavier yasmin yuki yusuf " +
    "yvonne zachary zoe"
  ).split(" "),
)

/** Words after a first name that are no family name. */
const NOT_FAMILY_NAMES =
  /^(?:Street|Avenue|Road|University|College|Hospital|Airport|School|Church|County|City|Inc|Corp|Ltd|GmbH|LLC|Foundation|Institute|Award|Prize|Museum|Library|Stadium|Park|Bridge|River|Lake|Island|Company|Day|Bank|Hotel|Transformer|Algorithm|Theorem|Distribution|Process|Model|Equation|Cluster|Server|Station|Boulevard|Square)$/

const WORD = "\\p{Lu}[\\p{L}'’-]+"
const TITLES = ["Mr", "Mrs", "Ms", "Miss", "Mx", "Dr", "Prof", "Herr", "Frau", "Madame", "Monsieur", "Señor", "Señora"]
const TITLE = `(?:${TITLES.join("|")})\\.?`
const INTRODUCTIONS =
  "(?i:my name is|name is|name:|call me|i am|i['’]m|this is|signed by|signed,|patient:|patient|customer:|contact:|attn:?|dear)"

const INTRODUCTION =
  /^(?:my name is|name is|name:|call me|i am|i['’]m|this is|signed by|signed,|patient:?|customer:|contact:|attn:?|dear) /i
const TITLED = new RegExp(`(?:^|(?<= ))${TITLE} `, "u")
const NOT_NAMES = /^(?:Is|Not|The|A|An|And|Or|For|In|Of|To|Sir|Madam|Team|All|Customer|Hiring|Support)$/

export const personName: PatternDetector = {
  name: "person-name",
  engine: "pii",
  label: "[PERSON_NAME]",
  program: lazyProgram(
    `\\b${TITLE} ${WORD}(?: ${WORD}){0,2}|\\b${INTRODUCTIONS} ${WORD}(?: ${WORD}){0,2}|\\b${WORD}(?: \\p{Lu}\\.)?(?: (?:van|von|de|der|da|di|la|bin|al))?(?: ${WORD}){1,2}`,
  ),
  limit: 96,
  triggers: {
    literals: [
      ...[...FIRST_NAMES].map((text) => ({ text, starts: true, ends: true, isUpper: true }) as const),
      ...TITLES.flatMap((title) => [`${title.toLowerCase()} `, `${title.toLowerCase()}.`]).map(
        (text) => ({ text, starts: true, isUpper: true }) as const,
      ),
      // Phrases that introduce a name.
      ...[
        "name is",
        "name:",
        "call me",
        "signed by",
        "signed,",
        "patient",
        "customer:",
        "contact:",
        "attn",
        "dear ",
      ].map((text) => ({ text })),
    ],
  },
  refine(match) {
    const titled = TITLED.exec(match)
    if (titled) return [[titled.index, match.length]]
    const introduction = INTRODUCTION.exec(match)?.[0] ?? ""
    const nameTokens = [...match.slice(introduction.length).matchAll(/\S+/g)]
    const firstName = isIntroduced(introduction, nameTokens) ? 0 : nameTokens.findIndex(([word]) => isFirstName(word))
    const name = nameTokens[firstName]
    if (!name) return []
    // A single first name counts only after a phrase that introduces it.
    const isAlone = firstName === nameTokens.length - 1 && introduction === ""
    return isAlone || NOT_FAMILY_NAMES.test(nameTokens.at(-1)?.[0] ?? "")
      ? []
      : [[introduction.length + name.index, match.length]]
  },
}

/** After an explicit introduction any name counts; "I am" and "this is" are weaker. */
function isIntroduced(introduction: string, nameTokens: readonly RegExpExecArray[]): boolean {
  if (/^dear /i.test(introduction) && nameTokens.length < 2) return false
  return (
    /name|call me|patient|customer|contact|attn|signed|dear/i.test(introduction) &&
    !NOT_NAMES.test(nameTokens[0]?.[0] ?? "")
  )
}

/** Checks only the first part of a double name. */
function isFirstName(word: string): boolean {
  return FIRST_NAMES.has((word.split(/[-'’]/)[0] ?? "").toLowerCase())
}
