import { listOf } from "../../chat/meter.ts"
import { isObject, type Json } from "../../../support/json.ts"
import { advance, newMessagesReading, type ReadingFacts, toChatError } from "./meter.ts"

/**
 * A whole message as a chat completion: what its stream would have said, by the same machine, so that an answer is the
 * same however it was asked for.
 */
export function toChatResult(message: Json, facts: ReadingFacts = {}): Json {
  if (message["type"] === "error" || (!("content" in message) && isObject(message["error"]))) {
    return { error: toChatError(message["error"]) }
  }
  const { content, usage, ...head } = message
  const blocks = Array.isArray(content) ? (content as unknown[]).filter(isObject) : []
  const events = [
    { type: "message_start", message: { ...head, usage } },
    ...blocks.flatMap((block, index) => [
      { type: "content_block_start", index, content_block: block },
      { type: "content_block_stop", index },
    ]),
    { type: "message_delta", delta: head },
    { type: "message_stop" },
  ]
  let state = newMessagesReading(facts)
  const result: Json = {}
  const choice: Json = { index: 0, finish_reason: null }
  const spoken: Json = { role: "assistant", content: null }
  for (const event of events) {
    const [next, chunks] = advance(state, event)
    state = next
    for (const { choices, ...fields } of chunks) {
      Object.assign(result, fields)
      const [first] = choices as Json[]
      const { delta, ...rest } = first ?? {}
      Object.assign(choice, rest)
      if (isObject(delta)) merge(spoken, delta)
    }
  }
  return { ...result, object: "chat.completion", choices: [{ ...choice, message: spoken }] }
}

function merge(spoken: Json, delta: Json): void {
  const { content, reasoning, tool_calls: calls, role: _, ...lists } = delta
  for (const [key, text] of Object.entries({ content, reasoning })) {
    if (typeof text === "string" && text !== "") spoken[key] = textOf(spoken[key]) + text
  }
  for (const [key, list] of Object.entries(lists)) spoken[key] = [...listOf(spoken[key]), ...listOf(list)]
  for (const call of listOf(calls) as Json[]) mergeCall(spoken, call)
}

function mergeCall(spoken: Json, { index, function: piece, ...rest }: Json): void {
  const calls = listOf(spoken["tool_calls"]) as Json[]
  const called = piece as { name?: string; arguments: string }
  const known = calls[index as number]
  const before = known?.["function"] as typeof called | undefined
  const grown = {
    ...known,
    ...rest,
    function: { ...before, ...called, arguments: (before?.arguments ?? "") + called.arguments },
  }
  spoken["tool_calls"] = known ? calls.with(index as number, grown) : [...calls, grown]
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : ""
}
