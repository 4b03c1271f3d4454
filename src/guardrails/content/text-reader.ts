import { jsonUnits } from "./json-units.ts"
import type { Role, Visit } from "./leaves.ts"
import { inSlices, type Meter } from "./meter.ts"
import { plainUnits, type Rule, type TextFilter, type Units } from "./text-filter.ts"

export type Form = Parameters<Visit>[2]

/** Scans texts with a set of rules, each text once: every round of an agent repeats the conversation. */
export type Reader = {
  inSlices: (text: string, form: Form, meter: Meter) => Promise<string>
  atOnce: (text: string, form: Form) => string
}

export function newReader(
  rules: readonly Rule[],
  newFilter: (rules: readonly Rule[], units: Units) => TextFilter,
): Reader {
  const read = { plain: new Map<string, string>(), json: new Map<string, string>() }
  const filterFor = (form: Form) => newFilter(rules, form === "json" ? jsonUnits() : plainUnits())
  const keep = (text: string, form: Form, result: string) => {
    read[form].set(text, result)
    return result
  }
  const known = (text: string, form: Form) => (text === "" || rules.length === 0 ? text : read[form].get(text))
  return {
    inSlices: async (text, form, meter) =>
      known(text, form) ?? keep(text, form, await inSlices(filterFor(form).readWhole(text), meter)),
    atOnce: (text, form) => known(text, form) ?? keep(text, form, filterFor(form).push(text, true)),
  }
}

/**
 * Walks the texts of a value twice: to scan them in slices, then to insert the results. `check` throws if a text could
 * not be scanned.
 */
export async function mapInSlices<T>(
  map: (visit: Visit) => T,
  readerOf: (role: Role) => Reader,
  meter: Meter,
  check: () => void,
): Promise<T> {
  const texts: [string, Role, Form][] = []
  map((text, role, form) => {
    texts.push([text, role, form])
    return text
  })
  for (const [text, role, form] of texts) {
    await readerOf(role).inSlices(text, form, meter)
    check()
  }
  return map((text, role, form) => readerOf(role).atOnce(text, form))
}
