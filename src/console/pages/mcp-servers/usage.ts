import type { Query } from "../../api/query.ts"
import { currentRange } from "../../ui/charts/range.tsx"
import { rangeOf, useAnalytics } from "../overview/analytics.ts"
import { numberIn, textIn } from "../overview/series.ts"

export type ToolUsage = { slug: string; tool: string; calls: number; cost: number }
export const RANGE = "30d"

/** Calls of tools in the range of the URL. Their model is `mcp/{server}/{tool}`. */
export function useToolUsage(): Query<readonly ToolUsage[]> {
  const rows = useAnalytics({
    metrics: ["requests", "usage"],
    dimensions: ["model"],
    time_range: rangeOf(currentRange(RANGE)),
    limit: 10_000,
  })
  const data = rows.data?.flatMap((row) => {
    const [, slug, tool] = /^mcp\/([^/]+)\/(.+)$/.exec(textIn(row, "model")) ?? []
    if (slug === undefined || tool === undefined) return []
    return [{ slug, tool, calls: numberIn(row, "requests"), cost: numberIn(row, "usage") }]
  })
  return { ...rows, data }
}
