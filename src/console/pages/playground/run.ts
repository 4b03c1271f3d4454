import type { Signal } from "@preact/signals"
import { api, ApiError, call } from "../../api/client.ts"
import { incompleteStreamError, readFrames } from "../../api/events.ts"
import type { Limit } from "../../api/types.ts"
import type { RoutingMetadata, Run, ToolCall, Usage } from "./types.ts"

/** A token is about four characters; the provider's count replaces the estimate. */
const CHARACTERS_PER_TOKEN = 4

export const estimateTokens = (characters: number) => Math.ceil(characters / CHARACTERS_PER_TOKEN)

export type Price = { prompt: number; completion: number }

export function newRun(model: string, fault: string | null, promptCharacters: number): Run {
  return {
    model,
    fault,
    status: "waiting",
    text: "",
    reasoning: "",
    toolCalls: [],
    startedAt: performance.now(),
    firstTokenMs: null,
    endMs: null,
    promptTokens: estimateTokens(promptCharacters),
    completionTokens: 0,
    isEstimated: true,
    cost: null,
    held: null,
    limits: [],
    finishReason: null,
    generationId: null,
    metadata: null,
    timing: [],
    error: null,
  }
}

type Chunk = {
  choices?: {
    delta?: {
      content?: string | null
      reasoning?: string | null
      tool_calls?: { index: number; id?: string; function?: { name?: string; arguments?: string } }[]
    }
    finish_reason?: string | null
  }[]
  usage?: Usage
  service_metadata?: RoutingMetadata
  error?: { code?: number; message: string }
}

type Job = { run: Signal<Run>; body: Record<string, unknown>; price: Price | null; abort: AbortSignal }

/** Renders streamed text 30 times per second, which leaves every second frame to the rest of the page. */
const SHOW_EVERY_MS = 30

/** Calls the model and streams the response. */
export async function stream({ run, body, price, abort }: Job): Promise<void> {
  const draft: Run = { ...run.value }
  let isScheduled = false
  let shownAt = 0
  const update = () => {
    run.value = { ...draft, cost: draft.cost ?? estimateCost(draft, price) }
  }
  const show = (at: number) => {
    if (at - shownAt < SHOW_EVERY_MS) {
      requestAnimationFrame(show)
      return
    }
    shownAt = at
    isScheduled = false
    update()
  }
  const changed = () => {
    if (isScheduled) return
    isScheduled = true
    requestAnimationFrame(show)
  }
  void estimateHold(body, abort).then((estimate) => {
    draft.held = estimate?.hold ?? null
    draft.limits = estimate?.limits ?? []
    changed()
  })
  try {
    const response = await call("/chat/completions", {
      method: "POST",
      body: { ...body, stream: true },
      headers: { "x-service-metadata": "enabled", "x-service-timing": "enabled" },
      signal: abort,
    })
    draft.generationId = response.headers.get("x-generation-id")
    draft.timing = parseTiming(response.headers.get("server-timing"))
    let isComplete = false
    for await (const { data } of readFrames(response)) {
      isComplete = data === "[DONE]"
      if (isComplete) break
      apply(draft, JSON.parse(data) as Chunk)
      changed()
    }
    if (!isComplete && !draft.error) throw incompleteStreamError()
    draft.status = draft.error ? "failed" : "done"
  } catch (thrown) {
    fail(draft, thrown, abort)
  }
  draft.endMs = performance.now() - draft.startedAt
  update()
}

type Estimate = { hold: number; limits: Limit[] }

/** The hold of such a call with the limits that it is under; null if the gateway cannot estimate it, such as for a model without endpoints. */
async function estimateHold(body: Record<string, unknown>, abort: AbortSignal): Promise<Estimate | null> {
  try {
    return (await api<{ data: Estimate }>("/estimate", { method: "POST", body, signal: abort })).data
  } catch {
    return null
  }
}

function fail(draft: Run, thrown: unknown, abort: AbortSignal): void {
  if (abort.aborted) {
    draft.status = "stopped"
    return
  }
  const { message, status, requestId } = ApiError.fromThrown(thrown)
  draft.status = "failed"
  draft.error = { message, status, requestId, isLate: draft.firstTokenMs !== null }
  if (thrown instanceof ApiError && thrown.routing) draft.metadata = thrown.routing as RoutingMetadata
}

function apply(draft: Run, chunk: Chunk): void {
  const choice = chunk.choices?.[0]
  const delta = choice?.delta
  if (delta?.content || delta?.reasoning || delta?.tool_calls) {
    draft.firstTokenMs ??= performance.now() - draft.startedAt
    draft.status = "streaming"
    draft.text += delta.content ?? ""
    draft.reasoning += delta.reasoning ?? ""
    for (const each of delta.tool_calls ?? []) draft.toolCalls = withToolCall(draft.toolCalls, each)
    if (draft.isEstimated) draft.completionTokens = estimateTokens(charactersOf(draft))
  }
  if (choice?.finish_reason) draft.finishReason = choice.finish_reason
  if (chunk.usage) {
    draft.promptTokens = chunk.usage.prompt_tokens
    draft.completionTokens = chunk.usage.completion_tokens
    draft.isEstimated = false
    draft.cost = chunk.usage.cost ?? null
  }
  if (chunk.service_metadata) draft.metadata = chunk.service_metadata
  if (chunk.error)
    draft.error = { message: chunk.error.message, status: chunk.error.code ?? 0, requestId: null, isLate: true }
}

function charactersOf({ text, reasoning, toolCalls }: Run): number {
  return text.length + reasoning.length + toolCalls.reduce((sum, each) => sum + each.arguments.length, 0)
}

type ToolDelta = { index: number; id?: string; function?: { name?: string; arguments?: string } }

function withToolCall(calls: readonly ToolCall[], { index, id, function: part }: ToolDelta): readonly ToolCall[] {
  const known = calls[index] ?? { id: "", name: "", arguments: "" }
  const next = [...calls]
  next[index] = {
    id: id ?? known.id,
    name: part?.name ?? known.name,
    arguments: known.arguments + (part?.arguments ?? ""),
  }
  return next
}

function estimateCost({ promptTokens, completionTokens }: Run, price: Price | null): number | null {
  return price && promptTokens * price.prompt + completionTokens * price.completion
}

/** `provider-1;dur=2;desc="Embedded"`: the phases of the response time. */
function parseTiming(header: string | null): Run["timing"] {
  return (header ?? "").split(",").flatMap((part) => {
    const [, name, ms] = /^\s*([\w-]+);dur=([\d.]+)/.exec(part) ?? []
    if (name === undefined) return []
    return [{ name, ms: Number(ms), description: /desc="([^"]*)"/.exec(part)?.[1] ?? null }]
  })
}
