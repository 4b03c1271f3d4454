import { HTTPClient, OpenRouter } from "@openrouter/sdk"
import OpenAI from "openai"
import { describe, expect, test } from "vitest"
import { advance, fail, keepAlive, newEventState, start } from "../../../src/formats/responses/events.ts"
import { toResponsesResult } from "../../../src/formats/responses/from-chat.ts"
import { ResponsesRequest, type ResponsesEvent } from "../../../src/formats/responses/schemas.ts"
import { toChatRequest } from "../../../src/formats/responses/to-chat.ts"
import { concat } from "../../../src/support/bytes.ts"
import { DONE_FRAME, toEventFrame } from "../../../src/formats/sse/frames.ts"
import { ChatRequest } from "../../../src/formats/schemas.ts"
import { requestOf, chunkOf, facts, finalOf, type Json, runSteps, resultOf, eventsOf, USAGE } from "./events-of.ts"

/** The published clients, with the gateway's responses in place of a network. */

const REQUEST = {
  instructions: "Be brief.",
  metadata: { a: "b" },
  reasoning: { effort: "low", summary: "auto" },
  text: { format: { type: "json_schema", name: "n", schema: { type: "object" }, strict: false, description: null } },
  tools: [
    { type: "function", name: "f", description: "d", parameters: { type: "object" }, strict: false },
    { type: "function", name: "g" },
  ],
  tool_choice: { type: "function", name: "f" },
  temperature: 1,
  top_logprobs: 1,
}

const logprobs = {
  content: [{ token: "Hel", logprob: -0.5, bytes: null, top_logprobs: [{ token: "H", logprob: -2 }] }],
}
const CHUNKS = [
  chunkOf({ role: "assistant", content: "" }),
  chunkOf({ reasoning_details: [{ type: "reasoning.summary", index: 0, summary: "In short." }] }),
  chunkOf({
    reasoning_details: [{ type: "reasoning.encrypted", index: 0, data: "sealed", format: "openai-responses-v1" }],
  }),
  chunkOf({ reasoning_details: [{ type: "reasoning.text", index: 1, text: "At length.", signature: "s" }] }),
  { choices: [{ index: 0, delta: { content: "Hel" }, finish_reason: null, logprobs }] },
  chunkOf({ content: "lo" }),
  chunkOf({ refusal: "No." }),
  chunkOf({ tool_calls: [{ index: 0, id: "a", function: { name: "f", arguments: '{"x":' } }] }),
  chunkOf({ tool_calls: [{ index: 1, id: "b", function: { name: "g", arguments: "{}" } }] }),
  chunkOf({ tool_calls: [{ index: 0, function: { arguments: "1}" } }] }),
  chunkOf({ images: [{ image_url: { url: "data:image/png;base64,AA==" } }] }),
  { ...chunkOf({}, "tool_calls"), service_tier: "default" },
  { choices: [], usage: USAGE },
]
const MESSAGE = {
  reasoning: "Hm.",
  content: "Hello",
  tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }],
}

function streamed(events: readonly ResponsesEvent[]): () => Response {
  const body = concat([...events.map(toEventFrame), DONE_FRAME])
  return () => new Response(body, { headers: { "content-type": "text/event-stream" } })
}

function failing(): ResponsesEvent[] {
  const failure = { code: 502, message: "It broke off.", error_type: "provider_unavailable" }
  return runSteps(newEventState(requestOf(REQUEST), facts()), [
    start,
    (state) => advance(state, chunkOf({ content: "Half" })),
    keepAlive,
    (state) => fail(state, failure),
  ])
}

const document = toResponsesResult(resultOf(MESSAGE, "stop", { usage: USAGE }), requestOf(REQUEST), facts())

function openai(answer: () => Response): OpenAI {
  return new OpenAI({ apiKey: "sk-test", maxRetries: 0, fetch: () => Promise.resolve(answer()) })
}

function openrouter(answer: () => Response, seen: Json[] = []): OpenRouter {
  const fetcher = async (input: RequestInfo | URL) => {
    seen.push(await (input as Request).json())
    return answer()
  }
  const httpClient = new HTTPClient({ fetcher })
  return new OpenRouter({ apiKey: "sk-test", httpClient, retryConfig: { strategy: "none" } })
}

