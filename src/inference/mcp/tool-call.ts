import { toFailure } from "../../formats/attempt.ts"
import { GatewayError } from "../../errors/errors.ts"
import type { PipelineStage } from "../../formats/pipeline-stage.ts"
import type { Content } from "../../generations/content.ts"
import type { Ending, Generation, GenerationDraft } from "../../ledger/generation.ts"
import { NO_TOKENS } from "../../money/money.ts"
import { type Caller, limitsOf, rateLimitsOf } from "../../policy/call-policy.ts"
import { logError } from "../../support/log.ts"
import { logFieldsOf } from "../call.ts"
import type { Deps, RequestMeta } from "../deps.ts"
import { newDraft } from "../draft.ts"
import { recordGeneration } from "../accounting/record.ts"
import { hold } from "../hold.ts"
import { toFindings } from "../screening/stages.ts"

/** One call of a tool of an MCP server: held before it is sent, settled exactly once, recorded as a generation. */

type NewToolCall = {
  /** Model in the generation: `mcp/{server}/{tool}`. */
  model: string
  /** Provider in the generation: the name of the server. */
  provider: string
  priceNano: number
  sessionId: string | null
  /** Text of the arguments after the guardrails. */
  input: string
}

/** How a call ended. Results, blocked results and disconnects are charged. */
export type ToolCallEnd = {
  ending: Extract<Ending, "complete" | "cancelled" | "timeout" | "error">
  isCharged: boolean
  error?: GatewayError
  /** Text of the result after the guardrails. */
  output?: string
  stages?: readonly PipelineStage[]
}

export type ToolCall = { id: string; end: (end: ToolCallEnd) => void }

export function mcpModel(server: string, tool: string): string {
  return `mcp/${server}/${tool}`
}

/** Reserves the price under every limit. Fails with 402, 403 or 429. */
export async function holdToolCall(
  call: NewToolCall,
  { caller, meta }: { caller: Caller; meta: RequestMeta },
  deps: Deps,
): Promise<ToolCall> {
  const { model, priceNano, sessionId } = call
  const about = { apiType: "completions", requestedModel: model, streamed: false, promptEstimate: 0 } as const
  const draft = newDraft({ ...about, sessionId, hasMessages: true, isToolRun: true }, meta, caller)
  const cost = { leastNano: priceNano, mostNano: priceNano }
  const limits = rateLimitsOf(caller)
  const rates = limits.length > 0 ? { limits, tokens: 0 } : undefined
  await hold({ draft, wanted: cost, estimateNano: priceNano, caller, takesMaxTokens: false, rates }, deps)
  const { holdTtlMs: ttlMs } = deps.timers
  const stopTracking = deps.ledger.track(draft.id, { estimate: () => priceNano, ttlMs, heldAt: Date.now() })
  let isEnded = false
  return {
    id: draft.id,
    end: (end) => {
      if (isEnded) return
      isEnded = true
      stopTracking()
      deps.waitUntil(settle(toGeneration(draft, call, end, caller), call.input, end, deps))
    },
  }
}

function toGeneration(draft: GenerationDraft, call: NewToolCall, end: ToolCallEnd, caller: Caller): Generation {
  const { error, ending, isCharged } = end
  const limits = limitsOf(caller)
  const findings = toFindings(end.stages ?? [])
  const reason = error?.metadata?.reason
  return {
    ...draft,
    model: call.model,
    provider: call.provider,
    upstreamId: null,
    isByok: false,
    tokens: NO_TOKENS,
    tokensFrom: "none",
    costNano: isCharged ? call.priceNano : 0,
    byokCostNano: 0,
    finishReason: null,
    ending,
    status: error?.status ?? 200,
    latencyMs: Date.now() - draft.createdAt,
    generationMs: null,
    serviceTier: null,
    attempts: [],
    heldNano: call.priceNano,
    ...(limits.length > 0 && { limits }),
    ...(error && { error: { ...toFailure(error), ...(reason !== undefined && { reason }) } }),
    ...(findings.length > 0 && { guardrails: findings }),
  }
}

async function settle(generation: Generation, input: string, { output = "" }: ToolCallEnd, deps: Deps): Promise<void> {
  deps.logCall(generation)
  deps.recordMetric?.(generation)
  const text = { messages: [{ role: "user", content: input }], output: { content: output, reasoning: "" } }
  await Promise.all([
    recordGeneration(deps, generation, () => text),
    logContent(generation, text, deps).catch((cause: unknown) =>
      logError("call content was not saved", logFieldsOf(generation), cause),
    ),
  ])
}

/** The arguments and the result, for content logging. */
async function logContent(
  generation: Generation,
  text: Pick<Content, "messages" | "output">,
  { contents }: Deps,
): Promise<void> {
  const { id, organizationId, workspaceId } = generation
  if (contents?.keeps(id)) await contents.put(generation, { organizationId, workspaceId, ...text })
}
