import { record } from "../run/acp/acp-values.ts"
import type { ModelUsage } from "../run/acp/acp.ts"
import { addModels } from "../run/transcript.ts"
import type { CountedCall, ModelMessage } from "./call-model.ts"
import type { Turn } from "./memory.ts"
import type { ToolCall } from "./tools.ts"

/** Tool calls of the last assistant message without a result. */
export function openCalls(history: readonly ModelMessage[]): ToolCall[] {
  const at = history.findLastIndex(({ role }) => role === "assistant")
  const messages = history.slice(at + 1)
  if (at === -1 || messages.some(({ role }) => role === "user")) return []
  const done = new Set(messages.map(({ tool_call_id: id }) => id))
  return (history[at]?.tool_calls ?? []).filter(({ id }) => !done.has(id))
}

export function textOf(prompt: unknown): string {
  const blocks = Array.isArray(prompt) ? (prompt as unknown[]) : []
  const texts = blocks.map((block) => record(block)["text"]).filter((text) => typeof text === "string")
  return texts.join("\n")
}

/** Usage of one call, as counted and charged by the gateway. */
function modelUsageOf({ model, usage }: CountedCall): ModelUsage {
  const { prompt, cached, completion, cost } = usage
  return {
    model: model ?? "unknown",
    calls: 1,
    prompt_tokens: prompt,
    completion_tokens: completion,
    ...(cached > 0 && { cached_tokens: cached }),
    cost,
  }
}

/** The turn after another model call. */
export function withCall(turn: Turn, call: CountedCall): Turn {
  const models = addModels(turn.models ?? [], [modelUsageOf(call)])
  return { ...turn, usage: sum(turn.usage, call.usage), models, rounds: turn.rounds + 1, model: call.model }
}

function sum(a: Turn["usage"], b: Turn["usage"]): Turn["usage"] {
  return {
    prompt: a.prompt + b.prompt,
    cached: a.cached + b.cached,
    completion: a.completion + b.completion,
    cost: a.cost + b.cost,
  }
}
