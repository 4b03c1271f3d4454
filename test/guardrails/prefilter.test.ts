import { describe, expect, test } from "vitest"
import { WorkBudget } from "../../src/guardrails/content/work-budget.ts"
import { combineRules } from "../../src/guardrails/content/rules.ts"
import { TextFilter } from "../../src/guardrails/content/text-filter.ts"
import { plainCodec } from "../../src/guardrails/content/texts/text-codec.ts"
import { findInjections } from "../../src/guardrails/detectors/injection/injection.ts"
import { findMisspelled, findMisspelledAt, possibleVerbStart } from "../../src/guardrails/detectors/injection/typos.ts"
import { prefilterForAll } from "../../src/guardrails/detectors/detector-prefilter.ts"
import { requiredLiterals } from "../../src/guardrails/prefilter/required-literals.ts"
import { obfuscationCandidates } from "../../src/guardrails/prefilter/obfuscation.ts"
import { BUILTIN_SLUGS, type BuiltinSlug } from "../../src/guardrails/schemas.ts"
import { LANGUAGES, prose } from "../bench/prose.ts"
import { corpusLines } from "../support/corpus.ts"
import { seeded } from "../support/random-patterns.ts"
import { runs, sampled } from "../support/runs.ts"

const SCANNED = BUILTIN_SLUGS.filter((slug) => slug !== "regex-prompt-injection")
const random = seeded(23)
const below = (end: number) => Math.floor(random() * end)
const oneOf = <T>(choices: readonly T[]) => choices[below(choices.length)] as T

/** A chunked text is scanned without the prefilter. */
function found(slug: BuiltinSlug, pieces: readonly string[]): string[] {
  const spans: string[] = []
  const rules = combineRules([{ content_filter_builtins: [{ slug, action: "flag" }] }])
  const filter = new TextFilter(rules, plainCodec(), ({ start, end }) => spans.push(`${start} ${end}`))
  for (const [at, piece] of pieces.entries()) filter.push(piece, at === pieces.length - 1)
  return spans.toSorted()
}

/** `findsAll`: searches the complete text for every phrase. */
function injections(text: string, isComplete: boolean): string[] {
  const prefilter = prefilterForAll(text)
  const all = {
    ...prefilter,
    present: prefilter.present.slice().fill(1),
    literalHits: undefined,
    hasIgnored: true,
    isAscii: false,
  }
  const parts = findInjections(text, isComplete ? all : prefilter, new WorkBudget(Number.POSITIVE_INFINITY))
  return parts.map(([from, to]) => `${from} ${to}`).toSorted()
}

function expectAlike(text: string): void {
  for (const slug of SCANNED) expect(found(slug, [text]), `${slug}: ${text}`).toEqual(found(slug, [text, ""]))
  expect(injections(text, false), text).toEqual(injections(text, true))
}

function restyled(char: string): string {
  const unit = char.charCodeAt(0)
  const isStyled = unit > 0x20 && unit < 0x7f
  const small = /[a-z]/.test(char) ? 0x1d41a - 97 : undefined
  const capital = /[A-Z]/.test(char) ? 0x1d400 - 65 : /\d/.test(char) ? 0x1d7ce - 48 : undefined
  const bold = small ?? capital
  return oneOf([
    isStyled ? String.fromCharCode(unit + 0xfee0) : char,
    bold === undefined ? char : String.fromCodePoint(unit + bold),
    char.toUpperCase(),
    char.toLowerCase(),
  ])
}

const ODD = [..."\u200b\u00ad\u0301\ufe0f\u00a0éſKİ²：．＠３-., :@1Aa\n".split(""), "😀", "𝐀", "\u{e0041}"]
const LEET: Readonly<Record<string, string>> = { o: "0", i: "1", e: "3", a: "4", s: "5", t: "7" }

const WAYS: readonly ((text: string) => string)[] = [
  (text) => text,
  (text) => text.replaceAll(/[^]/gu, (char) => (below(4) === 0 ? restyled(char) : char)),
  (text) => text.replaceAll(/[^]/gu, restyled),
  (text) => text.replaceAll(/[^]/gu, (char) => (below(8) === 0 ? char + oneOf(ODD) : char)),
  (text) => text.replaceAll(/[^]/gu, (char) => (below(20) === 0 ? oneOf(["", char + char, oneOf(ODD)]) : char)),
  (text) => text.replaceAll(/[oieast]/g, (char) => (below(3) === 0 ? (LEET[char] ?? char) : char)),
  (text) => text.replaceAll(" ", () => oneOf([" ", "\n", "\u00a0", "  ", "-"])),
  (text) => text.split("").join(" "),
]

