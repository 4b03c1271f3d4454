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
