import { afterEach, describe, expect, test } from "vitest"
import { chunk, DONE, mockProvider, sse, usageChunk } from "../support/mock-provider.ts"
import { expectJson, newKey, newWorkspace, readStream, receiptOf } from "../support/world.ts"

/** A model with other prices above 10,000 prompt tokens and for two tiers (worker-project.ts). */
const MODEL = "played/tiered"

let stop = () => {}
afterEach(() => stop())

type Usage = { prompt_tokens: number; completion_tokens: number; prompt_tokens_details?: { cached_tokens: number } }

function answerWith(usage: Usage, tier?: string): void {
  const choice = { index: 0, message: { role: "assistant", content: "Hi" }, finish_reason: "stop" }
  const total = usage.prompt_tokens + usage.completion_tokens
  stop = mockProvider(() =>
    Response.json({
      id: "up-1",
      choices: [choice],
      usage: { ...usage, total_tokens: total },
      ...(tier !== undefined && { service_tier: tier }),
    }),
  ).stop
}

/** The cost in the response, which is also that of the record. */
async function costOf(fields: Record<string, unknown> = {}, path = "/chat/completions"): Promise<number> {
  const workspace = await newWorkspace()
  const text = "x".repeat(400)
  const body = {
    "/chat/completions": { messages: [{ role: "user", content: text }], max_tokens: 20_000 },
    "/responses": { input: text, max_output_tokens: 20_000 },
    "/messages": { messages: [{ role: "user", content: text }], max_tokens: 20_000 },
  }[path]
  const response = await workspace.as.post(path, { model: MODEL, ...body, ...fields })
  const { usage } = await expectJson<{ usage: { cost: number } }>(200, response.clone())
  expect((await receiptOf(workspace, response)).total_cost).toBe(usage.cost)
  return usage.cost
}

describe("a price that depends on the call", () => {
  const LONG = { prompt_tokens: 20_000, completion_tokens: 1_000, prompt_tokens_details: { cached_tokens: 10_000 } }

  test.each(["/chat/completions", "/responses", "/messages"])(
    "%s: a long prompt is charged at its price",
    async (path) => {
      answerWith(LONG)
      const padding = { role: "user", content: "y".repeat(30_000) }
      const fields = path === "/responses" ? { input: padding.content } : { messages: [padding] }
      // 10,000 x 2, 10,000 cached x 0.1, and 1,000 x 3 USD a million.
      expect(await costOf(fields, path)).toBe(0.024)
    },
  )

  test("a prompt at the threshold is charged at the base price", async () => {
    answerWith({ prompt_tokens: 10_000, completion_tokens: 1_000 })
    expect(await costOf({ messages: [{ role: "user", content: "y".repeat(30_000) }] })).toBe(0.012)
  })

  test("the last chunk of a stream has the amount that is charged", async () => {
    stop = mockProvider(() => sse([chunk({ content: "Hi" }), chunk({}, "stop"), usageChunk(20_000, 1_000), DONE])).stop
    const workspace = await newWorkspace()
    const response = await workspace.as.post("/chat/completions", {
      model: MODEL,
      messages: [{ role: "user", content: "y".repeat(30_000) }],
      stream: true,
    })
    const { chunks } = await readStream(response)
    const cost = (chunks.at(-1) as { usage?: { cost?: number } }).usage?.cost
    expect(cost).toBe(0.043)
    expect((await receiptOf(workspace, response)).total_cost).toBe(cost)
  })

  const SHORT = { prompt_tokens: 100, completion_tokens: 10 }

  test.each([
    ["requested and granted", "priority", "priority", 0.0012],
    ["requested under its other name", "fast", "priority", 0.0012],
    ["requested and not granted", "priority", "default", 0.00012],
    ["requested, and the provider reports none", "flex", undefined, 0.00006],
    ["not requested", undefined, undefined, 0.00012],
    ["a tier without a price", "scale", "scale", 0.00012],
  ])("a tier that is %s", async (_, requested, reported, cost) => {
    answerWith(SHORT, reported)
    expect(await costOf({ ...(requested !== undefined && { service_tier: requested }) })).toBe(cost)
  })

  test("the hold covers the requested tier: a key that cannot pay it is rejected before the call", async () => {
    answerWith(SHORT, "priority")
    const workspace = await newWorkspace()
    const { as } = await newKey(workspace, { limit: 0.005 })
    const body = { model: MODEL, messages: [{ role: "user", content: "Hi" }], max_tokens: 100 }
    await expectJson(402, as.post("/chat/completions", { ...body, service_tier: "priority" }))
    await expectJson(200, as.post("/chat/completions", body))
  })

  test("the record and the model list have the prices", async () => {
    answerWith(SHORT, "flex")
    const workspace = await newWorkspace()
    const body = { model: MODEL, messages: [{ role: "user", content: "Hi" }], service_tier: "flex" }
    const response = await workspace.as.post("/chat/completions", body)
    const id = response.headers.get("x-generation-id") ?? ""
    await expectJson(200, response)
    const { data } = await expectJson<{ data: { cost: { lines: { kind: string; price: string }[] } } }>(
      200,
      workspace.manage.get(`/calls/${id}`),
    )
    expect(JSON.stringify(data)).toContain('"0.0000005"')
    const { pricing } = await expectJson<{ pricing: { overrides: unknown[] } }>(
      200,
      workspace.as.get(`/models/${MODEL}`),
    )
    expect(pricing.overrides).toHaveLength(3)
  })
})
