import { createOpenAI } from "@ai-sdk/openai"
import { generateText, jsonSchema, stepCountIs, streamText, tool } from "ai"
import { afterEach, describe, expect, test } from "vitest"
import { encodeBlob, decodeBlob } from "../../../src/formats/responses/opaque-blob.ts"
import { toResponsesResult } from "../../../src/formats/responses/from-chat.ts"
import { ResponsesRequest } from "../../../src/formats/responses/schemas.ts"
import { toChatRequest } from "../../../src/formats/responses/to-chat.ts"
import { toResponsesBody } from "../../../src/formats/responses/upstream.ts"
import { type UpstreamRequest, mockProvider, sse } from "../../support/mock-provider.ts"
import { newWorkspace, expectJson, type Workspace } from "../../support/world.ts"
import { requestOf as request, facts, type Json, resultOf } from "./events-of.ts"

let stop = () => {}
afterEach(() => stop())

const CLAUDE = "anthropic-claude-v1"

/** An item as kept by clients that know only the fields of OpenAI's reasoning items. */
const kept = (item: Json) =>
  item["type"] === "reasoning"
    ? { type: item["type"], id: item["id"], summary: item["summary"], encrypted_content: item["encrypted_content"] }
    : item

function outputOf(details: readonly Json[]): Json[] {
  return toResponsesResult(resultOf({ content: "So.", reasoning_details: details }), request(), facts()).output
}

function detailsOf(output: readonly Json[]): Json[] {
  const input = [{ role: "user", content: "Hi" }, ...output]
  const [, answer] = toChatRequest(ResponsesRequest.parse({ model: "m", input })).messages as Json[]
  return ((answer?.["reasoning_details"] ?? []) as Json[]).map((detail) =>
    Object.fromEntries(Object.entries(detail).filter(([key]) => key !== "index")),
  )
}

describe("reasoning comes back complete, and once", () => {
  const cases: [string, Json[]][] = [
    ["signed", [{ type: "reasoning.text", text: "Hm.", signature: "s==", format: CLAUDE }]],
    ["signed without text", [{ type: "reasoning.text", text: "", signature: "s==", format: CLAUDE }]],
    [
      "signed and encrypted",
      [
        { type: "reasoning.text", text: "Hm.", signature: "s==", format: CLAUDE },
        { type: "reasoning.encrypted", data: "sealed==", format: CLAUDE },
      ],
    ],
    [
      "another's",
      [
        { type: "reasoning.text", text: "Hm.", format: "google-gemini-v1" },
        { type: "reasoning.encrypted", data: "g==", id: "call_1", format: "google-gemini-v1" },
      ],
    ],
    [
      "a server tool run",
      [
        {
          type: "reasoning.server_tool_call",
          tool_name: "datetime",
          tool_call_id: "c",
          arguments: "{}",
          result: "now",
        },
      ],
    ],
    ["of an unknown type", [{ type: "reasoning.other", of: ["anything"] }]],
  ]
  test.each(cases)("%s", (_, details) => {
    const output = outputOf(details)
    expect(detailsOf(output)).toEqual(details)
    expect(detailsOf(output.map(kept))).toEqual(details)
    expect(outputOf(details).map(({ type }) => type)).toContain("message")
  })

  test("encrypted content of a Responses provider stays unchanged", () => {
    const sealed = { type: "reasoning.encrypted", data: "sealed==", id: "rs_1", format: "openai-responses-v1" }
    const [item] = outputOf([sealed])
    expect(item).toMatchObject({ id: "rs_1", encrypted_content: "sealed==", format: "openai-responses-v1" })
    expect(detailsOf([item as Json])).toEqual([sealed])
  })

  test("a corrupted string decodes to nothing", () => {
    expect(decodeBlob("gateway-carried-v1:{")).toEqual([])
    expect(decodeBlob('gateway-carried-v1:[1,null,{"type":2}]')).toEqual([])
    expect(decodeBlob("sealed")).toBeNull()
  })
})

test("a native provider receives no item of the gateway", () => {
  const vendor = [
    { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "sealed==" },
    { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "x" } },
  ]
  const input = [
    ...vendor,
    { type: "openrouter:datetime", id: "st_1", status: "completed", datetime: "x", timezone: "UTC" },
    { type: "service:web_search", id: "st_2", status: "completed" },
    {
      type: "reasoning",
      id: "rs_2",
      summary: [],
      encrypted_content: encodeBlob({ type: "reasoning.server_tool_call" }),
    },
    { role: "user", content: "Hi" },
  ]
  const outgoing = { upstreamId: "m", maxCompletionTokens: undefined, pseudonym: undefined }
  expect(toResponsesBody(request({ input }), outgoing)["input"]).toEqual([...vendor, { role: "user", content: "Hi" }])
})

