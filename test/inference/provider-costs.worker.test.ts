import { expect, onTestFinished, test } from "vitest"
import { chunk, mockProvider, sse } from "../support/mock-provider.ts"
import { newWorkspace } from "../support/world.ts"

const SECRET = 0.123_456_789
const COSTS = { cost: SECRET, is_byok: true, cost_details: { upstream_inference_cost: SECRET } }
const USAGE = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8, ...COSTS }
const DOCUMENT = {
  choices: [{ index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }],
  data: [{ embedding: [1] }],
  usage: USAGE,
  openrouter_metadata: { summary: String(SECRET) },
}

test.each([
  ["/chat/completions", { messages: [{ role: "user", content: "Hi" }] }],
  ["/chat/completions", { messages: [{ role: "user", content: "Hi" }], stream: true }],
  ["/responses", { input: "Hi" }],
  ["/responses", { input: "Hi", stream: true }],
  ["/messages", { messages: [{ role: "user", content: "Hi" }], max_tokens: 10 }],
  ["/messages", { messages: [{ role: "user", content: "Hi" }], max_tokens: 10, stream: true }],
  ["/completions", { prompt: "Hi" }],
  ["/embeddings", { input: "Hi", model: "pooled/vectors" }],
])("%s %j returns what the account is charged, not what the operator pays at another gateway", async (path, body) => {
  const { stop } = mockProvider((call) =>
    call.body["stream"] === true
      ? sse([chunk({ content: "Hi" }, "stop"), chunk({}, null, { choices: [], usage: USAGE }), "data: [DONE]\n\n"])
      : Response.json(DOCUMENT),
  )
  onTestFinished(stop)
  const { as } = await newWorkspace()
  const answer = await as.post(path, { model: "pooled/k59", ...body })
  const text = await answer.text()
  expect(answer.status, text).toBe(200)
  expect(text).toContain('"cost":')
  expect(text).not.toContain(String(SECRET))
  expect(text).not.toContain('"is_byok":true')
})

const TEXT = { type: "output_text", text: "Hi", annotations: [] }
const RESPONSE = {
  id: "r",
  object: "response",
  status: "completed",
  output: [{ type: "message", id: "m", role: "assistant", status: "completed", content: [TEXT] }],
  usage: { input_tokens: 5, output_tokens: 3, total_tokens: 8, ...COSTS },
  openrouter_metadata: { summary: String(SECRET) },
}
const MESSAGE = {
  id: "m",
  type: "message",
  role: "assistant",
  content: [{ type: "text", text: "Hi" }],
  stop_reason: "end_turn",
  usage: { input_tokens: 5, output_tokens: 3, ...COSTS },
  service_metadata: { summary: String(SECRET) },
}
const events = (...all: (Record<string, unknown> & { type: string })[]) =>
  sse(all.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`))
const delta = { item_id: "m", output_index: 0, content_index: 0, delta: "Hi", logprobs: [] }

test.each([
  ["/responses", { model: "batching/b18", input: "Hi" }, () => Response.json(RESPONSE)],
  [
    "/responses",
    { model: "batching/b19", input: "Hi", stream: true },
    () =>
      events(
        { type: "response.created", response: { ...RESPONSE, status: "in_progress", output: [], usage: null } },
        { type: "response.output_text.delta", ...delta },
        { type: "response.completed", response: RESPONSE },
      ),
  ],
  [
    "/messages",
    { model: "acme/opus-1", max_tokens: 10, messages: [{ role: "user", content: "Hi" }] },
    () => Response.json(MESSAGE),
  ],
  [
    "/messages",
    { model: "acme/opus-1", max_tokens: 10, messages: [{ role: "user", content: "Hi" }], stream: true },
    () =>
      events(
        { type: "message_start", message: { ...MESSAGE, content: [], usage: { input_tokens: 5, output_tokens: 0 } } },
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
        { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi" } },
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason: "end_turn" }, usage: MESSAGE.usage },
        { type: "message_stop" },
      ),
  ],
])(
  "%s in the provider's own format returns no costs and routes of another gateway: %j",
  async (path, body, respond) => {
    const { stop } = mockProvider(respond)
    onTestFinished(stop)
    const answer = await (await newWorkspace()).as.post(path, body)
    const text = await answer.text()
    expect(answer.status, text).toBe(200)
    expect(text).toContain("Hi")
    expect(text).toContain('"cost":')
    expect(text).not.toContain(String(SECRET))
  },
)