const mutated = () => oneOf(WAYS)(oneOf(corpusLines).text)

describe("detectors with the prefilter find the same as without it", () => {
  test("in each line of the corpus", () => {
    for (const { text } of sampled(corpusLines, 4)) expectAlike(text)
  })

  test("in prose, with anything between a name and its value", () => {
    const words = (count: number) => Array.from({ length: count }, () => "abcdefghijklmnop".slice(below(12))).join(" ")
    for (let at = 0; at < runs(5); at++) {
      const value = oneOf([
        "Xq7-Zr2!kPw9",
        "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
        "p4ss:w0rd@host.example",
        "😀Xq7Zr2kPw9",
      ])
      const secret = oneOf([
        () => `password ${words(below(7))}: is "${value}`,
        () => `the api key${oneOf([" ", "   ", ' = "', "'s: "])}${oneOf(["is ", "bearer ", "now set to "])}${value}`,
        () => `curl -s ${"-H x ".repeat(below(11))}-u ann:${value} https://example.com`,
        () => `DATABASE_URL=postgres://ann:${value}@db.example.com/x`,
        () => `Authorization: Basic YW5uOlhxN1pyMmtQdzk=${value}`,
        () => `mysql ann:${value}@tcp(db:3306)`,
      ])()
      const text = prose(oneOf(LANGUAGES), 600)
      const cut = below(text.length)
      expectAlike(
        text.slice(0, cut) + oneOf(["", " ", "\n", "😀"]) + secret + oneOf(["", " ", ".", "😀"]) + text.slice(cut),
      )
    }
  })

  test("in lines that are respelt, cut, doubled and joined", () => {
    for (let at = 0; at < runs(4); at++) expectAlike(mutated() + oneOf([" ", "\n", "", "—"]) + mutated())
  })

  test("at any position in prose", () => {
    for (const language of LANGUAGES) {
      for (let at = 0; at < runs(0.2); at++) {
        const text = prose(language, 2_000)
        const position = below(text.length)
        const joint = () => oneOf([" ", "\n", "", "x"])
        expectAlike(text.slice(0, position) + joint() + mutated() + joint() + text.slice(position))
      }
    }
  })
})

describe("misspelt injections", () => {
  const VERBS = ["ignore", "disregard", "forget", "override", "bypass"]
  const LETTERS = [..."abeginorstyz\u0130\u212aéßИ".split(""), ""]
  const scrambled = (word: string) => {
    const inner = word.slice(1, -1).split("")
    for (let at = inner.length - 1; at > 0; at--) {
      const other = below(at + 1)
      ;[inner[at], inner[other]] = [inner[other] as string, inner[at] as string]
    }
    return word.charAt(0) + inner.join("") + word.at(-1)
  }
  const oneOff = (word: string) => {
    const at = below(word.length + 1)
    return word.slice(0, at) + oneOf(LETTERS) + word.slice(at + below(2))
  }

  test("are found at the same positions as by checking every word", () => {
    let found = 0
    for (let at = 0; at < 3_000; at++) {
      const written = oneOf([scrambled, oneOff, oneOff])(oneOf(VERBS))
      const word = oneOf([written, written.toUpperCase(), `ab${written}`, "q".repeat(below(40)) + written])
      const text = `${oneOf(["", "we ", "1", "_", "日本"])}${word} previous instructions`
      const all = findMisspelled(text)
      const { verbStarts } = obfuscationCandidates(text, prefilterForAll(text).verbEnds, possibleVerbStart)
      expect(
        verbStarts.flatMap((from) => findMisspelledAt(text, from)),
        text,
      ).toEqual(all)
      found += all.length
    }
    expect(found).toBeGreaterThan(1_000)
  })
})

test.each([
  ["\\bgh[po]_[a-z]{36}", ["gho_", "ghp_"], [["ghp_", "gho_"]]],
  [
    "(?:ignor(?:e|ing)|forget)\\W{1,6}(?:all|any)",
    ["ignore", "ignoring", "forget"],
    [
      ["ignore", "ignoring", "forget"],
      ["all", "any"],
    ],
  ],
  ["instructions?(?! of)", ["instruction"], [["instruction"]]],
  ["(?:a|b)?c\\d", ["ac0", "bc0", "c0"], [["c0"]]],
  ["[^x]{2}key", undefined, [["key"]]],
  ["a*", undefined, []],
])("every match of %s contains its required literals", (source, openings, groups) => {
  const required = requiredLiterals(source)
  expect(required.prefixes?.toSorted()).toEqual(openings?.toSorted())
  expect(required.groups.map((group) => group.toSorted())).toEqual(groups.map((group) => group.toSorted()))
})
