import { isObject } from "../chat/reading.ts"
import type { ChatRequest } from "../schemas.ts"

type Json = Record<string, unknown>

export const SERVER_TOOL_DETAIL = "reasoning.server_tool_call"

/**
 * Runs of server tools that earlier answers of the conversation carry, as the calls and results they were; only those of
 * tools that the request still has, since providers refuse a call of a tool they are not told of.
 */
export function replayServerTools(
  messages: ChatRequest["messages"],
  names: ReadonlySet<string>,
): ChatRequest["messages"] {
  return messages.flatMap((message) => {
    if (message.role !== "assistant" || !message.reasoning_details) return [message]
    const details = message.reasoning_details as Json[]
    const runs = details.filter(({ type }) => type === SERVER_TOOL_DETAIL)
    if (runs.length === 0) return [message]
    const rest = details.filter(({ type }) => type !== SERVER_TOOL_DETAIL)
    const { reasoning_details: _, ...plain } = message
    const spoken = rest.length > 0 ? { ...plain, reasoning_details: rest } : plain
    return [...toTurn(runs, names), spoken] as ChatRequest["messages"]
  })
}

function toTurn(runs: readonly Json[], names: ReadonlySet<string>): Json[] {
  const known = runs.flatMap((run, index) => {
    const name = typeof run["tool_name"] === "string" ? run["tool_name"] : ""
    if (!names.has(name)) return []
    const id = typeof run["tool_call_id"] === "string" ? run["tool_call_id"] : `call_${index}`
    return [{ id, name, args: textOf(run["arguments"]), result: textOf(run["result"]) }]
  })
  if (known.length === 0) return []
  const calls = known.map(({ id, name, args }) => ({
    id,
    type: "function",
    function: { name, arguments: args || "{}" },
  }))
  const results = known.map(({ id, result }) => ({ role: "tool", tool_call_id: id, content: result }))
  return [{ role: "assistant", content: null, tool_calls: calls }, ...results]
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value
  return isObject(value) ? JSON.stringify(value) : ""
}
