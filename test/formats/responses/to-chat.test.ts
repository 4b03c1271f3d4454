import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { toResponsesResult } from "../../../src/formats/responses/from-chat.ts"
import { toChatRequest } from "../../../src/formats/responses/to-chat.ts"
import { requestOf, facts, type Json, resultOf } from "./events-of.ts"

describe("request fields translated to chat", () => {
  const parameters = { type: "object", properties: {} }
  const cases: [string, Json, Json][] = [
    ["the limit on the output", { max_output_tokens: 7 }, { max_tokens: 7 }],
    ["no format, which is text", { text: { format: { type: "text" } } }, {}],
    ["a JSON object", { text: { format: { type: "json_object" } } }, { response_format: { type: "json_object" } }],
    [
      "a JSON schema",
      { text: { format: { type: "json_schema", name: "n", schema: parameters, strict: true, description: null } } },
      { response_format: { type: "json_schema", json_schema: { name: "n", schema: parameters, strict: true } } },
    ],
    ["verbosity", { text: { verbosity: "low" } }, { verbosity: "low" }],
    [
      "reasoning, unchanged",
      { reasoning: { effort: "high", summary: "auto", enabled: true, max_tokens: 100, mode: null } },
      { reasoning: { effort: "high", summary: "auto", enabled: true, max_tokens: 100 } },
    ],
    [
      "tools",
      {
        tools: [
          { type: "function", name: "f", description: "d", parameters, strict: true, defer_loading: true },
          { type: "function", name: "g", description: null, parameters: null },
          { type: "mcp", server_label: "s" },
        ],
      },
      {
        tools: [
          { type: "function", function: { name: "f", description: "d", parameters, strict: true } },
          { type: "function", function: { name: "g" } },
          { type: "mcp", server_label: "s" },
        ],
      },
    ],
    ["a tool choice as a string", { tool_choice: "required" }, { tool_choice: "required" }],
    [
      "a named function",
      { tool_choice: { type: "function", name: "f" } },
      { tool_choice: { type: "function", function: { name: "f" } } },
    ],
    [
      "allowed tools",
      { tool_choice: { type: "allowed_tools", mode: "auto", tools: [{ type: "function", name: "f" }] } },
      {
        tool_choice: {
          type: "allowed_tools",
          allowed_tools: { mode: "auto", tools: [{ type: "function", function: { name: "f" } }] },
        },
      },
    ],
    ["logprobs", { top_logprobs: 2 }, { logprobs: true, top_logprobs: 2 }],
    ["logprobs in include", { include: ["message.output_text.logprobs"] }, { logprobs: true }],
    ["the user's id", { safety_identifier: "p" }, { user: "p" }],
    ["the user's id, from two fields", { safety_identifier: "p", user: "u" }, { user: "u" }],
    [
      "fields that both formats share",
      { temperature: 1, top_p: 0.5, seed: 7, metadata: { a: "b" }, provider: { only: ["x"] }, session_id: "s" },
      { temperature: 1, top_p: 0.5, seed: 7, metadata: { a: "b" }, provider: { only: ["x"] }, session_id: "s" },
    ],
    ["unknown fields", { unheard_of: [1] }, { unheard_of: [1] }],
    [
      "no fields of the Responses format only",
      {
        store: false,
        background: true,
        previous_response_id: null,
        prompt: null,
        truncation: "auto",
        include: ["reasoning.encrypted_content"],
        max_tool_calls: 3,
        stream_options: { include_obfuscation: false },
      },
      {},
    ],
  ]
  test.each(cases)("%s", (_, fields, expected) => {
    const { messages: __, model: ___, stream: ____, ...rest } = toChatRequest(requestOf(fields))
    expect(rest).toEqual(expected)
  })

  test("keep stream", () => {
    expect(toChatRequest(requestOf({ stream: true })).stream).toBe(true)
  })
})

const word = fc.string({ minLength: 1, maxLength: 6 })
const id = fc.option(fc.constantFrom("rs_a", "rs_b", "rs_c"), { nil: undefined })
const format = fc.option(fc.constantFrom("anthropic-claude-v1", "google-gemini-v1"), { nil: undefined })
const detail = fc.oneof(
  fc.record({
    type: fc.constant("reasoning.text"),
    text: word,
    signature: fc.option(word, { nil: undefined }),
    id,
    format,
  }),
  fc.record({ type: fc.constant("reasoning.summary"), summary: word, id, format }),
  fc.record({ type: fc.constant("reasoning.encrypted"), data: word, id, format }),
  fc.record({ type: fc.constant("reasoning.server_tool_call"), tool_name: word, arguments: word, result: word }),
)

test("reasoning details come back unchanged", () => {
  fc.assert(
    fc.property(fc.array(detail, { maxLength: 6 }), (details) => {
      const message = { content: "Yes.", reasoning_details: details }
      const { output: items } = toResponsesResult(resultOf(message), requestOf(), facts())
      const [answer] = toChatRequest(requestOf({ input: JSON.parse(JSON.stringify(items)) as unknown })).messages
      const returned = (answer as { reasoning_details?: Json[] }).reasoning_details ?? []
      expect(returned).toHaveLength(details.length)
      // An id or format applies to the complete item, so it may come back on a detail that lacked it.
      details.forEach((one, at) => expect(returned[at]).toMatchObject(JSON.parse(JSON.stringify(one)) as Json))
    }),
  )
})
