import { describe, expect, test } from "vitest"
import { checkEvent } from "../../src/inference/realtime/events/client-events.ts"
import type { Json } from "../../src/support/text/json.ts"

const NAMES = { upstreamId: "up" }
const IMAGE = { type: "input_image", image_url: "data:," }
const MCP = { type: "mcp", server_label: "x", server_url: "https://example.com" }
const create = (item: Json) => ({ type: "conversation.item.create", item })
const respond = (response: Json) => ({ type: "response.create", response })
const update = (session: Json) => ({ type: "session.update", session })

describe("a setting that the gateway cannot read, but a provider may", () => {
  test.each([
    ["tools as one object", update({ tools: MCP })],
    ["tools that are no objects", update({ tools: ["mcp"] })],
    ["a tool beside functions", respond({ tools: [{ type: "function", name: "f" }, MCP] })],
    ["audio as a list", update({ audio: [{ input: { transcription: { model: "w" } } }] })],
    ["input as a list", update({ audio: { input: [{ transcription: { model: "w" } }] } })],
    ["a transcription as a name", update({ audio: { input: { transcription: "w" } } })],
    ["a transcription of the beta as a name", update({ input_audio_transcription: "w" })],
    ["content as one object", create({ type: "message", role: "user", content: IMAGE })],
    ["content in a list of lists", create({ type: "message", role: "user", content: [[IMAGE]] })],
    ["a type as a list", create({ type: ["message"], role: "user", content: [] })],
    ["a type of a part as a list", create({ type: "message", content: [{ ...IMAGE, type: ["input_text"] }] })],
    ["an output with an image", create({ type: "function_call_output", call_id: "c", output: [IMAGE] })],
    ["input of a response as one object", respond({ input: { type: "message", content: [IMAGE] } })],
    ["input of a response that is no object", respond({ input: ["message"] })],
  ])("is rejected: %s", (_, event) => {
    expect(checkEvent(event, NAMES)).toMatchObject({ error: { type: "invalid_request_error" } })
  })

  test("such as another model for one response, is removed", () => {
    const checked = checkEvent(respond({ model: "gpt-expensive", instructions: "Be brief." }), NAMES)
    expect(checked).toEqual({ event: respond({ instructions: "Be brief." }) })
  })
})

test.each([
  create({ type: "message", role: "user", content: [{ type: "input_text", text: "Hello" }] }),
  create({ type: "function_call_output", call_id: "c", output: "{}" }),
  create({ type: "item_reference", id: "i" }),
  respond({ input: [], tools: [{ type: "function", name: "f" }], output_modalities: ["text"] }),
  { type: "response.create" },
  update({ audio: { input: { turn_detection: null }, output: { voice: "v" } }, tools: [] }),
])("an event of a client library is forwarded: %j", (event) => {
  expect(checkEvent(event, NAMES)).toEqual({ event })
})
