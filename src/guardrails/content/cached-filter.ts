import { jsonCodec } from "./texts/json-codec.ts"
import type { Role, Visit } from "./texts/request-texts.ts"
import { runInSlices, type WorkBudget } from "./work-budget.ts"
import type { Rule, TextFilter } from "./text-filter.ts"
import { plainCodec, type TextCodec } from "./texts/text-codec.ts"

export type TextFormat = Parameters<Visit>[2]

/** Scans texts with a set of rules, each text once: every round of an agent repeats the conversation. */
export type CachedFilter = {
  filterInSlices: (text: string, form: TextFormat, budget: WorkBudget) => Promise<string>
  filterNow: (text: string, form: TextFormat) => string
}

export function createCachedFilter(
  rules: readonly Rule[],
  newFilter: (rules: readonly Rule[], codec: TextCodec) => TextFilter,
): CachedFilter {
  const results = { plain: new Map<string, string>(), json: new Map<string, string>() }
  const filterFor = (form: TextFormat) => newFilter(rules, form === "json" ? jsonCodec() : plainCodec())
  const store = (text: string, form: TextFormat, result: string) => {
    results[form].set(text, result)
    return result
  }
  const cached = (text: string, form: TextFormat) =>
    text === "" || rules.length === 0 ? text : results[form].get(text)
  return {
    filterInSlices: async (text, form, budget) =>
      cached(text, form) ?? store(text, form, await runInSlices(filterFor(form).filterComplete(text), budget)),
    filterNow: (text, form) => cached(text, form) ?? store(text, form, filterFor(form).push(text, true)),
  }
}

/**
 * Walks the texts of a value twice: to scan them in slices, then to insert the results. `check` throws if a text could
 * not be scanned.
 */
export async function mapInSlices<T>(
  map: (visit: Visit) => T,
  filterOf: (role: Role) => CachedFilter,
  budget: WorkBudget,
  check: () => void,
): Promise<T> {
  const texts: [string, Role, TextFormat][] = []
  map((text, role, form) => {
    texts.push([text, role, form])
    return text
  })
  for (const [text, role, form] of texts) {
    await filterOf(role).filterInSlices(text, form, budget)
    check()
  }
  return map((text, role, form) => filterOf(role).filterNow(text, form))
}
