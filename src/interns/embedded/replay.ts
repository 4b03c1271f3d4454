import type { ModelMessage } from "./call-model.ts"

type Update = Record<string, unknown>

/** Messages of a session as updates, for a client that loads it. */
export function replayOf(history: readonly ModelMessage[]): Update[] {
  return history.flatMap(({ role, content, tool_calls: calls = [], tool_call_id: call }): Update[] => {
    if (role === "tool") return [{ sessionUpdate: "tool_call_update", toolCallId: call, status: "completed" }]
    const kind = role === "user" ? "user_message_chunk" : "agent_message_chunk"
    const message = content === null || content === "" ? [] : [{ sessionUpdate: kind, content: textBlock(content) }]
    const started = calls.map(({ id, function: { name } }) => {
      return { sessionUpdate: "tool_call", toolCallId: id, title: name, status: "in_progress" }
    })
    return [...message, ...started]
  })
}

const textBlock = (text: string) => ({ type: "text", text })
