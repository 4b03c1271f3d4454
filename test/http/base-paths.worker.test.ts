import { exports } from "cloudflare:workers"
import { beforeAll, describe, expect, test } from "vitest"
import { newWorkspace, type Workspace } from "../support/world.ts"

/** Clients append `/v1`, `/v1beta` or `/openai/v1` to the base URL that a user gives them. */

const BASES = [
  "/v1",
  "/api/v1/v1",
  "/v1/v1",
  "/openai/v1",
  "/api/openai/v1",
  "/api/v1/openai/v1",
  "/v1/openai/v1",
] as const
const GEMINI_BASES = ["/v1beta", "/api/v1/v1beta", "/v1/v1beta"] as const

type Call = { method?: string; body?: unknown; headers?: Record<string, string>; host?: string }

function send(path: string, key: string, { method, body, headers, host = "gateway.test" }: Call = {}) {
  return (exports as unknown as { default: Fetcher }).default.fetch(`http://${host}${path}`, {
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}

let workspace: Workspace
beforeAll(async () => {
  workspace = await newWorkspace()
})

const messages = [{ role: "user", content: "Hello there" }]

test.each(["/v2", "/api/v2", "/api/v1/v2", "/v1/v2"])(
  "Cohere's clients rerank documents at %s/rerank",
  async (base) => {
    const body = { model: "sim/rerank", query: "cat", documents: ["a dog", "the cat"], top_n: 1 }
    const response = await send(`${base}/rerank`, workspace.key, { body })
    expect(await response.json()).toMatchObject({ results: [{ index: 1, relevance_score: 1 }] })
    expect((await send(`${base}/chat`, workspace.key, { body })).status).toBe(404)
  },
)

describe.each(BASES)("a client whose requests begin with %s", (base) => {
  const call = (path: string, options?: Call) => send(base + path, workspace.key, options)

  test("gets chat completions, responses and messages", async () => {
    const chat = await call("/chat/completions", { body: { model: "sim/echo", messages } })
    expect(await chat.json()).toMatchObject({ choices: [{ message: { content: "Hello there" } }] })
    const response = await call("/responses", { body: { model: "sim/echo", input: "Hello there" } })
    expect(await response.json()).toMatchObject({ status: "completed" })
    const message = await call("/messages", { body: { model: "sim/echo", max_tokens: 50, messages } })
    expect(await message.json()).toMatchObject({ content: [{ text: "Hello there" }] })
  })

  test("gets a chat completion from a body without a length", async () => {
    const { body } = new Response(JSON.stringify({ model: "sim/echo", messages }))
    const response = await (exports as unknown as { default: Fetcher }).default.fetch(
      `http://gateway.test${base}/chat/completions`,
      {
        method: "POST",
        headers: { authorization: `Bearer ${workspace.key}`, "content-type": "application/json" },
        body: body as ReadableStream,
      },
    )
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: "Hello there" } }] })
  })

  test("gets models, also with an encoded slash", async () => {
    expect(await (await call("/models")).json()).toHaveProperty("data")
    expect(await (await call("/model/sim%2Fecho")).json()).toMatchObject({ data: { id: "sim/echo" } })
  })

  test("gets errors in the format of the endpoint", async () => {
    const unknown = await call("/nothing")
    expect(unknown.status).toBe(404)
    const message = await call("/messages", { body: { model: "sim/status-429", max_tokens: 5, messages } })
    expect(await message.json()).toMatchObject({ type: "error", error: { type: "rate_limit_error" } })
    expect((await call("/chat/completions", { method: "PUT", body: {} })).status).toBe(405)
  })

  test("needs a key, and gets interns only at hostnames without a region", async () => {
    expect((await send(`${base}/key`, "sk-gw-v1-nothing")).status).toBe(401)
    for (const path of ["/interns", "/interns/x/daemon/attach", "/vault/secrets"]) {
      const response = await call(path, { host: "eu.localhost" })
      expect(await response.json()).toMatchObject({ error: { code: 403, metadata: { reason: "regional_hostname" } } })
    }
  })

  test("may be a page of another origin", async () => {
    const headers = { origin: "https://app.test", "access-control-request-method": "POST" }
    const response = await call("/chat/completions", { method: "OPTIONS", headers })
    expect(response.headers.get("access-control-allow-origin")).toBe("*")
  })
})

describe("a base URL that ends with a slash", () => {
  const body = { model: "sim/echo", messages }

  test.each([
    "/api/v1//chat/completions",
    "//v1/chat/completions",
    "/api//v1/chat/completions/",
    "/v1/chat/completions/",
  ])("%s completes a chat", async (path) => {
    const response = await send(path, workspace.key, { body })
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: "Hello there" } }] })
  })

  test("has the checks of the path without it", async () => {
    expect((await send("//api//v1//interns//", workspace.key, { host: "eu.localhost" })).status).toBe(403)
    expect((await send("/api/v1//key/", "sk-gw-v1-nothing")).status).toBe(401)
  })
})

