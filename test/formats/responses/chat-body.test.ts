import { describe, expect, test } from "vitest"
import { asResponses } from "../../../src/formats/readers/as-responses.ts"
import { chatReader } from "../../../src/formats/readers/chat.ts"
import { toEvents } from "../../../src/formats/responses/native/to-events.ts"
import { needsResponses, toResponsesBodyOfChat } from "../../../src/formats/responses/chat-body.ts"
import { ChatRequest } from "../../../src/formats/schemas.ts"
import { DONE_FRAME } from "../../../src/formats/sse/frames.ts"
import type { StreamItem } from "../../../src/formats/sse/stream-item.ts"
import { isObject, type Json, objectsOf } from "../../../src/support/text/json.ts"

const OUTGOING = { upstreamId: "gpt-5.6-sol", maxCompletionTokens: 500, pseudonym: "p" }
const TOOL = { type: "function", function: { name: "f", parameters: { type: "object", properties: {} } } }
const HELLO = [{ role: "user", content: "Hello" }]

const requestOf = (fields: Json) => ChatRequest.parse({ model: "a/b", messages: HELLO, ...fields })

describe("a chat request goes to the Responses API", () => {
  test.each([
    ["tools of a model that reasons with them only there", "gpt-5.6-sol", { tools: [TOOL] }, true],
    ["tools of GPT-5.4 with an effort", "gpt-5.4-mini", { tools: [TOOL], reasoning_effort: "low" }, true],
    ["a model without the chat format", "gpt-5.1-codex-max", {}, true],
    ["a pro model", "gpt-5-pro-2025-10-06", {}, true],
    ["a research model", "o4-mini-deep-research", {}, true],
    ["no tools", "gpt-5.6-sol", {}, false],
    ["tools without reasoning", "gpt-5.6-sol", { tools: [TOOL], reasoning_effort: "none" }, false],
    ["tools of an older model", "gpt-5.2", { tools: [TOOL], reasoning_effort: "high" }, false],
    ["tools of another model", "claude-sonnet-5", { tools: [TOOL] }, false],
    ["several choices, which it does not have", "gpt-5.6-sol", { tools: [TOOL], n: 2 }, false],
    [
      "audio, which it does not accept",
      "gpt-5.6-sol",
      {
        tools: [TOOL],
        messages: [{ role: "user", content: [{ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } }] }],
      },
      false,
    ],
  ])("for %s: %s", (_, upstreamId, fields, expected) => {
    expect(needsResponses(requestOf(fields), upstreamId)).toBe(expected)
  })
})

describe("its body", () => {
  test("has the conversation as items, with media and reasoning where the format has them", () => {
    const image = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }
    const file = { type: "file", file: { file_data: "https://e.org/a.pdf" } }
    const body = toResponsesBodyOfChat(
      requestOf({
        messages: [
          { role: "system", content: "Be brief" },
          { role: "user", content: [{ type: "text", text: "Look" }, image, file] },
          {
            role: "assistant",
            content: "I look.",
            reasoning_details: [
              { type: "reasoning.summary", summary: "S", id: "rs_1", format: "openai-responses-v1" },
              { type: "reasoning.encrypted", data: "E", id: "rs_1", format: "openai-responses-v1" },
              { type: "reasoning.text", text: "of Claude", signature: "x", format: "anthropic-claude-v1" },
              { type: "reasoning.encrypted", data: "of Claude", format: "anthropic-claude-v1" },
            ],
            tool_calls: [{ id: "c1", type: "function", function: { name: "f", arguments: "{}" } }],
          },
          { role: "tool", tool_call_id: "c1", content: [{ type: "text", text: "drawn" }, image] },
        ],
      }),
      OUTGOING,
    )
    const picture = { type: "input_image", image_url: "data:image/png;base64,AAAA", detail: "auto" }
    expect(body["input"]).toEqual([
      { type: "message", role: "system", content: "Be brief" },
      {
        type: "message",
        role: "user",
        content: [
          { type: "input_text", text: "Look" },
          picture,
          { type: "input_file", file_url: "https://e.org/a.pdf" },
        ],
      },
      { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "S" }], encrypted_content: "E" },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "I look." }] },
      { type: "function_call", call_id: "c1", name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: "c1", output: [{ type: "input_text", text: "drawn" }, picture] },
    ])
  })

  test("has the parameters under the names of the format, and stores nothing", () => {
    const schema = { type: "object", properties: {} }
    const body = toResponsesBodyOfChat(
      requestOf({
        tools: [TOOL, { type: "function", function: { name: "g", strict: true } }],
        tool_choice: { type: "function", function: { name: "g" } },
        response_format: { type: "json_schema", json_schema: { name: "n", schema } },
        reasoning: { effort: "high", summary: "auto" },
        max_tokens: 900,
        parallel_tool_calls: false,
        seed: 1,
        user: "ada",
        metadata: { a: "b" },
        stream: true,
      }),
      OUTGOING,
    )
    expect(body).toEqual({
      model: "gpt-5.6-sol",
      input: [{ type: "message", role: "user", content: "Hello" }],
      tools: [
        { type: "function", name: "f", parameters: schema, strict: false },
        { type: "function", name: "g", parameters: schema, strict: true },
      ],
      tool_choice: { type: "function", name: "g" },
      text: { format: { type: "json_schema", name: "n", schema, strict: false } },
      reasoning: { effort: "high", summary: "auto" },
      max_output_tokens: 500,
      parallel_tool_calls: false,
      safety_identifier: "p",
      store: false,
      include: ["reasoning.encrypted_content"],
      stream: true,
    })
  })

  test("has no parameters that the model rejects while it reasons", () => {
    const body = toResponsesBodyOfChat(
      requestOf({ tools: [TOOL], temperature: 0, top_p: 0.5, top_logprobs: 2 }),
      OUTGOING,
    )
    for (const name of ["temperature", "top_p", "top_logprobs"]) expect(body).not.toHaveProperty(name)
    expect(body["include"]).toEqual(["reasoning.encrypted_content"])
  })

  test("restricts the tools that the choice allows", () => {
    const tools = [{ type: "function", function: { name: "f" } }]
    const choice = { type: "allowed_tools", allowed_tools: { mode: "required", tools } }
    expect(toResponsesBodyOfChat(requestOf({ tools: [TOOL], tool_choice: choice }), OUTGOING)["tool_choice"]).toEqual({
      type: "allowed_tools",
      mode: "required",
      tools: [{ type: "function", name: "f" }],
    })
  })
})

