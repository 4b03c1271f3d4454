import type { Json } from "../../support/text/json.ts"
import { runServerTool } from "../../server-tools/run-tool.ts"
import { failure, type RequestedTool, type Tally, type ToolOutcome, type ToolDeps } from "../../server-tools/tool.ts"
import { fieldsOf } from "../../formats/responses/call-fields.ts"
import { SERVER_TOOL_DETAIL } from "../../formats/tools/server-tool-detail.ts"
import type { ToolRun } from "../../ledger/generation.ts"
import type { ToolCall } from "./tool-calls.ts"
import { isOverLimit, type ChargeToolRun } from "./charge-tool-run.ts"

/** `free`: set if the run had no price, so that no generation records it. */
export type Run = { call: ToolCall; tool: RequestedTool; outcome: ToolOutcome; free?: ToolRun }

type ToolRunContext = {
  tools: readonly RequestedTool[]
  deps: ToolDeps
  tally: Tally
  chargeToolRun: ChargeToolRun
}

/** Runs the calls of one round in parallel. Failed calls also have an outcome. */
export function runCalls(
  calls: readonly ToolCall[],
  { tools, deps, tally, chargeToolRun }: ToolRunContext,
): Promise<Run[]> {
  const runs = calls.flatMap((call) => {
    const tool = tools.find(({ definition }) => definition.name === call.function.name)
    return tool ? [{ call, tool }] : []
  })
  return Promise.all(
    runs.map(async ({ call, tool }) => {
      const startedAt = Date.now()
      const run = () => runServerTool(tool, call.function.arguments, deps, tally)
      const outcome = await payFor(tool, run, deps, chargeToolRun)
      if (outcome.costNano > 0) return { call, tool, outcome }
      const free = { name: tool.kind, startedAt, durationMs: Date.now() - startedAt, isError: outcome.isError }
      return { call, tool, outcome, free }
    }),
  )
}

async function payFor(
  tool: RequestedTool,
  run: () => Promise<ToolOutcome>,
  { settings }: ToolDeps,
  chargeToolRun: ChargeToolRun,
): Promise<ToolOutcome> {
  const priceNano = tool.kind === "web_search" ? (settings.webSearch?.priceNano ?? 0) : 0
  try {
    return await chargeToolRun(
      { name: tool.kind, provider: settings.webSearch?.preferred ?? tool.kind, priceNano },
      run,
    )
  } catch (thrown) {
    if (!isOverLimit(thrown)) throw thrown
    return failure(`${tool.definition.name} costs more than the remaining budget. Continue without it.`, {
      action: { type: "search", query: "", sources: [] },
    })
  }
}

/** Tool messages for the next round. */
export function toResults(runs: readonly Run[]): Json[] {
  return runs.map(({ call, outcome }) => ({ role: "tool", tool_call_id: call.id, content: outcome.content }))
}

/** Position of a run in a response, from which replay restores the turns. */
export type RunPosition = {
  index: number
  round: number
  /** Whether the same turn also has calls that the client must run. */
  isPending: boolean
  /** Length of the content before the run, if the response has all content in one message. */
  contentLength: number | undefined
}

/** A run as a reasoning detail of the response. Clients send it back with the conversation. */
export function toDetail({ call, tool, outcome }: Run, scope: RunPosition, includesItem: boolean): Json {
  const status = outcome.isError ? tool.failedStatus : "completed"
  const fields = fieldsOf(call)
  return {
    type: SERVER_TOOL_DETAIL,
    tool_name: tool.definition.name,
    tool_call_id: call.id,
    arguments: call.function.arguments,
    result: outcome.content,
    index: scope.index,
    round: scope.round,
    ...(scope.isPending && { is_pending: true }),
    ...(scope.contentLength !== undefined && { content_length: scope.contentLength }),
    ...(fields && { call_fields: fields }),
    ...(includesItem && { item: { ...outcome.item, type: tool.itemType, status } }),
  }
}
