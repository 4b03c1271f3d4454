import { describe, expect, test } from "vitest"
import * as z from "zod"
import { explain } from "../../../src/http/schema.ts"
import { ResponsesRequest } from "../../../src/formats/responses/schemas.ts"

function errorFor(fields: Record<string, unknown>): string {
  const parsed = ResponsesRequest.safeParse({ model: "m", input: "Hi", ...fields })
  return parsed.success ? "" : explain(parsed.error)
}

test("what OpenAI's clients include by themselves is accepted", () => {
  const include = ["reasoning.encrypted_content", "web_search_call.action.sources", "message.output_text.logprobs"]
  expect(errorFor({ include })).toBe("")
})

describe("a field outside its range is rejected with what is accepted", () => {
  const cases: [Record<string, unknown>, string][] = [
    [{ input: undefined }, "input: must be a string or an array of input items"],
    [{ input: [] }, "input: must have at least 1 item"],
    [{ input: [{ type: "reasoning", summary: [] }] }, "input: must have an item besides reasoning and server tools"],
    [
      { input: [{ type: "web_search_call", id: "ws_1" }] },
      "input: must have an item besides reasoning and server tools",
    ],
    [{ input: ["Hi"] }, "input[0]: must be an item"],
    [{ input: [{}] }, "input[0].role: must have a role"],
    [{ input: [{ role: "robot", content: "Hi" }] }, "input[0].role: must have a role"],
    [{ input: [{ role: "user" }] }, "input[0].content: must be a string or an array"],
    [
      { input: [{ role: "user", content: [{ type: "text", text: "Hi" }] }] },
      "input[0].content[0].type: must have a type",
    ],
    [
      { input: [{ role: "user", content: [{ type: "input_image" }] }] },
      "input[0].content[0]: needs image_url or file_id",
    ],
    [{ input: [{ role: "user", content: [{ type: "input_file" }] }] }, "input[0].content[0]: needs file_data"],
    [
      { input: [{ role: "system", content: [{ type: "input_image", image_url: "x" }] }] },
      "input[0].content[0].type: must have a type: input_text",
    ],
    [{ input: [{ type: "function_call", name: "f", arguments: "{}" }] }, "input[0].call_id: must be a string"],
    [{ input: [{ type: "function_call_output", call_id: "c" }] }, "input[0].output"],
    [{ input: [{ type: "reasoning", summary: [{ type: "x" }] }] }, "input[0].summary[0].type"],
    [{ max_output_tokens: 0 }, "max_output_tokens: must be an integer of at least 1"],
    [{ max_tool_calls: 31 }, "max_tool_calls: must be an integer from 1 to 30"],
    [{ metadata: { "a[0]": "x" } }, "metadata: keys must have no brackets"],
    [{ metadata: { ["k".repeat(65)]: "v" } }, "metadata"],
    [{ metadata: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`k${at}`, "v"])) }, "at most 16 pairs"],
    [{ modalities: ["audio"] }, "modalities[0]: accepts text or image"],
    [{ reasoning: { effort: "heroic" } }, "reasoning.effort: accepts max"],
    [{ reasoning: { summary: "long" } }, "reasoning.summary: accepts auto"],
    [{ text: { format: { type: "xml" } } }, "text.format.type: must have a type: text"],
    [{ text: { format: { type: "json_schema", name: "n" } } }, "text.format.schema: must be a JSON schema object"],
    [{ text: { verbosity: "loud" } }, "text.verbosity: accepts low"],
    [{ tools: [{ type: "function", function: { name: "f" } }] }, "tools[0].name"],
    [{ tools: [{ type: "function", name: "not a name" }] }, "tools[0].name: must be 1 to 64"],
    [{ tool_choice: "perhaps" }, 'tool_choice: accepts "none"'],
    [{ tool_choice: { type: "function" } }, "tool_choice.name"],
    [{ temperature: 2.1 }, "temperature: must be from 0 to 2"],
    [{ top_p: 1.1 }, "top_p: must be from 0 to 1"],
    [{ top_logprobs: 21 }, "top_logprobs: must be an integer from 0 to 20"],
    [{ truncation: "maybe" }, "truncation: accepts auto, disabled"],
    [{ include: ["everything"] }, "include[0]: accepts file_search_call.results"],
    [{ store: true }, "store: accepts false or null"],
    [{ background: "yes" }, "background: must be true or false"],
    [{ previous_response_id: "resp_1" }, "send the full conversation in input"],
    [{ prompt: { id: "p" } }, "prompt: is not supported"],
    [{ session_id: "s".repeat(257) }, "session_id: must be at most 256 characters"],
    [{ user: "u".repeat(257) }, "user: must be at most 256 characters"],
    [{ service_tier: "gold" }, "service_tier: accepts auto"],
    [{ provider: { sort: "beauty" } }, "provider.sort"],
    [{ plugins: [{ id: "unheard-of" }] }, "plugins[0].id"],
    [{ route: "scenic" }, "route"],
    [{ stop_server_tools_when: [] }, "stop_server_tools_when: must have at least 1 condition"],
    [{ stream: "yes" }, "stream: must be true or false"],
    [{ messages: [{ role: "user", content: "Hi" }] }, "messages: is a field of /chat/completions"],
    [{ n: 2 }, "n: must be 1"],
    [{ seed: "x" }, "seed: must be an integer from -9007199254740991 to 9007199254740991"],
    [{ max_tokens: "many" }, "max_tokens"],
    [{ debug: { echo_upstream_body: true } }, "debug: requires stream: true"],
  ]
  test.each(cases)("%j", (fields, message) => {
    expect(errorFor(fields)).toContain(message)
  })
})

test.each([
  { previous_response_id: null, prompt: null, store: false, background: false, metadata: null, tools: null },
  { input: [{ role: "user", content: "Hi" }], unheard_of: { kept: true } },
  { input: [{ type: "item_reference", id: "x" }], tools: [{ type: "mcp", server_label: "s" }] },
  { service_tier: "auto", store: false, stream: false, tool_choice: { type: "web_search_preview" } },
])("%j is accepted", (fields) => {
  expect(errorFor(fields)).toBe("")
})

test("unknown fields are kept", () => {
  expect(ResponsesRequest.parse({ model: "m", input: "Hi", unheard_of: 7 })["unheard_of"]).toBe(7)
})

test("the request schema converts to JSON schema", () => {
  expect(JSON.stringify(z.toJSONSchema(ResponsesRequest, { io: "input" }))).toContain('"previous_response_id"')
})
