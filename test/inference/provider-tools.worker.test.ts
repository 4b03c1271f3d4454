import { afterEach, describe, expect, test, vi } from "vitest"
import { mockProvider } from "../support/mock-provider.ts"
import { expectJson, newKey, newWorkspace, openHolds, receiptOf, type TestClient } from "../support/world.ts"
import { useVariable } from "../support/variable.ts"

afterEach(() => vi.restoreAllMocks())

const OWN_KEY = "ownCanary0123456789abcdefXYZ"
/** 1,000 prompt and 100 completion tokens at 1 and 2 USD a million. */
const TOKENS_USD = 0.0012
type Failure = { error: { message: string } }

const image = (status: string) => ({ type: "image_generation_call", id: `ig_${status}`, status, result: "AAAA" })
const RESPONSE = {
  id: "resp_1",
  object: "response",
  created_at: 1,
  status: "completed",
  model: "m",
  output: [
    image("completed"),
    image("failed"),
    image("completed"),
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

const ask = (as: TestClient, model: string, tool: object, more: object = {}) =>
  as.post("/responses", { model, input: "Hi", tools: [tool], ...more })

describe("a tool that the provider charges besides tokens", () => {
  test.each([
    [{ type: "code_interpreter", container: { type: "auto", memory_limit: "64g" } }, "a BYOK credential"],
    [{ type: "shell", environment: { type: "container_auto" } }, "a BYOK credential"],
    [{ type: "image_generation", model: "gpt-image-2" }, "a price of the endpoint (image_output)"],
  ])("without a price, is rejected with the gateway's key: %j", async (tool, needs) => {
    const workspace = await newWorkspace()
    const { upstreamCalls } = mockProvider(() => Response.json(RESPONSE))
    const { error } = await expectJson<Failure>(400, ask(workspace.as, "batching/b1", tool))
    expect(error.message).toMatch(/^tools\[0\]\.type: /)
    expect(error.message).toContain(needs)
    expect(upstreamCalls).toEqual([])
    expect(await openHolds(workspace)).toEqual([])
  })

  test("is run with a BYOK credential", async () => {
    const workspace = await newWorkspace()
    await expectJson(201, workspace.manage.post("/byok", { provider: "batching", key: OWN_KEY }))
    const { upstreamCalls } = mockProvider(() => Response.json(RESPONSE))
    const tool = { type: "code_interpreter", container: { type: "auto" } }
    await expectJson(200, ask(workspace.as, "batching/b1", tool))
    expect(upstreamCalls[0]?.headers.get("authorization")).toBe(`Bearer ${OWN_KEY}`)
    expect(upstreamCalls[0]?.body).toMatchObject({ tools: [tool] })
  })

  test("is run if the client runs it", async () => {
    const { as } = await newWorkspace()
    mockProvider(() => Response.json(RESPONSE))
    await expectJson(200, ask(as, "batching/b1", { type: "shell", environment: { type: "local" } }))
  })
})

describe("images of a provider's tool", () => {
  test("are charged each at the price of a generated image; failed ones are not", async () => {
    const workspace = await newWorkspace()
    mockProvider(() => Response.json(RESPONSE))
    const response = await ask(workspace.as, "batching/painter", { type: "image_generation" })
    const { usage } = await expectJson<{ usage: { cost: number } }>(200, response.clone())
    expect(usage.cost).toBe(0.0812)
    expect((await receiptOf(workspace, response)).total_cost).toBe(0.0812)
  })

  test("that the model did not make are not charged", async () => {
    const workspace = await newWorkspace()
    mockProvider(() => Response.json({ ...RESPONSE, output: RESPONSE.output.slice(3) }))
    const response = await ask(workspace.as, "batching/painter", { type: "image_generation" })
    expect((await receiptOf(workspace, response)).total_cost).toBe(TOKENS_USD)
  })

  test("are covered by the hold", async () => {
    const workspace = await newWorkspace()
    const { as: limited } = await newKey(workspace, { limit: 0.1 })
    const { upstreamCalls } = mockProvider(() => Response.json(RESPONSE))
    const more = { max_output_tokens: 100 }
    await expectJson(
      402,
      ask(limited, "batching/painter", { type: "image_generation" }, { ...more, max_tool_calls: 3 }),
    )
    expect(upstreamCalls).toEqual([])
    await expectJson(
      200,
      ask(limited, "batching/painter", { type: "image_generation" }, { ...more, max_tool_calls: 2 }),
    )
  })
})

describe("UNPRICED_TOOLS", () => {
  useVariable("UNPRICED_TOOLS", "code_interpreter, image_generation")

  test("its tools are run with the gateway's key, and their tokens are charged", async () => {
    const workspace = await newWorkspace()
    mockProvider(() => Response.json(RESPONSE))
    const response = await ask(workspace.as, "batching/b1", { type: "image_generation" })
    expect((await receiptOf(workspace, response)).total_cost).toBe(TOKENS_USD)
    await expectJson(400, ask(workspace.as, "batching/b1", { type: "shell", environment: { type: "container_auto" } }))
  })
})
