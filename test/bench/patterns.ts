/**
 * `node test/bench/patterns.ts [patterns] [bytes]`: random accepted patterns, each on adversarial texts of 1 MiB.
 * Reports the most work of a text, against the scan budget of a request, and the lowest speed, in CPU time.
 */
import { addPattern, NO_SIZES, programOf } from "../../src/guardrails/content/patterns/pattern.ts"
import { runToCompletion, BudgetExceeded, WorkBudget, SCAN_BUDGET } from "../../src/guardrails/content/work-budget.ts"
import { findFirst, findRanges, searcherOf } from "../../src/guardrails/content/patterns/dfa-search.ts"
import { adversarialTexts, randomPattern, seeded } from "../support/random-patterns.ts"

const [patterns = 1_000, length = 1_048_576] = process.argv.slice(2).map(Number)
const random = seeded(7)

function cpuMs<T>(work: () => T): [number, T] {
  const before = process.cpuUsage()
  const value = work()
  const { user, system } = process.cpuUsage(before)
  return [(user + system) / 1_000, value]
}

let refused = 0
let overBudget = 0
let mostExploreMs = 0
const cold: { pattern: string; units: number; ms: number }[] = []
const speeds: { pattern: string; mbps: number }[] = []
for (let taken = 0; taken < patterns;) {
  const pattern = randomPattern(random)
  const [exploreMs, added] = cpuMs(() => addPattern(pattern, NO_SIZES))
  mostExploreMs = Math.max(mostExploreMs, exploreMs)
  if (typeof added === "string") {
    refused++
    continue
  }
  taken++
  for (const text of adversarialTexts(pattern, length, random)) {
    const searcher = searcherOf(programOf(pattern))
    const budget = new WorkBudget(Number.POSITIVE_INFINITY)
    try {
      const [ms] = cpuMs(() => {
        runToCompletion(findFirst(searcher, text, budget))
        runToCompletion(findRanges(searcher, text, budget))
      })
      cold.push({ pattern, units: budget.spent, ms })
      if (budget.spent > SCAN_BUDGET) overBudget++
      const warm = Array.from({ length: 3 }, () => cpuMs(() => runToCompletion(findRanges(searcher, text, budget)))[0])
      speeds.push({ pattern, mbps: length / 1e3 / Math.max(0.1, Math.min(...warm)) })
    } catch (thrown) {
      if (!(thrown instanceof BudgetExceeded)) throw thrown
      overBudget++
    }
  }
}
cold.sort((one, other) => other.units - one.units)
console.info(`most CPU for a text, searched twice: ${Math.max(...cold.map(({ ms }) => ms)).toFixed(0)} ms`)
speeds.sort((one, other) => one.mbps - other.mbps)
const at = (share: number) => speeds[Math.floor(speeds.length * share)]?.mbps.toFixed(0)
console.info(`${patterns} patterns taken, ${refused} refused; the dearest to judge took ${mostExploreMs.toFixed(0)} ms`)
console.info(`texts over the budget of ${SCAN_BUDGET} units: ${overBudget} of ${cold.length}`)
for (const { pattern, units, ms } of cold.slice(0, 5)) {
  console.info(
    `  most work: ${units} units, ${ms.toFixed(0)} ms, ${(ms * 1e6) / units} ns a unit: ${pattern.slice(0, 100)}`,
  )
}
console.info(`MB/s once warm: least ${at(0)}, 1 % ${at(0.01)}, 10 % ${at(0.1)}, median ${at(0.5)}`)
for (const { pattern, mbps } of speeds.slice(0, 5))
  console.info(`  slowest: ${mbps.toFixed(1)} MB/s: ${pattern.slice(0, 100)}`)
