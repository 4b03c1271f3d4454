import { type Json, listOf } from "../../support/text/json.ts"
import type { Caller } from "../../policy/call-policy.ts"
import { toAnnotations } from "../../server-tools/citations.ts"
import { newTally } from "../../server-tools/tool.ts"
import { chatRequest } from "../endpoints/chat/request.ts"
import type { ResponseEncoder } from "../../formats/encoder.ts"
import type { Screening } from "../../guardrails/screening.ts"
import type { CallContext } from "../inference-request.ts"
import type { PipelineStage } from "../../formats/pipeline-stage.ts"
import type { Prepared } from "../prepare/prepare.ts"
import type { ChatRequest } from "../../formats/schemas.ts"
import type { PreparedCall } from "../call.ts"
import { withFindings } from "../../guardrails/stages.ts"
import { applyGuardrails, withScreeningStages, screenToolResult, sizeInBytes } from "../screening/screen.ts"
import type { RequestMeta, Deps } from "../deps.ts"
import type { ToolRun } from "../../ledger/generation.ts"
import { callsOf, ToolCallFilter, type ToolCall } from "./tool-calls.ts"
import { mergeDetails } from "../../formats/chat/normalize/merge-details.ts"
import { nextIndex } from "./details.ts"
import { toolCharger } from "./charge-tool-run.ts"
import type { Round } from "./round.ts"
import { type Run, runCalls, toDetail, toResults } from "./run-tools.ts"
import { isOver, MAX_STEPS } from "./stops.ts"
import { addUsage, costNanoOf, tokensOf } from "./usage.ts"

/**
 * A call in which the gateway runs tools for the model until the model returns a response for the client.
 */
export type Job = {
  prepared: Prepared
  meta: RequestMeta
  caller: Caller
  encoderFor: (call: CallContext) => ResponseEncoder
  /** Runs of server tools are items of the response. */
  emitsToolItems: boolean
  maxSteps: number | null | undefined
  screening?: Screening
}

export type ToolRunDetails = { details: Json[]; continues: boolean }

/** Sends one round (pipeline.ts). */
export type CallUpstream = (round: PreparedCall, deps: Deps) => Promise<Response>

/**
 * The state of an agent loop. Every round is a separate upstream call with its own hold, charge and generation; the
 * client receives the sum of their usage and cost.
 */
export class Agent {
  readonly job: Job
  readonly deps: Deps
  readonly #callUpstream: CallUpstream
  readonly #tally = newTally()
  #messages: Json[]
  #steps = 0
  #requested = 0
  #executed = 0
  #searches = 0
  #toolCostNano = 0
  /** Generation id of the first round. */
  #firstId: string | undefined
  /** Tool runs since the last round. */
  #toolRuns: ToolRun[] = []
  /** Stages of tools that apply guardrails themselves. */
  readonly #found: PipelineStage[] = []
  #isLast = false
  #contentLength = 0
  #usage: Json | undefined
  /** Routing metadata of the last round that reported any. */
  metadata: Json | undefined
  detailOffset = 0
  callFilter: ToolCallFilter
  readonly annotations: Json[]

  constructor(job: Job, callUpstream: CallUpstream, deps: Deps) {
    this.job = job
    this.deps = deps
    this.#callUpstream = callUpstream
    this.#messages = [...job.prepared.chat.messages]
    this.annotations = [...job.prepared.annotations]
    this.callFilter = new ToolCallFilter(this.#names, 0)
  }

  get #names(): string[] {
    return this.job.prepared.tools.map(({ definition }) => definition.name)
  }

