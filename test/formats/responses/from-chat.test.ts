import { describe, expect, test } from "vitest"
import { encodeBlob } from "../../../src/formats/responses/opaque-blob.ts"
import { toResponsesResult } from "../../../src/formats/responses/from-chat.ts"
import { ResponsesResult } from "../../../src/formats/responses/schemas.ts"
import { requestOf, facts, type Json, resultOf, USAGE } from "./events-of.ts"

function answered(message: Json, finishReason = "stop", further: Json = {}, request = requestOf()): ResponsesResult {
  return ResponsesResult.parse(toResponsesResult(resultOf(message, finishReason, further), request, facts()))
}

const message = (content: Json[], status = "completed", id = "msg_1") => ({
  type: "message",
  id,
  status,
  role: "assistant",
  content,
})
const text = (value: string) => ({ type: "output_text", text: value, annotations: [], logprobs: [] })

test("a response has every key that clients require", () => {
  expect(answered({ content: "Hi." }, "stop", { usage: USAGE, service_tier: "default" })).toEqual({
    id: "resp_1",
    object: "response",
    created_at: 1_700_000_000,
    completed_at: 1_700_000_005,
    status: "completed",
    model: "maker/model",
    output: [message([text("Hi.")])],
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    max_tool_calls: null,
    metadata: {},
    parallel_tool_calls: true,
    previous_response_id: null,
    prompt_cache_key: null,
    reasoning: null,
    safety_identifier: null,
    store: false,
    background: false,
    temperature: 1,
    text: { format: { type: "text" } },
    tool_choice: "auto",
    tools: [],
    top_logprobs: 0,
    top_p: 1,
    frequency_penalty: 0,
    presence_penalty: 0,
    truncation: "disabled",
    user: null,
    service_tier: "default",
    usage: {
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 2 },
      total_tokens: 15,
      cost: 0.25,
    },
  })
})

test("a response repeats the parameters of the request", () => {
  const fields = {
    instructions: "Be brief.",
    max_output_tokens: 7,
    metadata: { a: "b" },
    parallel_tool_calls: false,
    reasoning: { effort: "low" },
    temperature: 1,
    text: { format: { type: "json_object" }, verbosity: "low" },
    tool_choice: { type: "function", name: "f" },
    tools: [{ type: "function", name: "f", parameters: null, strict: null }],
    top_p: 0.5,
    truncation: "auto",
    user: "u",
  }
  expect(answered({ content: "Hi." }, "stop", {}, requestOf(fields))).toMatchObject(fields)
})

