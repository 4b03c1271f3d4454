import { afterEach, describe, expect, test } from "vitest"
import { mockProvider, sse } from "../support/mock-provider.ts"
import { expectJson, newKey, newWorkspace, receiptOf, type TestClient } from "../support/world.ts"

/** Models with a price for web searches (worker-project.ts), of a provider for each format. */
const MESSAGES_MODEL = "acme/searcher-1"
const RESPONSES_MODEL = "batching/searcher"

let stop = () => {}
afterEach(() => stop())

type Json = Record<string, unknown>
const event = (fields: Json & { type: string }) => `event: ${fields.type}\ndata: ${JSON.stringify(fields)}\n\n`
/** 1,000 prompt and 100 completion tokens at 1 and 2 USD a million. */
const TOKENS_USD = 0.0012

const messageWith = (searches: number) => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "searcher",
  content: [{ type: "text", text: "Found" }],
  stop_reason: "end_turn",
  stop_sequence: null,
  usage: { input_tokens: 1_000, output_tokens: 100, server_tool_use: { web_search_requests: searches } },
})

const call = (type: string, status = "completed") => ({
  type: "web_search_call",
  id: `ws_${type}`,
  status,
  action: { type, query: "q" },
})
const RESPONSE = {
  id: "resp_1",
  object: "response",
  created_at: 1,
  status: "completed",
  model: "searcher",
  output: [
    call("search"),
    call("open_page"),
    call("search", "failed"),
    call("search"),
    {
      type: "message",
      id: "m",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "Hi" }],
    },
  ],
  usage: { input_tokens: 1_000, output_tokens: 100, total_tokens: 1_100 },
}

const askMessages = (as: TestClient, more: Json = {}) =>
  as.post("/messages", {
    model: MESSAGES_MODEL,
    max_tokens: 200,
    messages: [{ role: "user", content: "Hi" }],
    tools: [{ type: "web_search_20250305", name: "web_search", max_uses: 5 }],
    ...more,
  })
const askResponses = (as: TestClient, more: Json = {}) =>
  as.post("/responses", { model: RESPONSES_MODEL, input: "Hi", tools: [{ type: "web_search" }], ...more })

describe("web searches that the provider runs", () => {
  test("POST /messages: are charged by the provider's count", async () => {
    const workspace = await newWorkspace()
    stop = mockProvider(() => Response.json(messageWith(3))).stop
    const response = await askMessages(workspace.as)
    const { usage } = await expectJson<{ usage: Json }>(200, response.clone())
    expect(usage["cost"]).toBe(TOKENS_USD + 0.03)
    expect((await receiptOf(workspace, response)).total_cost).toBe(TOKENS_USD + 0.03)
  })

  test("POST /messages, streamed: are charged by the last count", async () => {
    const workspace = await newWorkspace()
    const { content: _, ...message } = messageWith(0)
    const usage = (searches: number) => ({ output_tokens: 100, server_tool_use: { web_search_requests: searches } })
    stop = mockProvider(() =>
      sse([
        event({ type: "message_start", message: { ...message, content: [] } }),
        event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
        event({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Found" } }),
        event({ type: "content_block_stop", index: 0 }),
        event({ type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: usage(2) }),
        event({ type: "message_stop" }),
      ]),
    ).stop
    const response = await askMessages(workspace.as, { stream: true })
    expect(await response.clone().text()).toContain("message_stop")
    expect((await receiptOf(workspace, response)).total_cost).toBe(TOKENS_USD + 0.02)
  })

  test("POST /responses: searches are charged, opened pages and failed searches are not", async () => {
    const workspace = await newWorkspace()
    const { upstreamCalls, stop: end } = mockProvider(() => Response.json(RESPONSE))
    stop = end
    const response = await askResponses(workspace.as, { max_tool_calls: 4 })
    expect(upstreamCalls[0]?.body).toMatchObject({ tools: [{ type: "web_search" }], max_tool_calls: 4 })
    const { usage } = await expectJson<{ usage: Json }>(200, response.clone())
    expect(usage["cost"]).toBe(TOKENS_USD + 0.02)
    expect((await receiptOf(workspace, response)).total_cost).toBe(TOKENS_USD + 0.02)
  })

  test("POST /responses: are charged by the provider's number of billable requests", async () => {
    const workspace = await newWorkspace()
    const reported = { ...RESPONSE, tool_usage: { web_search: { num_requests: 1 } } }
    stop = mockProvider(() => Response.json(reported)).stop
    const response = await askResponses(workspace.as)
    expect((await receiptOf(workspace, response)).total_cost).toBe(TOKENS_USD + 0.01)
  })

  test("POST /responses, streamed: searches of a stream that breaks off are charged", async () => {
    const workspace = await newWorkspace()
    const started = { ...RESPONSE, status: "in_progress", output: [], usage: null }
    stop = mockProvider(() =>
      sse([
        event({ type: "response.created", response: started, sequence_number: 0 }),
        event({ type: "response.output_item.done", output_index: 0, item: call("search"), sequence_number: 1 }),
        event({ type: "response.output_text.delta", output_index: 1, delta: "Hi", sequence_number: 2 }),
        new Error("reset"),
      ]),
    ).stop
    const response = await askResponses(workspace.as, { stream: true })
    await response.clone().text()
    const { total_cost: total } = await receiptOf(workspace, response)
    expect(total).toBeGreaterThanOrEqual(0.01)
    expect(total).toBeLessThan(0.011)
  })

  test("the hold covers the searches that the request allows", async () => {
    const workspace = await newWorkspace()
    stop = mockProvider(() => Response.json(messageWith(2))).stop
    const { as } = await newKey(workspace, { limit: 0.05 })
    const tool = { type: "web_search_20250305", name: "web_search" }
    await expectJson(402, askMessages(as, { tools: [tool] }))
    await expectJson(200, askMessages(as, { tools: [{ ...tool, max_uses: 2 }] }))
  })

  test("the call has a line for its searches", async () => {
    const workspace = await newWorkspace()
    stop = mockProvider(() => Response.json(messageWith(3))).stop
    const response = await askMessages(workspace.as)
    await expectJson(200, response.clone())
    const id = response.headers.get("x-generation-id") ?? ""
    const { data } = await expectJson<{ data: Json }>(200, workspace.manage.get(`/calls/${id}`))
    expect(JSON.stringify(data)).toContain('"kind":"web_search","units":3,"price":"0.01","amount":"0.03"')
  })
})