  /** The upstream call of the next round. */
  async nextResponse(signal: AbortSignal): Promise<Response> {
    const { prepared, screening, meta, caller } = this.job
    const chat = await applyGuardrails(this.#request(), screening, meta)
    const request = { ...chatRequest(chat, sizeInBytes(chat)), preparation: prepared.preparation }
    const round = { request: screening ? { ...request, screening } : request, meta: this.#roundOf(meta), caller }
    const response = await this.#callUpstream(round, { ...this.deps, signal })
    this.#firstId ??= response.headers.get("x-generation-id") ?? undefined
    return response
  }

  /** Later rounds and tool runs belong to the first round. */
  #roundOf(meta: RequestMeta): RequestMeta {
    const parentId = this.#firstId
    return parentId === undefined ? meta : { ...meta, round: { parentId, toolRuns: this.#toolRuns } }
  }

  #request(): ChatRequest {
    const { chat } = this.job.prepared
    const isFirst = this.#steps === 0
    // A forced tool choice applies to the first round only: repeated, the loop would not end.
    const choice = this.#isLast ? "none" : isFirst ? chat.tool_choice : chat.tool_choice === "none" ? "none" : "auto"
    return {
      ...chat,
      messages: this.#messages as ChatRequest["messages"],
      ...(chat.tools && choice != null && { tool_choice: choice }),
      ...(chat.stream && { stream_options: { ...chat.stream_options, include_usage: true } }),
      usage: { ...chat.usage, include: true },
      debug: isFirst ? chat.debug : undefined,
    }
  }

  addUsage(usage: Json | undefined): void {
    this.#usage = addUsage(this.#usage, usage)
  }

  /** The server tool calls of a round that the gateway must run. */
  pending(round: Round): ToolCall[] {
    this.addUsage(round.usage)
    const names = this.#names
    const calls = this.#isLast ? [] : callsOf(round.message).filter((call) => names.includes(call.function.name))
    this.#requested += calls.length
    return calls
  }

  /** The calls of a round that the client must run. Drops server tool calls after the last step. */
  foreign({ message }: Round): ToolCall[] {
    const names = this.#names
    return callsOf(message).filter((call) => !names.includes(call.function.name))
  }

  /** Runs these calls. The loop then continues, unless the round also calls client tools. */
  async runTools(round: Round, calls: readonly ToolCall[], signal: AbortSignal): Promise<ToolRunDetails> {
    const { job, deps } = this
    const all = callsOf(round.message)
    const finished = await runCalls(calls, {
      tools: job.prepared.tools,
      deps: { ...deps.tools(), signal },
      tally: this.#tally,
      chargeToolRun: toolCharger(job.prepared.chat, { ...job, meta: this.#roundOf(job.meta) }, deps),
    })
    // Before the guardrails, which may end the request: the runs are charged.
    this.#count(finished)
    const runs: Run[] = []
    for (const run of finished) runs.push(await this.#screened(run))
    for (const { outcome } of runs) this.annotations.push(...toAnnotations(outcome.citations))
    this.#toolRuns = runs.flatMap(({ free }) => (free ? [free] : []))
    const continues = all.length === calls.length
    this.detailOffset = nextIndex(round.message["reasoning_details"], 0) + this.detailOffset
    const scope = { round: this.#steps, isPending: !continues, contentLength: this.#lengthWith(round) }
    const details = runs.map((run) => toDetail(run, { ...scope, index: this.detailOffset++ }, job.emitsToolItems))
    this.#steps += 1
    this.#isLast = isOver(
      {
        steps: this.#steps,
        finishReason: round.finishReason,
        called: all.map((call) => call.function.name),
        costNano: costNanoOf(this.#usage) + this.#toolCostNano,
        tokens: tokensOf(this.#usage),
      },
      job.prepared.chat.stop_server_tools_when,
      job.maxSteps ?? MAX_STEPS,
    )
    this.#messages = [...this.#messages, toAssistant(round.message, calls), ...toResults(runs)]
    this.callFilter = new ToolCallFilter(this.#names, this.callFilter.count)
    return { details, continues }
  }

  /** A run with its result after the guardrails, so that its record contains only what the model reads. */
  async #screened(run: Run): Promise<Run> {
    const { prepared, screening, meta } = this.job
    const { content, item, citations, stages = [], blockError } = run.outcome
    this.#found.push(...stages)
    if (blockError) throw withScreeningStages(blockError, this.findings, prepared.chat, meta)
    const passed = await screenToolResult({ content, item, citations }, screening, prepared.chat, meta)
    return { ...run, outcome: { ...run.outcome, ...passed } }
  }

  /** Length of the content after this round; undefined if it is no offset into the content of the response. */
  #lengthWith({ message: { content } }: Round): number | undefined {
    const { prepared, emitsToolItems } = this.job
    if (typeof content === "string") this.#contentLength += content.length
    return emitsToolItems || prepared.heals || this.#contentLength === 0 ? undefined : this.#contentLength
  }

  #count(runs: readonly Run[]): void {
    for (const { outcome } of runs) {
      this.#executed += outcome.isError ? 0 : 1
      this.#searches += outcome.searches
      this.#toolCostNano += outcome.costNano
    }
  }

  /** Usage and cost of all rounds and tools, as reported to the client. */
  get total(): { usage: Json | undefined; costNano: number } {
    const costNano = costNanoOf(this.#usage) + this.#toolCostNano
    if (!this.#usage) return { usage: undefined, costNano }
    const usage: Json = { ...this.#usage, cost: costNano / 1e9 }
    if (this.#requested > 0) {
      usage["server_tool_use_details"] = {
        tool_calls_requested: this.#requested,
        tool_calls_executed: this.#executed,
        web_search_requests: this.#searches,
      }
    }
    return { usage, costNano }
  }

  /** Findings of each guardrail so far, in the request, the rounds and the tool calls. */
  get findings(): PipelineStage[] {
    return withFindings(this.job.screening?.stages() ?? [], this.#found)
  }

  /** The pipeline stage of the server tools; empty until one was called. */
  get stages(): PipelineStage[] {
    if (this.#requested === 0) return []
    const summary = `${this.#requested} calls in ${this.#steps} steps, ${this.#executed} of them answered`
    return [{ type: "server_tools", name: "server-tools", summary, cost_usd: this.#toolCostNano / 1e9 }]
  }
}

/** The assistant message for the next round: content, reasoning and the calls that were run. */
function toAssistant(message: Json, calls: readonly ToolCall[]): Json {
  const { content, reasoning, reasoning_details: details } = message
  const merged = mergeDetails(listOf(details))
  return {
    role: "assistant",
    content: content ?? null,
    ...(typeof reasoning === "string" && reasoning !== "" && { reasoning }),
    ...(merged.length > 0 && { reasoning_details: merged }),
    tool_calls: calls,
  }
}
