/**
 * `node test/bench/detectors.ts [units]`: CPU time of the built-in detectors on ordinary prose, each alone and all
 * together, in ms for 100 KB (100,000 UTF-16 units), and the units of work that they charge to a request's scan
 * budget. On a busy machine compare the least times.
 */
import { runToCompletion, WorkBudget } from "../../src/guardrails/content/work-budget.ts"
import { combineRules } from "../../src/guardrails/content/rules.ts"
import { TextFilter } from "../../src/guardrails/content/text-filter.ts"
import { plainCodec } from "../../src/guardrails/content/texts/text-codec.ts"
import { BUILTIN_SLUGS, type BuiltinSlug } from "../../src/guardrails/schemas.ts"
import { LANGUAGES, prose } from "./prose.ts"

const [length = 100_000] = process.argv.slice(2).map(Number)
const WARM_UPS = 20
const RUNS = 60

function cpuMs(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1_000
}

function measure(slugs: readonly BuiltinSlug[], text: string) {
  const rules = combineRules([{ content_filter_builtins: slugs.map((slug) => ({ slug, action: "flag" as const })) }])
  let findings = 0
  let units = 0
  const read = () => {
    findings = 0
    const budget = new WorkBudget(Number.POSITIVE_INFINITY)
    runToCompletion(new TextFilter(rules, plainCodec(), () => findings++, { budget }).filterComplete(text))
    units = budget.spent
  }
  const cold = cpuMs(read)
  for (let at = 0; at < WARM_UPS; at++) read()
  const runs = Array.from({ length: RUNS }, () => cpuMs(read)).toSorted((one, other) => one - other)
  return { cold, least: runs[0] as number, warm: runs[RUNS >> 1] as number, findings, units }
}

const perText = (ms: number) => ((ms * 100_000) / length).toFixed(2).padStart(7)
for (const language of (process.env.LANGS?.split(",") as typeof LANGUAGES) ?? LANGUAGES) {
  const text = prose(language, length)
  for (const [name, slugs] of [
    ...BUILTIN_SLUGS.map((slug) => [slug, [slug]] as const),
    ["all ten", BUILTIN_SLUGS] as const,
  ]) {
    const { cold, least, warm, findings, units } = measure(slugs, text)
    console.info(
      `${language.padEnd(8)} ${name.padEnd(23)} ${perText(warm)} ms warm, ${perText(least)} at least, ${perText(cold)} first; ` +
        `${(units / length).toFixed(1)} units a character, ${findings} found`,
    )
  }
}
