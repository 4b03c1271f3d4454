import { exports } from "cloudflare:workers"
import { afterEach, describe, expect, test, vi } from "vitest"
import { newKey, newWorkspace, operatorClient, expectJson } from "../support/world.ts"

/** Limits on what a hostile client or a faulty provider can cause. */
type Json = Record<string, unknown>
type Failure = { error: { code: number; message: string }; service_metadata?: Json }

afterEach(() => vi.restoreAllMocks())

let models = 0
async function newModel(output: string, pricing: Json): Promise<string> {
  const id = `bounds/${output}-${models++}`
  const endpoints = [{ provider: "played", upstream_id: "up", pricing: { prompt: "0", completion: "0", ...pricing } }]
  const model = { id, name: id, context_length: 32_000, output_modalities: [output], endpoints }
  await expectJson(200, operatorClient.put("/catalogue", { models: [model] }))
  return id
}

function respondWith(answer: (url: string, body: Json) => Response): { url: string; body: Json }[] {
  const requests: { url: string; body: Json }[] = []
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const request = new Request(input, init)
    const body = request.method === "POST" ? await request.json<Json>() : {}
    requests.push({ url: request.url, body })
    return answer(request.url, body)
  })
  return requests
}

describe("the cost bound of a prompt", () => {
  const send = async (limit: number, content: unknown) => {
    const { as } = await newKey(await newWorkspace(), { limit })
    return as.post("/chat/completions", { model: "sim/echo", max_tokens: 16, messages: [{ role: "user", content }] })
  }
  const picture = { type: "image_url", image_url: { url: "https://x.test/y.png" } }

  test("does not shrink when other fields accompany an image URL", async () => {
    const text = { type: "text", text: "字".repeat(10_000) }
    expect((await send(0.03, [text, picture])).status).toBe(402)
    expect((await send(0.03, [text, { ...picture, z: Array.from({ length: 6_000 }, () => 1e20) }])).status).toBe(402)
  })

  test("counts the bytes of a file as if all were text", async () => {
    const file = (bytes: number) => ({
      type: "file",
      file: { filename: "a.txt", file_data: `data:text/plain;base64,${"A".repeat(bytes)}` },
    })
    expect((await send(0.04, [file(100)])).status).toBe(200)
    expect((await send(0.04, [file(60_000)])).status).toBe(402)
  })
})

describe("a video", () => {
  const PRICE = { second: "0.1" }

  test("with duration and seconds that differ is rejected with 400", async () => {
    const model = await newModel("video", PRICE)
    const { as } = await newWorkspace()
    const requests = respondWith(() => Response.json({ id: "v", status: "queued" }))
    const body = { model, prompt: "x", duration: 1 }
    const { error } = await expectJson<Failure>(400, as.post("/videos", { ...body, seconds: "3600" }))
    expect(error.message).toContain("seconds: differs from duration")
    await expectJson(400, as.post("/videos", { ...body, seconds: "99999" }))
    await expectJson(202, as.post("/videos", { ...body, seconds: "1" }))
    expect(requests).toHaveLength(1)
    expect(requests[0]?.body).toMatchObject({ duration: 1 })
  })

  test("that failed is reported without the provider's key and address", async () => {
    const model = await newModel("video", PRICE)
    const { as } = await newWorkspace()
    const errorText = "Incorrect API key provided: played-provider-key-0123456789 at HOST"
    respondWith((url, body) =>
      "prompt" in body
        ? Response.json({ id: "v", status: "queued" })
        : Response.json({
            id: "v",
            status: "failed",
            error: { message: errorText.replace("HOST", new URL(url).host) },
          }),
    )
    const { id } = await expectJson<{ id: string }>(202, as.post("/videos", { model, prompt: "x", duration: 1 }))
    const returned = await expectJson<Json>(200, as.get(`/videos/${id}`))
    expect(returned["status"]).toBe("failed")
    expect(JSON.stringify(returned)).not.toMatch(/played-provider-key|127\.0\.0\.1:/)
  })

  test("returns 404 on a regional hostname its provider is outside of, without a call upstream", async () => {
    const model = await newModel("video", PRICE)
    const { as, key } = await newWorkspace()
    const requests = respondWith(() => Response.json({ id: "v", status: "queued" }))
    const { id } = await expectJson<{ id: string }>(202, as.post("/videos", { model, prompt: "x", duration: 1 }))
    const front = (exports as unknown as { default: Fetcher }).default
    const headers = { authorization: `Bearer ${key}` }
    await expectJson(404, front.fetch(`http://eu.localhost/api/v1/videos/${id}`, { headers }))
    await expectJson(404, front.fetch(`http://eu.localhost/api/v1/videos/${id}/content`, { headers }))
    // Concurrent tests may deliver at the same time.
    expect(requests.filter(({ url }) => url.includes("/videos"))).toHaveLength(1)
  })
})

