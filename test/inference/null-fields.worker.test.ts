import { afterEach, expect, onTestFinished, test, vi } from "vitest"
import { normalizeEvent, normalizeItem, normalizeResponse } from "../../src/formats/responses/native/normalize.ts"
import { mockProvider, sse } from "../support/mock-provider.ts"
import { expectJson, newWorkspace, operatorClient } from "../support/world.ts"

/** Strict clients, such as @openrouter/sdk, accept optional fields only without null. */

type Json = Record<string, unknown>

afterEach(() => vi.restoreAllMocks())

const part = { type: "output_text", text: "Hi", annotations: null, logprobs: null }
const cited = {
  type: "output_text",
  text: "Hi",
  annotations: [{ type: "url_citation", url: "https://a.test", title: null }],
}
const message = { type: "message", id: "m", role: "assistant", status: null, phase: null, content: [part, cited] }
const reasoning = { type: "reasoning", id: "r", status: null, summary: null, content: null, encrypted_content: null }
const call = { type: "function_call", id: null, call_id: "c", name: "f", arguments: "{}", status: null }
const RESPONSE = {
  id: "up",
  object: "response",
  status: "completed",
  created_at: 1_700_000_000.5,
  output: [reasoning, message, call],
  output_text: null,
  parallel_tool_calls: null,
  text: null,
  tool_choice: null,
  tools: null,
  error: null,
  usage: { input_tokens: 5, output_tokens: 3, total_tokens: 8, input_tokens_details: null },
}
const citation = { type: "url_citation", url: "https://a.test", title: "", start_index: 0, end_index: 0 }
const withCitation = { type: "output_text", text: "Hi", annotations: [citation] }
const valid = [
  { type: "reasoning", id: "r", summary: [] },
  { type: "message", id: "m", role: "assistant", content: [{ type: "output_text", text: "Hi" }, withCitation] },
  { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
]

function providerReturns(respond: () => Response): void {
  const { stop } = mockProvider(respond)
  onTestFinished(stop)
}

test("a response of a provider's Responses API has no null where strict clients reject it", async () => {
  providerReturns(() => Response.json(RESPONSE))
  const { as } = await newWorkspace()
  const result = await expectJson<Json>(200, as.post("/responses", { model: "batching/b18", input: "Hi" }))
  expect(result).toMatchObject({
    created_at: 1_700_000_000,
    completed_at: null,
    error: null,
    parallel_tool_calls: true,
    text: { format: { type: "text" } },
    tool_choice: "auto",
    tools: [],
  })
  expect(result["output"]).toEqual(valid)
  expect(result).not.toHaveProperty("output_text")
})

test("nor has an event of its stream", async () => {
  const place = { item_id: "m", output_index: 1, content_index: 0 }
  const events = [
    { type: "response.created", response: { ...RESPONSE, status: "in_progress", output: [] } },
    { type: "response.output_item.done", output_index: 0, item: reasoning },
    { type: "response.content_part.added", ...place, part },
    { type: "response.output_text.delta", ...place, delta: "Hi", logprobs: null },
    { type: "response.output_text.done", ...place, text: "Hi" },
    { type: "response.output_item.added", output_index: 2, item: call },
    { type: "response.function_call_arguments.done", item_id: "fc", output_index: 2, arguments: "{}" },
    { type: "response.completed", response: RESPONSE },
  ]
  providerReturns(() => sse(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)))
  const { as } = await newWorkspace()
  const answer = await as.post("/responses", { model: "batching/b19", input: "Hi", stream: true })
  const data = (await answer.text()).matchAll(/^data: (\{.*\})$/gm)
  const received = [...data].map(([, json = ""]) => JSON.parse(json) as Json & { response?: Json })
  expect(received.map(({ sequence_number: number }) => number)).toEqual(received.map((_, at) => at))
  const contents = received.map(({ response, ...event }) => {
    delete event["sequence_number"]
    return response ? response["output"] : event
  })
  const id = expect.stringMatching(/^fc_/)
  const expected = [
    [],
    { type: "response.output_item.done", output_index: 0, item: valid[0] },
    { type: "response.content_part.added", ...place, part: { type: "output_text", text: "Hi" } },
    { type: "response.output_text.delta", ...place, delta: "Hi", logprobs: [] },
    { type: "response.output_text.done", ...place, text: "Hi", logprobs: [] },
    { type: "response.output_item.added", output_index: 2, item: { ...valid[2], id } },
    { type: "response.function_call_arguments.done", item_id: id, output_index: 2, arguments: "{}", name: "f" },
    [valid[0], valid[1], { ...valid[2], id }],
  ]
  for (const content of expected) expect(contents).toContainEqual(content)
})

test("what a provider sends in the right form is the same object, so that its bytes are sent on", () => {
  const item = { type: "message", id: "m", content: [{ type: "output_text", text: "Hi", annotations: [{ url: "u" }] }] }
  expect(normalizeItem(item)).toBe(item)
  expect(normalizeResponse({ output: [item] })["output"]).toEqual([item])
  const failed = { type: "error", code: null, message: "No", param: null }
  const delta = { type: "response.output_text.delta", delta: "H", logprobs: [] }
  for (const event of [failed, delta, { type: "response.output_item.done", output_index: 0, item }]) {
    expect(normalizeEvent(event, new Map())).toBe(event)
  }
})

const usage = { prompt_tokens: 3, total_tokens: 3 }

test.each<[string, string, Json, Json, Json]>([
  [
    "/embeddings",
    "embeddings",
    { input: "a" },
    { id: null, data: [{ embedding: [1], index: null }], usage: { ...usage, prompt_tokens_details: null } },
    { data: [{ object: "embedding", index: 0, embedding: [1] }], usage: { ...usage, is_byok: false } },
  ],
  [
    "/rerank",
    "rerank",
    { query: "a", documents: ["a", "b"] },
    {
      id: null,
      results: [
        { index: 1, relevance_score: 1, document: "b" },
        { index: 0, relevance_score: 0.5, document: null },
      ],
      usage: { total_tokens: 3, search_units: null },
    },
    {
      results: [
        { index: 1, relevance_score: 1, document: { text: "b" } },
        { index: 0, relevance_score: 0.5, document: { text: "a" } },
      ],
      usage: { total_tokens: 3, is_byok: false },
    },
  ],
  [
    "/images",
    "image",
    { prompt: "a" },
    { created: 1.5, data: [{ b64_json: "AA==", media_type: null, revised_prompt: null }] },
    { created: 1, data: [{ b64_json: "AA==" }] },
  ],
  [
    "/audio/transcriptions",
    "transcription",
    { input_audio: { data: "AAAA", format: "mp3" } },
    { text: "Hi", language: null, words: null, segments: [{ start: 0, end: 1, text: "Hi", speaker: null }] },
    { text: "Hi", segments: [{ start: 0, end: 1, text: "Hi", id: 0 }] },
  ],
])("a response of %s has none either", async (path, output, body, returned, expected) => {
  const model = `acme/${output}-without-null`
  const endpoints = [{ provider: "replica-a", upstream_id: "up", pricing: { prompt: "0.000001", completion: "0" } }]
  const models = [{ id: model, name: model, output_modalities: [output], endpoints }]
  await expectJson(200, operatorClient.put("/catalogue", { models }))
  vi.spyOn(globalThis, "fetch").mockImplementation(async () => Response.json(returned))
  const { as } = await newWorkspace()
  const text = JSON.stringify(await expectJson<Json>(200, as.post(path, { ...body, model })))
  expect(JSON.parse(text)).toMatchObject(expected)
  expect(text).not.toContain(":null")
})
