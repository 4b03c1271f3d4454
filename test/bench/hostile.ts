/**
 * `node test/bench/hostile.ts`: CPU time of files and patterns made to be slow, each until it is processed or
 * rejected. None should take more than a second.
 */
import { WorkBudget } from "../../src/guardrails/content/work-budget.ts"
import { addPattern, NO_SIZES } from "../../src/guardrails/content/patterns/pattern.ts"
import { combineRules, type ContentSettings } from "../../src/guardrails/content/rules.ts"
import { TextFilter } from "../../src/guardrails/content/text-filter.ts"
import { plainCodec } from "../../src/guardrails/content/texts/text-codec.ts"
import { BUILTIN_SLUGS } from "../../src/guardrails/schemas.ts"
import { readPdf } from "../../src/server-tools/web-fetch/pdf.ts"
import { file, RESOURCES, stream, words } from "../support/pdf.ts"

async function report(name: string, work: () => unknown): Promise<void> {
  const before = process.cpuUsage()
  const outcome = await work()
  const { user, system } = process.cpuUsage(before)
  console.info(`${((user + system) / 1_000).toFixed(0).padStart(6)} ms  ${name}: ${String(outcome)}`)
}

const form = (text: string) => stream(text, `/Type/XObject/Subtype/Form/BBox[0 0 300 200]/Resources ${RESOURCES}`)
const objects = () => stream("1 0 ".repeat(4_000_000), "/Type/ObjStm/N 4000000/First 16000000")
const FILES: readonly (readonly [string, () => Promise<Uint8Array>])[] = [
  ["one page", async () => file(1, await stream(words(10)))],
  ["500 pages that share much", async () => file(500, await stream(words(100_000)))],
  ["500 pages that share little", async () => file(500, await stream(words(2_000)))],
  ["20 MB of spaces", async () => file(1, await stream(" ".repeat(20_000_000)))],
  ["packed five times", async () => file(1, await stream(" ".repeat(1_000_000), "", 5))],
  ["forms in forms", async () => file(1, await form("/A Do ".repeat(40_000)), [await form(words(1))])],
  ["a large stream of objects", async () => file(1, words(1), [await objects()])],
  ["lists without end", async () => file(1, await stream(words(1)), [], `<</A${"[".repeat(100_000)}`)],
]

const MEGABYTE = 1_048_576
const long = (part: string) => part.repeat(Math.ceil(MEGABYTE / part.length))
const far = long(`${"a".repeat(900)}x${"a".repeat(1_500)}`)
/** The last are stored patterns that would be rejected now. */
const SEARCHES: readonly (readonly [string, string])[] = [
  [".{0,200}x", far],
  [".", far],
  ["[ab].{1,100}(?i)project", long("ab1 proj project xbba ")],
  ["(?:a|b){0,9}c", long("abab")],
  [".{0,1000}.{0,1000}x", far],
  ["a.{20}b", long("aabab")],
  ["(?:a?){1000}", long("a")],
]
const REFUSED = [".{0,1000}.{0,1000}x", "a.{20}b", "(?:a|b){0,9}a(?:a|b){16}c", "(?:a?){1000}", "a".repeat(100_000)]
const BUILTIN_TEXTS: readonly (readonly [string, string])[] = [
  ["names", long("Alice Bob Carol ")],
  ["e-mail addresses", long("a.b@example.com, ")],
  ["digits", long("4111 1111-22.33:4::5 ")],
  ["keys", long("token sk-ant- ghp_ password= key: ")],
  ["misspelt verbs", long("ignroe dsiregard forgt ")],
  ["verbs without an end", long("ignore all ")],
  ["Base64", long("aWdub3JlIGFsbA")],
  ["letters of two units", long("𝐢𝐠𝐧𝐨𝐫𝐞 ")],
]

function search(settings: ContentSettings, text: string): string {
  let problem: string | undefined
  const onUnchecked = () => void (problem = "over the budget")
  const budget = new WorkBudget()
  const filter = new TextFilter(combineRules([settings]), plainCodec(), () => {}, { budget, onUnchecked })
  filter.push(text, true)
  return `${problem ?? "read"}, ${(budget.spent / 1e6).toFixed(1)} million units`
}

// Warms up, so that only the case is measured.
await readPdf(file(1, await stream(words(1))))
for (const [name, make] of FILES) {
  const bytes = await make()
  await report(`PDF, ${name}`, async () => {
    const read = await readPdf(bytes)
    return read.ok ? `read, ${read.text.length} characters` : read.reason
  })
}
for (const pattern of REFUSED) {
  await report(`creation of ${pattern.slice(0, 30)}`, () => {
    const added = addPattern(pattern, NO_SIZES)
    return typeof added === "string" ? "refused" : "taken"
  })
}
for (const [pattern, text] of SEARCHES) {
  await report(`${pattern} in ${text.length} characters`, () =>
    search({ content_filters: [{ pattern, action: "redact" }] }, text),
  )
}
const all: ContentSettings = { content_filter_builtins: BUILTIN_SLUGS.map((slug) => ({ slug, action: "redact" })) }
for (const [name, text] of BUILTIN_TEXTS) await report(`all detectors, ${name}`, () => search(all, text))