describe("output", () => {
  const cases: [string, Json, Json[]][] = [
    ["nothing", { content: "" }, []],
    ["a refusal", { content: null, refusal: "No." }, [message([{ type: "refusal", refusal: "No." }])]],
    [
      "a text and a refusal",
      { content: "Well.", refusal: "No." },
      [message([text("Well."), { type: "refusal", refusal: "No." }])],
    ],
    [
      "text parts",
      {
        content: [
          { type: "text", text: "A" },
          { type: "text", text: "B" },
        ],
      },
      [message([text("AB")])],
    ],
    [
      "plain reasoning, then text, then tool calls",
      {
        reasoning: "Hm.",
        content: "So.",
        tool_calls: [
          { id: "a", type: "function", function: { name: "f", arguments: "{}" } },
          { id: "b", type: "function", function: { name: "g", arguments: "" } },
        ],
      },
      [
        {
          type: "reasoning",
          id: "rs_gw_1",
          status: "completed",
          summary: [],
          content: [{ type: "reasoning_text", text: "Hm." }],
        },
        message([text("So.")], "completed", "msg_2"),
        { type: "function_call", id: "fc_3", status: "completed", call_id: "a", name: "f", arguments: "{}" },
        { type: "function_call", id: "fc_4", status: "completed", call_id: "b", name: "g", arguments: "{}" },
      ],
    ],
    [
      "the same reasoning in two fields",
      {
        content: "So.",
        reasoning: "Hm.",
        reasoning_details: [{ type: "reasoning.text", text: "Hm.", signature: "s", format: "anthropic-claude-v1" }],
      },
      [
        {
          type: "reasoning",
          id: "rs_gw_1",
          status: "completed",
          summary: [],
          content: [{ type: "reasoning_text", text: "Hm." }],
          encrypted_content: encodeBlob({
            type: "reasoning.text",
            text: "Hm.",
            format: "anthropic-claude-v1",
            signature: "s",
          }),
          signature: "s",
          format: "anthropic-claude-v1",
        },
        message([text("So.")], "completed", "msg_2"),
      ],
    ],
    [
      "summaries with their encrypted content",
      {
        content: "So.",
        reasoning_details: [
          { type: "reasoning.summary", summary: "A", id: "rs_x" },
          { type: "reasoning.summary", summary: "B", id: "rs_x" },
          { type: "reasoning.encrypted", data: "sealed", id: "rs_x", format: "openai-responses-v1" },
        ],
      },
      [
        {
          type: "reasoning",
          id: "rs_x",
          status: "completed",
          summary: [
            { type: "summary_text", text: "A" },
            { type: "summary_text", text: "B" },
          ],
          encrypted_content: "sealed",
          format: "openai-responses-v1",
        },
        message([text("So.")]),
      ],
    ],
    [
      "calls without an id, or with the same",
      {
        content: null,
        tool_calls: [
          { id: "a", function: { name: "f", arguments: "{}" } },
          { id: "a", function: { name: "f", arguments: "{}" } },
          { id: "", function: { name: "f", arguments: { b: 1 } } },
        ],
      },
      [
        { type: "function_call", id: "fc_1", status: "completed", call_id: "a", name: "f", arguments: "{}" },
        { type: "function_call", id: "fc_2", status: "completed", call_id: "call_3", name: "f", arguments: "{}" },
        { type: "function_call", id: "fc_4", status: "completed", call_id: "call_5", name: "f", arguments: '{"b":1}' },
      ],
    ],
    [
      "a picture",
      { content: "See.", images: [{ type: "image_url", image_url: { url: "data:image/png;base64,AA==" } }] },
      [message([text("See.")]), { type: "image_generation_call", id: "ig_2", status: "completed", result: "AA==" }],
    ],
  ]
  test.each(cases)("%s", (_, input, output) => {
    expect(answered(input).output).toEqual(output)
  })

  test("has logprobs with the bytes that clients require", () => {
    const result = resultOf({ content: "é" })
    const choice = (result["choices"] as Json[])[0] as Json
    choice["logprobs"] = { content: [{ token: "é", logprob: -1, bytes: null }] }
    const { output } = toResponsesResult(result, requestOf(), facts())
    const logprobs = [{ token: "é", logprob: -1, bytes: [195, 169], top_logprobs: [] }]
    expect(output).toEqual([message([{ ...text("é"), logprobs }])])
  })
})

describe("the status of a response", () => {
  test.each([
    ["stop", "completed", null, 1_700_000_005],
    ["tool_calls", "completed", null, 1_700_000_005],
    ["length", "incomplete", { reason: "max_output_tokens" }, null],
    ["content_filter", "incomplete", { reason: "content_filter" }, null],
  ])("%s: %s", (finishReason, status, details, completedAt) => {
    const result = answered({ content: "Half" }, finishReason)
    expect(result).toMatchObject({ status, incomplete_details: details, completed_at: completedAt, error: null })
    expect(result.output[0]).toMatchObject({ status })
  })

  test("marks only the last item as cut by a limit", () => {
    const { output } = answered(
      { reasoning: "Hm.", content: "So.", tool_calls: [{ id: "a", function: { name: "f", arguments: "{" } }] },
      "length",
    )
    expect(output.map((item) => item["status"])).toEqual(["completed", "completed", "incomplete"])
  })

  test("is failed for an error inside the response", () => {
    expect(answered({ content: "Half" }, "error", { error: { code: 429, message: "Slow down." } })).toMatchObject({
      status: "failed",
      error: { code: "rate_limit_exceeded", message: "Slow down." },
      output: [{ status: "incomplete" }],
    })
  })

  test("keeps the routing metadata", () => {
    const metadata = { service_metadata: { attempt: 1 }, openrouter_metadata: { attempt: 1 } }
    expect(answered({ content: "Hi." }, "stop", metadata)).toMatchObject(metadata)
  })
})