describe("the header of a key", () => {
  const keyOf = async (headers: Record<string, string>) => {
    const response = await (exports as unknown as { default: Fetcher }).default.fetch("http://gateway.test/v1/key", {
      headers,
    })
    return [response.status, JSON.stringify(await response.json())] as const
  }

  test.each(["x-api-key", "x-goog-api-key", "api-key", "x-portkey-api-key", "x-litellm-api-key", "x-bf-vk"])(
    "may be %s, as clients of other vendors send it",
    async (name) => {
      expect((await keyOf({ [name]: workspace.key }))[0]).toBe(200)
      expect((await keyOf({ [name]: "sk-gw-v1-nothing" }))[0]).toBe(401)
    },
  )

  test("is explained when Authorization has no scheme", async () => {
    const [status, text] = await keyOf({ authorization: workspace.key })
    expect([status, text]).toEqual([401, expect.stringContaining("Authorization: Bearer")])
    expect(text).not.toContain(workspace.key)
  })
})

test.each(GEMINI_BASES)("%s has the API of Google's clients", async (base) => {
  const body = { contents: [{ parts: [{ text: "Hello there" }] }] }
  const response = await send(`${base}/models/sim/echo:generateContent`, workspace.key, { body })
  expect(await response.json()).toMatchObject({ candidates: [{ content: { parts: [{ text: "Hello there" }] } }] })
  expect(await (await send(`${base}/models`, workspace.key)).json()).toHaveProperty("models")
})

describe("a client of Azure OpenAI", () => {
  const version = "?api-version=2025-04-01-preview"
  const call = (path: string, body?: unknown, headers?: Record<string, string>) =>
    send(`/openai${path}${version}`, workspace.key, { body, ...(headers && { headers }) })

  test.each([
    ["a deployment in place of the model", "sim/echo", { messages }],
    ["a deployment with an encoded slash", "sim%2Fecho", { messages }],
    ["a deployment that differs from the model of the body", "sim/echo", { model: "sim/status-503", messages }],
  ])("calls %s", async (_, deployment, body) => {
    const response = await call(`/deployments/${deployment}/chat/completions`, body)
    expect(await response.json()).toMatchObject({
      model: "sim/echo",
      choices: [{ message: { content: "Hello there" } }],
    })
  })

  test("reads a body without a length, and one beyond ASCII", async () => {
    const text = JSON.stringify({ messages: [{ role: "user", content: "Grüße 🙂" }] })
    const { body } = new Response(text)
    const response = await (exports as unknown as { default: Fetcher }).default.fetch(
      `http://gateway.test/openai/deployments/sim/echo/chat/completions${version}`,
      {
        method: "POST",
        headers: { "api-key": workspace.key, "content-type": "application/json; charset=utf-8" },
        body: body as ReadableStream,
      },
    )
    expect(await response.json()).toMatchObject({ choices: [{ message: { content: "Grüße 🙂" } }] })
  })

  test("gets embeddings, text completions, images and speech of a deployment", async () => {
    expect(await (await call("/deployments/sim/embed/embeddings", { input: "Hi" })).json()).toHaveProperty("data")
    const completion = await call("/deployments/sim/echo/completions", { prompt: "Hi" })
    expect(await completion.json()).toMatchObject({ object: "text_completion" })
    const image = await call("/deployments/sim/image/images/generations", { prompt: "A cat" })
    expect(await image.json()).toHaveProperty("data")
    expect((await call("/deployments/sim/speech/audio/speech", { input: "Hi", voice: "alloy" })).status).toBe(200)
  })

  test("gets models and responses without a deployment", async () => {
    expect(await (await call("/models")).json()).toHaveProperty("data")
    expect(await (await call("/responses", { model: "sim/echo", input: "Hi" })).json()).toHaveProperty("output")
  })

  test("gets the errors of the endpoint", async () => {
    const path = "/deployments/sim/none/chat/completions"
    expect(await (await call(path, { messages })).json()).toMatchObject({ error: { code: 404 } })
    expect((await call("/deployments/sim/echo/chat/completions", { messages: 1 })).status).toBe(400)
    expect((await call("/deployments/sim/echo/chat/completions", "text")).status).toBe(400)
    expect((await call("/deployments/sim/echo/keys", { name: "k" })).status).toBe(404)
    expect((await call("/deployments/x/interns", {})).status).toBe(404)
    const unsigned = await send("/openai/deployments/sim/echo/chat/completions", "sk-gw-v1-nothing", {
      body: { messages },
    })
    expect(unsigned.status).toBe(401)
    const large = "x".repeat(17 * 1024 * 1024)
    expect((await call("/deployments/sim/echo/chat/completions", { messages: large })).status).toBe(413)
  })
})
