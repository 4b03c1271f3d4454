import type { Plugins } from "../../plugins/read-plugins.ts"
import { searchQuery, withResults } from "../../plugins/web.ts"
import { toAnnotations } from "../../server-tools/citations.ts"
import { searchWeb, type SearchOutcome } from "../../server-tools/web-search/search.ts"
import { toCitations } from "../../server-tools/web-search/web-search.ts"
import type { ChargeToolRun } from "../agent/charge-tool-run.ts"
import type { PipelineStage } from "../../formats/pipeline-stage.ts"
import type { ChatRequest } from "../../formats/schemas.ts"
import type { Deps } from "../deps.ts"

type Messages = ChatRequest["messages"]

type Found = { messages: Messages; annotations: Record<string, unknown>[]; stage: PipelineStage }

/** The plugin `web`: searches for the last user message and puts the results before it. A failed search adds none. */
export async function searchFor(
  messages: Messages,
  { config, searchPrompt, settings }: NonNullable<Plugins["web"]>,
  deps: Deps,
  chargeToolRun: ChargeToolRun,
): Promise<Found | undefined> {
  const query = searchQuery(messages)
  if (query === undefined) return undefined
  const { fetch, signal, now } = deps.tools()
  const tool = { name: "web_search", provider: config.engine, priceNano: settings.priceNano }
  const searched = await chargeToolRun(tool, async () => {
    const result: SearchOutcome = await searchWeb(config.engine, { ...config, query }, { fetch, signal, settings })
    return { result, costNano: result.ok ? result.costNano : 0 }
  })
  const { result, costNano } = searched
  const stage: PipelineStage = {
    type: "plugin",
    name: "web",
    summary: result.ok ? `${result.results.length} results by ${config.engine}` : `no results: ${result.reason}`,
    cost_usd: costNano / 1e9,
  }
  if (!result.ok) return { messages, annotations: [], stage }
  return {
    messages: withResults(messages, result.results, { searchPrompt, nowMs: now() }) as Messages,
    annotations: toAnnotations(toCitations(result.results)),
    stage,
  }
}