const RESPONSE = {
  id: "resp_1",
  object: "response",
  created_at: 7,
  model: "gpt-5.6-sol",
  status: "completed",
  error: null,
  incomplete_details: null,
  output: [
    {
      type: "reasoning",
      id: "rs_1",
      summary: [
        { type: "summary_text", text: "First." },
        { type: "summary_text", text: "Then." },
      ],
      encrypted_content: "E",
    },
    {
      type: "message",
      id: "m",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "Hi" }],
    },
    { type: "function_call", id: "fc_1", call_id: "c1", name: "f", arguments: '{"a":1}', status: "completed" },
    { type: "function_call", id: "fc_2", call_id: "c2", name: "g", arguments: "{}", status: "completed" },
  ],
  usage: {
    input_tokens: 20,
    input_tokens_details: { cached_tokens: 8 },
    output_tokens: 9,
    output_tokens_details: { reasoning_tokens: 4 },
    total_tokens: 29,
  },
}
const MESSAGE = {
  role: "assistant",
  content: "Hi",
  reasoning: "First.\n\nThen.",
  tool_calls: [
    { id: "c1", type: "function", function: { name: "f", arguments: '{"a":1}' } },
    { id: "c2", type: "function", function: { name: "g", arguments: "{}" } },
  ],
}
const USAGE = {
  prompt_tokens: 20,
  completion_tokens: 9,
  total_tokens: 29,
  prompt_tokens_details: { cached_tokens: 8 },
  completion_tokens_details: { reasoning_tokens: 4 },
}

function translated() {
  const upstream = asResponses(requestOf({ tools: [TOOL], stream: true }), OUTGOING)
  if (!upstream.translate) throw new Error("The request is not translated.")
  return { ...upstream, translate: upstream.translate }
}

function streamed(response: Json, drop: (event: Json) => boolean = () => false): StreamItem[] {
  const translate = translated().translate.stream()
  const frames = (toEvents(response)?.items ?? []).filter((item): item is Uint8Array => item instanceof Uint8Array)
  const kept = frames.filter(
    (frame) => !drop(JSON.parse(/data: (.*)/.exec(new TextDecoder().decode(frame))?.[1] ?? "{}") as Json),
  )
  return kept.flatMap(translate)
}

describe("its response", () => {
  test("is the same as a document and as a stream", () => {
    const document = translated().translate.document(RESPONSE)
    const items = streamed(RESPONSE)
    expect(items.at(-1)).toBe(DONE_FRAME)
    const { result } = chatReader.toResult(items)
    for (const one of [document, result]) {
      expect(one).toMatchObject({
        id: "resp_1",
        model: "gpt-5.6-sol",
        created: 7,
        choices: [{ index: 0, finish_reason: "tool_calls", message: MESSAGE }],
        usage: USAGE,
      })
    }
  })

  test("returns its reasoning in the next turn as it was", () => {
    const [choice] = objectsOf(translated().translate.document(RESPONSE)["choices"])
    const message = isObject(choice?.["message"]) ? choice["message"] : {}
    const body = toResponsesBodyOfChat(requestOf({ messages: [...HELLO, message] }), OUTGOING)
    expect(objectsOf(body["input"])[1]).toMatchObject({ type: "reasoning", id: "rs_1", encrypted_content: "E" })
  })

  test("is complete if the server sends content only with the end of an item", () => {
    const items = streamed(RESPONSE, ({ type }) => String(type).endsWith(".delta"))
    const { result } = chatReader.toResult(items)
    expect(result).toMatchObject({ choices: [{ message: { content: "Hi", tool_calls: MESSAGE.tool_calls } }] })
  })

  test.each([
    ["max_output_tokens", "length"],
    ["content_filter", "content_filter"],
  ])("that ends because of %s has the finish reason %s", (reason, finish) => {
    const cut = {
      ...RESPONSE,
      status: "incomplete",
      incomplete_details: { reason },
      output: RESPONSE.output.slice(0, 2),
    }
    const document = translated().translate.document(cut)
    expect(document).toMatchObject({ choices: [{ finish_reason: finish }] })
    expect(chatReader.toResult(streamed(cut)).result).toMatchObject({ choices: [{ finish_reason: finish }] })
  })

  test("that fails is an error, in a stream and in a document", () => {
    const error = { code: "rate_limit_exceeded", message: "Slow down" }
    const failed = { ...RESPONSE, status: "failed", error, output: [] }
    expect(chatReader.errorIn(translated().translate.document(failed))).toMatchObject({
      message: "Slow down",
      status: 429,
    })
    expect(chatReader.toResult(streamed(failed)).error).toMatchObject({ message: "Slow down", status: 429 })
  })

  test("that is cut has no end, and the usage that was reported", () => {
    const items = streamed(RESPONSE, ({ type }) => type === "response.completed")
    expect(items).not.toContain(DONE_FRAME)
    expect(chatReader.toResult(items).result).toBeUndefined()
  })
})
