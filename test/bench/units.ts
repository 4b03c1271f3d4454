/**
 * `node test/bench/units.ts`: CPU time of a unit of work (src/guardrails/content/work-budget.ts) for each kind of work,
 * and of a complete scan budget at that price. Compare the kinds of one run with each other.
 */
import { jsonCodec } from "../../src/guardrails/content/texts/json-codec.ts"
import { runToCompletion, WorkBudget, SCAN_BUDGET } from "../../src/guardrails/content/work-budget.ts"
import { combineRules, type ContentSettings } from "../../src/guardrails/content/rules.ts"
import { TextFilter } from "../../src/guardrails/content/text-filter.ts"
import { plainCodec, type TextCodec } from "../../src/guardrails/content/texts/text-codec.ts"
import { BUILTIN_SLUGS, type BuiltinSlug } from "../../src/guardrails/schemas.ts"
import { prose } from "./prose.ts"

const LENGTH = 262_144
const RUNS = 8

const custom = (pattern: string): ContentSettings => ({ content_filters: [{ pattern, action: "redact" }] })
const builtins = (...slugs: BuiltinSlug[]): ContentSettings => ({
  content_filter_builtins: slugs.map((slug) => ({ slug, action: "redact" })),
})
const filled = (part: string) => part.repeat(Math.ceil(LENGTH / part.length)).slice(0, LENGTH)
const random = () => Math.random().toString(36).slice(2, 8)
const mixed = Array.from({ length: LENGTH / 6 }, random)
  .join("")
  .slice(0, LENGTH)
const english = prose("english", LENGTH)
const injection = builtins("regex-prompt-injection")

type Case = [name: string, settings: ContentSettings, text: string, how?: { pieces?: number; units?: () => TextCodec }]
const CASES: readonly Case[] = [
  ["own pattern, no match", custom("confidential"), english],
  ["own pattern, each character a match", custom("."), english],
  ["own pattern, one match of all", custom(".*"), english.replaceAll("\n", " ")],
  ["own pattern, many states", custom("[ab].{1,100}(?i)project"), filled("ab1 proj project xbba ")],
  ["own pattern, in pieces", custom("[a-z]+@[a-z]+"), english.slice(0, 65_536), { pieces: 4_096 }],
  ["own pattern, in JSON", custom("confidential"), JSON.stringify({ text: english }), { units: jsonCodec }],
  ["built-in detectors, English", builtins(...BUILTIN_SLUGS), english],
  ["built-in detectors, Russian", builtins(...BUILTIN_SLUGS), prose("russian", LENGTH)],
  ["built-in detectors, Chinese", builtins(...BUILTIN_SLUGS), prose("chinese", LENGTH)],
  ["built-in detectors, digits", builtins(...BUILTIN_SLUGS), filled("4111 1111-22.33:4::5 ")],
  ["names without end", builtins("person-name"), filled("Alice Bob Carol ")],
  ["e-mail addresses", builtins("email"), filled("a.b@example.com, ")],
  ["secrets, all of them near", builtins("secrets"), filled("token sk-ant- ghp_ password= key: ")],
  ["injection, Base64", injection, filled(`${mixed}${mixed}`)],
  ["injection, hexadecimal", injection, filled("49 67 6e 6f ")],
  ["injection, letters apart", injection, filled("i g n o r e . ")],
  ["injection, misspelt", injection, filled("ignroe dsiregard forgt ")],
  ["injection, signs for letters", injection, filled("1gn0re 4ll the prev1ous ")],
  ["injection, full width", injection, filled("ｉｇｎｏｒｅ　ｔｈｅ　")],
  ["injection, letters of two units", injection, filled("𝐢𝐠𝐧𝐨𝐫𝐞 ")],
]

function measure([, settings, text, { pieces, units = plainCodec } = {}]: Case) {
  let least = Number.POSITIVE_INFINITY
  let spent = 0
  for (let run = 0; run < RUNS; run++) {
    const budget = new WorkBudget(Number.POSITIVE_INFINITY)
    const filter = new TextFilter(combineRules([settings]), units(), () => {}, { budget })
    const before = process.cpuUsage()
    if (pieces) {
      for (let at = 0; at < text.length; at += pieces) filter.push(text.slice(at, at + pieces), false)
      filter.push("", true)
    } else runToCompletion(filter.filterComplete(text))
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, user + system)
    spent = budget.spent
  }
  return { ns: (least * 1_000) / spent, character: (least * 1_000) / text.length, units: spent / text.length }
}

for (const one of CASES) {
  const { ns, character, units } = measure(one)
  const budget = ((ns * SCAN_BUDGET) / 1e9).toFixed(2)
  console.info(
    `${one[0].padEnd(38)} ${ns.toFixed(2).padStart(6)} ns a unit, ${budget} s a budget; ` +
      `${units.toFixed(1)} units and ${character.toFixed(0)} ns a character`,
  )
}
