import { isObject, type Json, parseJson } from "../../support/text/json.ts"
import type { ModelMessage } from "./call-model.ts"
import type { ToolCall } from "./tools.ts"

type Update = Record<string, unknown>

/** Messages of a session as updates, for a client that loads it. */
export function replayOf(history: readonly ModelMessage[]): Update[] {
  return history.flatMap(({ role, content, tool_calls: calls = [], tool_call_id: call }): Update[] => {
    if (role === "tool") return [{ sessionUpdate: "tool_call_update", toolCallId: call, status: "completed" }]
    const kind = role === "user" ? "user_message_chunk" : "agent_message_chunk"
    const message = content === null || content === "" ? [] : [{ sessionUpdate: kind, content: textBlock(content) }]
    const started = calls.map((toolCall) => {
      const {
        id,
        function: { name },
      } = toolCall
      return {
        sessionUpdate: "tool_call",
        toolCallId: id,
        title: name,
        status: "in_progress",
        rawInput: inputOf(toolCall),
      }
    })
    return [...message, ...started]
  })
}

/** The arguments of a call, if they are valid. */
export function inputOf({ function: { arguments: json } }: ToolCall): Json {
  const input = parseJson(json)
  return isObject(input) ? input : {}
}

const textBlock = (text: string) => ({ type: "text", text })
