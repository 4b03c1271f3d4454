import { expect, test } from "vitest"
import { advance, finish, newEventState } from "../../../src/formats/messages/events.ts"
import { toMessagesResult } from "../../../src/formats/messages/from-chat.ts"
import { MessagesRequest } from "../../../src/formats/messages/schemas.ts"
import { toChatRequest } from "../../../src/formats/messages/to-chat.ts"
import { objectsOf } from "../../../src/support/text/json.ts"

const FACTS = { id: "m", model: "a/b", newId: () => "n" }
const SIGNED = { extra_content: { google: { thought_signature: "SIG" } } }
const callOf = (id: string, more: object = {}) => ({
  id,
  type: "function",
  function: { name: "f", arguments: "{}" },
  ...more,
})
const CALLS = [callOf("c1", SIGNED), callOf("c2")]

test("the signature of a tool call comes before it and returns to the provider with the next turn", () => {
  const choices = [{ index: 0, finish_reason: "tool_calls", message: { role: "assistant", tool_calls: CALLS } }]
  const { content } = toMessagesResult({ choices }, FACTS)
  expect(content.map(({ type }) => type)).toEqual(["redacted_thinking", "tool_use", "tool_use"])
  const request = MessagesRequest.parse({
    model: "a/b",
    max_tokens: 10,
    messages: [
      { role: "user", content: "Hi" },
      { role: "assistant", content },
      { role: "user", content: ["c1", "c2"].map((id) => ({ type: "tool_result", tool_use_id: id, content: "1" })) },
    ],
  })
  expect(toChatRequest(request).messages[1]).toEqual({ role: "assistant", content: null, tool_calls: CALLS })
})

test("a streamed call without an id gets the one that its signature names", () => {
  const { id: _, ...call } = callOf("", SIGNED)
  const delta = { tool_calls: [{ index: 0, ...call }] }
  const [advanced, first] = advance(newEventState(FACTS), { choices: [{ index: 0, delta, finish_reason: null }] })
  const [, last] = finish(advanced)
  const blocks = objectsOf([...first, ...last].map((event) => event["content_block"]))
  expect(blocks).toMatchObject([{ type: "redacted_thinking" }, { type: "tool_use", id: "toolu_n" }])
  expect(String(blocks[0]?.["data"])).toContain("toolu_n")
})