describe("the openai client", () => {
  test("reads a non-streamed response", async () => {
    const response = await openai(() => Response.json(document)).responses.create({ model: "m", input: "Hi" })
    expect(response.output_text).toBe("Hello")
    expect(response.output.map(({ type }) => type)).toEqual(["reasoning", "message", "function_call"])
  })

  test("returns the response of the last event of a stream", async () => {
    const events = eventsOf(CHUNKS, requestOf(REQUEST))
    const final = await openai(streamed(events)).responses.stream({ model: "m", input: "Hi" }).finalResponse()
    expect(final).toMatchObject({ status: "completed", output_text: "Hello" })
    expect(final.output).toMatchObject(finalOf(events).output)
  })

  test("assembles the same response from the events before the last one", async () => {
    const events = eventsOf(CHUNKS, requestOf(REQUEST))
    const cut = streamed(events.slice(0, -1))
    const final = await openai(cut).responses.stream({ model: "m", input: "Hi" }).finalResponse()
    expect(final.output).toMatchObject(finalOf(events).output)
  })

  test("reads every event of a failed stream, heartbeats included", async () => {
    const events = failing()
    const seen: unknown[] = []
    for await (const event of await openai(streamed(events)).responses.create({
      model: "m",
      input: "Hi",
      stream: true,
    }))
      seen.push(event)
    expect(seen).toEqual(events)
    const final = await openai(streamed(events)).responses.stream({ model: "m", input: "Hi" }).finalResponse()
    expect(final).toMatchObject({ status: "failed", error: { message: "It broke off." } })
  })
})

describe("the @openrouter/sdk client", () => {
  test("reads a non-streamed response with every item", async () => {
    const client = openrouter(() => Response.json(document))
    const result = await client.responses.send({ responsesRequest: { model: "m", input: "Hi", stream: false } })
    if (!("output" in result)) throw new Error("A stream came.")
    expect(result.output.map(({ type }) => type)).toEqual(["reasoning", "message", "function_call"])
    expect(result.tools.map(({ type }) => type)).toEqual(["function", "function"])
    expect(result).toMatchObject({ usage: { inputTokens: 10, cost: 0.25 }, text: { format: { type: "json_schema" } } })
  })

  test.each([
    ["finished", () => eventsOf(CHUNKS, requestOf(REQUEST))],
    ["is cut by a limit", () => eventsOf([...CHUNKS.slice(0, 6), chunkOf({}, "length")], requestOf(REQUEST))],
    ["failed", failing],
  ])("knows every event of a stream that %s", async (_, eventsFor) => {
    const events = eventsFor()
    const client = openrouter(streamed(events))
    const stream = await client.responses.send({ responsesRequest: { model: "m", input: "Hi", stream: true } })
    if ("output" in stream) throw new Error("A document came.")
    const seen: unknown[] = []
    for await (const event of stream) {
      expect(unknownIn(event)).toEqual([])
      seen.push((event as { type: string }).type)
    }
    expect(seen).toEqual(events.map(({ type }) => type))
  })

  test("sends the output back as the next turn of the conversation", async () => {
    const seen: Json[] = []
    const first = await openrouter(() => Response.json(document)).responses.send({
      responsesRequest: { model: "m", input: "Hi" },
    })
    if (!("output" in first)) throw new Error("A stream came.")
    const input = [
      { role: "user" as const, content: "Hi" },
      ...(first.output as []),
      { type: "function_call_output" as const, callId: "a", output: "out" },
    ]
    await openrouter(() => Response.json(document), seen).responses.send({ responsesRequest: { model: "m", input } })
    const chat = toChatRequest(ResponsesRequest.parse(seen[0]))
    expect(ChatRequest.parse(chat).messages).toEqual([
      { role: "user", content: "Hi" },
      {
        role: "assistant",
        content: "Hello",
        reasoning: "Hm.",
        reasoning_details: [{ index: 0, type: "reasoning.text", text: "Hm." }],
        tool_calls: MESSAGE.tool_calls,
      },
      { role: "tool", tool_call_id: "a", content: "out" },
    ])
  })
})

/** Values that the client did not know: it marks them and goes on. */
function unknownIn(value: unknown): unknown[] {
  if (typeof value !== "object" || value === null) return []
  if ("isUnknown" in value) return [value]
  return Object.values(value).flatMap(unknownIn)
}
