import { createOpenAI } from "@ai-sdk/openai"
import { generateText, streamText } from "ai"
import { describe, expect, test } from "vitest"
import { toResponsesResult } from "../../../src/formats/responses/from-chat.ts"
import { DONE_FRAME, toEventFrame } from "../../../src/formats/sse/frames.ts"
import { concat } from "../../../src/support/bytes.ts"
import { requestOf, chunkOf, facts, type Json, resultOf, eventsOf } from "./events-of.ts"

/** @ai-sdk/openai rejects a non-streamed response if one item has a type or lacks a field of its schema. */
const answers = (answer: () => Response) =>
  createOpenAI({ apiKey: "sk-test", fetch: () => Promise.resolve(answer()) }).responses("m")

const record = { type: "reasoning.server_tool_call", tool_name: "web_search", arguments: "{}", result: "found" }
const run = (item: Json) => ({ ...record, item: { status: "completed", ...item } })
const SEARCH = run({
  type: "web_search_call",
  action: { type: "search", query: "x", sources: [{ type: "url", url: "https://example.com/" }] },
})
const ANNOTATIONS = [
  { type: "url_citation", url_citation: { url: "https://example.com/" } },
  { type: "url_citation", url_citation: { url: "https://example.com/b", title: null, start_index: 0, end_index: 1 } },
  { type: "url_citation", url_citation: { title: "nowhere" } },
]

function readBy(message: Json): Promise<{ text: string; sources: unknown[] }> {
  const document = toResponsesResult(resultOf(message), requestOf(), facts())
  return generateText({ model: answers(() => Response.json(document)), prompt: "Hi", maxRetries: 0 })
}

describe("@ai-sdk/openai reads", () => {
  test("a response with a web search", async () => {
    const { text } = await readBy({ content: "Found.", reasoning_details: [SEARCH] })
    expect(text).toBe("Found.")
  })

  test("citations without a title or position", async () => {
    const { text, sources } = await readBy({ content: "Found.", annotations: ANNOTATIONS })
    expect(text).toBe("Found.")
    expect(sources).toMatchObject([{ url: "https://example.com/" }, { url: "https://example.com/b" }])
  })

  test("a stream with server tool runs", async () => {
    const datetime = run({ type: "openrouter:datetime", datetime: "now", timezone: "UTC" })
    const events = eventsOf([
      chunkOf({ reasoning_details: [datetime] }),
      chunkOf({ reasoning_details: [SEARCH] }),
      chunkOf({ content: "Late.", annotations: ANNOTATIONS }),
      chunkOf({}, "stop"),
    ])
    const body = concat([...events.map(toEventFrame), DONE_FRAME])
    const model = answers(() => new Response(body, { headers: { "content-type": "text/event-stream" } }))
    expect(await streamText({ model, prompt: "Hi", maxRetries: 0 }).text).toBe("Late.")
  })
})
