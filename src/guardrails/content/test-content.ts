import type { z } from "zod"
import type { ContentTestResponse } from "../schemas.ts"
import { strongest } from "./actions.ts"
import { combineRules, type ContentSettings } from "./rules.ts"
import { type Finding, TextFilter } from "./text-filter.ts"
import { plainCodec } from "./texts/text-codec.ts"
import { uncheckedError } from "./unchecked-error.ts"

type TestResult = Omit<z.infer<typeof ContentTestResponse>["data"], "checks">

/** Result of these filters for a text, without a model call. */
export function testContent(settings: ContentSettings, text: string): TestResult {
  const matches: TestResult["matches"] = []
  const onFinding = ({ rule, start, end }: Finding) => {
    matches.push({ pattern: rule.detector.name, engine: rule.detector.engine, action: rule.action, start, end })
  }
  const filter = new TextFilter(combineRules([settings]), plainCodec(), onFinding, {
    reportsPositions: true,
    onUnchecked: ({ detector }) => {
      throw uncheckedError([detector.name], "text")
    },
  })
  const result = filter.push(text, true)
  matches.sort((one, other) => one.start - other.start || one.end - other.end)
  return {
    action: strongest(matches.map(({ action }) => action)),
    detected: matches.length > 0,
    engines: [...new Set(matches.map(({ engine }) => engine))],
    patterns: [...new Set(matches.map(({ pattern }) => pattern))],
    matches,
    text: filter.isBlocked ? text : result,
  }
}