test("a provider gets no request for a background response, which it would have to store", () => {
  const outgoing = { upstreamId: "m", maxCompletionTokens: undefined, pseudonym: undefined }
  const body = toResponsesBody(request({ input: "Hi", background: true }), outgoing)
  expect(body).toEqual({ model: "m", input: "Hi", store: false, stream: false })
})

/** A Messages provider that thinks, calls the weather tool and responds to its result. */
const THOUGHTS = [
  { type: "thinking", thinking: "Which city?", signature: "SIG==" },
  { type: "redacted_thinking", data: "RED==" },
]
const CALL = { type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Rome" } }

function toEvents(message: Json & { content: Json[] }): string[] {
  const event = (type: string, fields: Json = {}) => `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`
  return [
    event("message_start", { message: { ...message, content: [], stop_reason: null } }),
    ...message.content.flatMap((block, index) => [
      event("content_block_start", { index, content_block: block }),
      event("content_block_stop", { index }),
    ]),
    event("message_delta", { delta: { stop_reason: message["stop_reason"] }, usage: { output_tokens: 5 } }),
    event("message_stop"),
  ]
}

function mockClaude() {
  const provider = mockProvider(({ body }) => {
    const isFirst = !JSON.stringify(body["messages"]).includes("tool_result")
    const message = {
      id: "msg_up",
      type: "message",
      role: "assistant",
      model: "opus",
      content: isFirst ? [...THOUGHTS, CALL] : [{ type: "text", text: "Sunny." }],
      stop_reason: isFirst ? "tool_use" : "end_turn",
      usage: { input_tokens: 5, output_tokens: 5 },
    }
    return body["stream"] === true ? sse(toEvents(message)) : Response.json(message)
  })
  ;({ stop } = provider)
  return provider
}

function aiSdk({ as }: Workspace) {
  const answer = (url: string | URL | Request, init?: RequestInit) =>
    as.call("POST", new URL(url instanceof Request ? url.url : url).pathname.replace("/api/v1", ""), init?.body)
  return createOpenAI({ baseURL: "http://gateway.test/api/v1", apiKey: "in-the-door", fetch: answer })
}

const blocksSentBack = ([, { body }]: [UpstreamRequest, UpstreamRequest]) =>
  (body["messages"] as { role: string; content: Json[] }[]).find(({ role }) => role === "assistant")?.content

describe("with @ai-sdk/openai, which keeps only the fields of OpenAI's items", () => {
  const weather = tool({
    inputSchema: jsonSchema<{ city: string }>({ type: "object", properties: { city: { type: "string" } } }),
    execute: () => "sunny",
  })
  test.each([false, true])("Claude's turn is sent back unchanged; streamed: %s", async (streamed) => {
    const model = aiSdk(await newWorkspace()).responses("acme/opus-1")
    const { upstreamCalls } = mockClaude()
    const options = {
      model,
      tools: { weather },
      prompt: "The weather?",
      stopWhen: stepCountIs(3),
      maxRetries: 0,
      providerOptions: { openai: { store: false } },
    }
    const text = streamed ? await streamText(options).text : (await generateText(options)).text
    expect(text).toBe("Sunny.")
    expect(upstreamCalls).toHaveLength(2)
    expect(blocksSentBack(upstreamCalls as [UpstreamRequest, UpstreamRequest])).toEqual([...THOUGHTS, CALL])
  })
})

test("a tool run that comes back without its fields is not taken for Claude's thinking", async () => {
  const { as } = await newWorkspace()
  const { upstreamCalls } = mockClaude()
  const run = { type: "reasoning.server_tool_call", tool_name: "datetime", tool_call_id: "c1", arguments: "{}" }
  const thought = { type: "reasoning.text", text: "Hm.", signature: "s==", format: CLAUDE }
  const items = outputOf([thought, { ...run, result: "now" }]).map(kept)
  const input = [{ role: "user", content: "Hi" }, ...items, { role: "user", content: "And now?" }]
  await expectJson(200, as.post("/responses", { model: "acme/opus-1", input }))
  const [{ body }] = upstreamCalls as [UpstreamRequest]
  const [, { content }] = body["messages"] as [Json, { content: Json[] }]
  expect(content).toEqual([
    { type: "thinking", thinking: "Hm.", signature: "s==" },
    { type: "text", text: "So." },
  ])
})
