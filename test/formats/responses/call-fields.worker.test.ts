import { afterEach, describe, expect, test } from "vitest"
import { encodeBlob } from "../../../src/formats/responses/opaque-blob.ts"
import { CALL_FIELDS } from "../../../src/formats/responses/call-fields.ts"
import { MessagesRequest } from "../../../src/formats/messages/schemas.ts"
import { toChatRequest as messagesToChat } from "../../../src/formats/messages/to-chat.ts"
import { toResponsesResult } from "../../../src/formats/responses/from-chat.ts"
import { ResponsesRequest } from "../../../src/formats/responses/schemas.ts"
import { toChatRequest } from "../../../src/formats/responses/to-chat.ts"
import { mockProvider } from "../../support/mock-provider.ts"
import { newWorkspace, expectJson } from "../../support/world.ts"
import { requestOf, callDelta, chunkOf, facts, finalOf, type Json, resultOf, eventsOf } from "./events-of.ts"
import { expectWellFormed } from "./well-formed.ts"

let stop = () => {}
afterEach(() => stop())

/** As Gemini's chat endpoint sends them; it rejects the call without the signature. */
const SIGNED = { extra_content: { google: { thought_signature: "TS==" } } }
const call = (id: string, more: Json = {}) => ({
  id,
  type: "function",
  function: { name: "f", arguments: `{"of":"${id}"}` },
  ...more,
})
const CALLS = [call("A", SIGNED), call("B"), call("C", { function: { name: "f", arguments: '{"of":"C"}', mark: 1 } })]

const kept = (item: Json) =>
  item["type"] === "reasoning"
    ? { type: item["type"], id: item["id"], summary: item["summary"], encrypted_content: item["encrypted_content"] }
    : item
const outputs = (ids: string[]) => ids.map((id) => ({ type: "function_call_output", call_id: id, output: "r" }))
const callsIn = (input: unknown[]) => {
  const { messages } = toChatRequest(ResponsesRequest.parse({ model: "m", input }))
  return (messages as Json[]).flatMap((message) => (message["tool_calls"] ?? []) as Json[])
}

describe("extra fields of a tool call on /responses", () => {
  test("come back on that call only", () => {
    const { output } = toResponsesResult(resultOf({ tool_calls: CALLS }, "tool_calls"), requestOf(), facts())
    const input = [{ role: "user", content: "Hi" }, ...output, ...outputs(["A", "B", "C"])]
    expect(callsIn(input)).toEqual(CALLS)
    expect(callsIn(input.map((item) => kept(item)))).toEqual(CALLS)
    const { messages } = toChatRequest(ResponsesRequest.parse({ model: "m", input }))
    expect((messages as Json[]).map(({ role }) => role)).toEqual(["user", "assistant", "tool", "tool", "tool"])
    expect(messages[1]).not.toHaveProperty("reasoning_details")
  })

  test("are sent in a stream, however late they arrive", () => {
    const events = eventsOf([
      callDelta({ index: 0, id: "A", function: { name: "f", arguments: '{"of":' } }),
      callDelta({ index: 0, function: { arguments: '"A"}' }, ...SIGNED }),
      callDelta({ index: 1, ...call("B") }),
      chunkOf({}, "tool_calls"),
    ])
    expectWellFormed(events)
    expect(callsIn([...finalOf(events).output, ...outputs(["A", "B"])])).toEqual(CALLS.slice(0, 2))
  })

  test("stay with the call that they arrived with, in any order of calls", () => {
    const named = (index: number) => ({ index, id: CALLS[index]?.id, function: { name: "f" } })
    const rest = (index: number) => ({ index, function: { arguments: CALLS[index]?.function.arguments } })
    const events = eventsOf([
      callDelta(named(1)),
      callDelta({ ...named(0), ...SIGNED }),
      callDelta(rest(1)),
      callDelta(rest(0)),
      chunkOf({}, "tool_calls"),
    ])
    expect(callsIn([...finalOf(events).output, ...outputs(["A", "B"])])).toEqual([CALLS[1], CALLS[0]])
  })

  test("go to the last call with their id, wherever its output is", () => {
    const { output } = toResponsesResult(resultOf({ tool_calls: [CALLS[0]] }, "tool_calls"), requestOf(), facts())
    const [item, reasoning] = output
    const again = callsIn([{ ...item }, ...outputs(["A"]), { ...item }, ...outputs(["A"]), { ...reasoning }])
    expect(again).toEqual([call("A"), CALLS[0]])
  })

  test("cannot override the call itself", () => {
    const fields = { id: "B", function: { name: "g", arguments: "{}" }, extra: 1 }
    const reasoning = encodeBlob({ type: CALL_FIELDS, tool_call_id: "A", fields })
    const input = [
      { type: "function_call", call_id: "A", name: "f", arguments: '{"of":"A"}' },
      { type: "reasoning", summary: [], encrypted_content: reasoning },
      {
        type: "reasoning",
        summary: [],
        encrypted_content: encodeBlob({ type: CALL_FIELDS, tool_call_id: "Z", fields: [] }),
      },
    ]
    expect(callsIn(input)).toEqual([call("A", { extra: 1 })])
  })
})

test("extra fields of a tool call come back on /messages", () => {
  const data = encodeBlob({ type: CALL_FIELDS, tool_call_id: "A", fields: SIGNED })
  const content = [
    { type: "tool_use", id: "A", name: "f", input: { of: "A" } },
    { type: "redacted_thinking", data },
  ]
  const request = { model: "m", max_tokens: 9, messages: [{ role: "assistant", content }] }
  const [message] = messagesToChat(MessagesRequest.parse(request)).messages
  expect(message).toEqual({ role: "assistant", content: null, tool_calls: [call("A", SIGNED)] })
})

test("a tool call that the gateway ran is replayed with its extra fields", async () => {
  const { as } = await newWorkspace()
  const datetime = { ...call("A", SIGNED), function: { name: "datetime", arguments: "{}" } }
  const toResponse = (message: Json, finish = "stop") =>
    Response.json({ choices: [{ index: 0, message: { role: "assistant", ...message }, finish_reason: finish }] })
  const provider = mockProvider(({ body }) =>
    JSON.stringify(body["messages"]).includes('"tool"')
      ? toResponse({ content: "Late." })
      : toResponse({ content: null, tool_calls: [datetime] }, "tool_calls"),
  )
  ;({ stop } = provider)
  const body = { model: "played/m1", tools: [{ type: "openrouter:datetime" }] }
  const { output } = await expectJson<{ output: Json[] }>(200, as.post("/responses", { ...body, input: "Hi" }))
  const input = [{ role: "user", content: "Hi" }, ...output, { role: "user", content: "And now?" }]
  await expectJson(200, as.post("/responses", { ...body, input }))
  const messages = provider.upstreamCalls.map(({ body }) => body["messages"] as Json[])
  expect(messages).toHaveLength(3)
  for (const [, turn] of messages.slice(1)) expect(turn?.["tool_calls"]).toEqual([datetime])
})