test("a thinking budget shrinks with the max_tokens that the remaining limit allows on /messages", async () => {
  const workspace = await newWorkspace()
  const requests = respondWith(() =>
    Response.json({
      type: "message",
      id: "m",
      role: "assistant",
      model: "opus",
      content: [{ type: "text", text: "a" }],
      usage: {},
    }),
  )
  const body = {
    model: "acme/opus-1",
    max_tokens: 5_000,
    thinking: { type: "enabled", budget_tokens: 4_000 },
    messages: [{ role: "user", content: "Hi" }],
  }
  await expectJson(200, (await newKey(workspace, { limit: 0.006 })).as.post("/messages", body))
  await expectJson(200, (await newKey(workspace, { limit: 0.002 })).as.post("/messages", body))
  const [some, none] = requests.map(
    (one) => one.body as { max_tokens: number; thinking: { type: string; budget_tokens?: number } },
  )
  expect(some?.max_tokens).toBeLessThan(5_000)
  expect(some?.thinking.budget_tokens).toBeLessThan(some?.max_tokens ?? 0)
  expect(none?.thinking).toEqual({ type: "disabled" })
})

describe("invalid input is rejected with a 400 that names the field", () => {
  test.each([
    ["/embeddings", { model: "sim/embed", input: "x", models: 1 }, "models"],
    ["/rerank", { model: "sim/rerank", query: "x", documents: ["y"], models: [null] }, "models"],
    ["/moderations", { model: "sim/moderation", input: "x", models: [null] }, "models"],
    ["/images", { model: "sim/image", prompt: "x", models: 1 }, "models"],
    ["/messages/count_tokens", { model: "a/b", messages: [{ role: "user", content: "x" }], system: 1 }, "system"],
    ["/messages/count_tokens", { model: "a/b", messages: [{ role: "user", content: "x" }], system: [null] }, "system"],
    [
      "/chat/completions",
      { model: "sim/echo", messages: [{ role: "user", content: "x" }], trace: "x" },
      "trace: must be an object",
    ],
    [
      "/chat/completions",
      { model: "sim/echo", messages: [{ role: "user", content: "x" }], provider: 1 },
      "provider: must be an object",
    ],
  ])("%s %j", async (path, body, errorText) => {
    const { as } = await newWorkspace()
    const { error } = await expectJson<Failure>(400, as.post(path, body))
    expect(error.message).toContain(errorText)
    expect(error.message).not.toContain("Invalid input")
  })
})

describe("an upstream failure", () => {
  test("relays Retry-After up to 300 seconds and drops a negative value", async () => {
    const { as } = await newWorkspace()
    respondWith(() =>
      Response.json({ error: { message: "slow" } }, { status: 429, headers: { "retry-after": "99999999999" } }),
    )
    const returned = await as.chat("played/m95", "Hi")
    expect(returned.headers.get("retry-after")).toBe("300")
    respondWith(() => Response.json({ error: { message: "slow" } }, { status: 429, headers: { "retry-after": "-5" } }))
    expect((await as.chat("played/m96", "Hi")).headers.get("retry-after")).toBeNull()
  })

  test("without a route includes routing metadata in the error", async () => {
    const { as } = await newWorkspace()
    const preferences = { provider: { only: ["nobody"] } }
    const returned = await expectJson<Failure>(
      404,
      as.chat("sim/echo", "Hi", preferences, { "x-service-metadata": "enabled" }),
    )
    expect(returned.service_metadata).toMatchObject({ requested: "sim/echo", endpoints: { total: 0, available: [] } })
  })
})

describe("missing upstream fields", () => {
  test("a total alone counts as prompt tokens where a request has only a prompt", async () => {
    const model = await newModel("rerank", { prompt: "0.000001" })
    const { as } = await newWorkspace()
    respondWith(() => Response.json({ results: [{ index: 0, relevance_score: 1 }], usage: { total_tokens: 10 } }))
    const { usage } = await expectJson<{ usage: Json }>(
      200,
      as.post("/rerank", { model, query: "q", documents: ["d"] }),
    )
    expect(usage["cost"]).toBe(0.00001)
  })

  test.each([
    ["/chat/completions", { messages: [{ role: "user", content: "Hi" }] }, "completion_tokens"],
    ["/responses", { input: "Hi" }, "output_tokens"],
    ["/messages", { max_tokens: 50, messages: [{ role: "user", content: "Hi" }] }, "output_tokens"],
  ])("%s: returns the estimated tokens and cost as usage", async (path, body, key) => {
    const { as } = await newWorkspace()
    const { usage } = await expectJson<{ usage: Json }>(200, as.post(path, { model: "sim/no-usage", ...body }))
    expect(usage[key]).toBeGreaterThan(0)
    expect(usage["cost"]).toBeGreaterThan(0)
  })

  test.each([
    ["/chat/completions", { messages: [{ role: "user", content: "Hi there" }] }],
    ["/responses", { input: "Hi there" }],
    ["/messages", { max_tokens: 50, messages: [{ role: "user", content: "Hi there" }] }],
  ])("%s: a failed stream includes routing metadata when requested", async (path, body) => {
    const { as } = await newWorkspace()
    const headers = { "x-service-metadata": "enabled" }
    const raw = await (await as.post(path, { model: "sim/late-error", stream: true, ...body }, headers)).text()
    expect(raw).toContain('"service_metadata":{"attempt":1')
  })
})

test("embeddings without object and index get both", async () => {
  const model = await newModel("embeddings", {})
  const { as } = await newWorkspace()
  respondWith(() => Response.json({ data: [{ embedding: [1] }, { embedding: [2] }] }))
  const { data } = await expectJson<{ data: Json[] }>(200, as.post("/embeddings", { model, input: ["a", "b"] }))
  expect(data).toEqual([
    { object: "embedding", index: 0, embedding: [1] },
    { object: "embedding", index: 1, embedding: [2] },
  ])
})
