import { isInteger, isObject, type Json, listOf, objectsOf } from "../../../support/text/json.ts"
import { isMessage, normalizeMessage } from "../native/message.ts"
import { advance, newMessagesReading, type ReadingFacts, toChatError } from "./meter.ts"

/**
 * Converts a Messages document to a chat completion through the stream reader, so that documents and streams give the
 * same result.
 */
export function toChatResult(reported: Json, facts: ReadingFacts = {}): Json {
  if (reported["type"] === "error" || (!("content" in reported) && isObject(reported["error"]))) {
    return { error: toChatError(reported["error"]) }
  }
  const normal = isMessage(reported) ? normalizeMessage(reported) : reported
  // Clients of the chat format get the provider's stop reason too.
  const message: Json = { ...normal, stop_reason: reported["stop_reason"] ?? normal["stop_reason"] }
  const { content, usage, ...head } = message
  const blocks = objectsOf(content)
  const events = [
    { type: "message_start", message: head },
    ...blocks.flatMap((block, index) => [
      { type: "content_block_start", index, content_block: block },
      { type: "content_block_stop", index },
    ]),
    { type: "message_delta", delta: head, usage },
    { type: "message_stop" },
  ]
  let state = newMessagesReading(facts)
  const result: Json = {}
  const choice: Json = { index: 0, finish_reason: null }
  const assistant: Json = { role: "assistant", content: null }
  for (const event of events) {
    const [next, chunks] = advance(state, event)
    state = next
    for (const { choices, ...fields } of chunks) {
      Object.assign(result, fields)
      const [first] = objectsOf(choices)
      const { delta, ...rest } = first ?? {}
      Object.assign(choice, rest)
      if (isObject(delta)) merge(assistant, delta)
    }
  }
  return { ...result, object: "chat.completion", choices: [{ ...choice, message: assistant }] }
}

function merge(assistant: Json, delta: Json): void {
  const { content, reasoning, tool_calls: calls, role: _, ...lists } = delta
  for (const [key, text] of Object.entries({ content, reasoning })) {
    if (typeof text === "string" && text !== "") assistant[key] = textOf(assistant[key]) + text
  }
  for (const [key, list] of Object.entries(lists)) assistant[key] = [...listOf(assistant[key]), ...listOf(list)]
  for (const call of objectsOf(calls)) mergeCall(assistant, call)
}

function mergeCall(assistant: Json, { index, function: piece, ...rest }: Json): void {
  const calls = objectsOf(assistant["tool_calls"])
  const fn = isObject(piece) ? piece : {}
  const at = isInteger(index) ? index : calls.length
  const previous = calls[at]
  const before = isObject(previous?.["function"]) ? previous["function"] : {}
  const extended = {
    ...previous,
    ...rest,
    function: { ...before, ...fn, arguments: textOf(before["arguments"]) + textOf(fn["arguments"]) },
  }
  assistant["tool_calls"] = previous ? calls.with(at, extended) : [...calls, extended]
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : ""
}
