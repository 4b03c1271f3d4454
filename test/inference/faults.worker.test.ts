import { describe, expect, test } from "vitest"
import { embeddedModels } from "../../src/embedded/models.ts"
import {
  type Chunk,
  newWorkspace,
  type Receipt,
  receiptOf,
  readStream,
  expectJson,
  textOf,
  openHolds,
} from "../support/world.ts"
import { useShortHeartbeats } from "../support/variable.ts"

/** The echo is 24 units long: a prompt of 4 + 6 tokens. */
const TEXT = "Say it again and again.."
const PROMPT_TOKENS = 10
const usd = (prompt: number, completion: number, cached = 0) =>
  Number(((prompt - cached) * 1e-6 + cached * 1e-7 + completion * 2e-6).toFixed(9))

const seen = new Set<string>()
async function stream(slug: string, more: Record<string, unknown> = {}) {
  seen.add(slug)
  const workspace = await newWorkspace()
  const read = await readStream(workspace.as.chat(`sim/${slug}`, TEXT, { stream: true, ...more }))
  return { ...read, receipt: await receiptOf(workspace, read.response), workspace }
}
async function nonStreamed(slug: string, more: Record<string, unknown> = {}) {
  seen.add(slug)
  const workspace = await newWorkspace()
  const response = await workspace.as.chat(`sim/${slug}`, TEXT, more)
  const text = await response.text()
  const id = response.headers.get("x-generation-id")
  return { status: response.status, body: JSON.parse(text) as Body, headers: response.headers, id, workspace, response }
}
type Body = {
  choices: {
    message: {
      content: string | null
      tool_calls?: { function: { name: string; arguments: string } }[]
      refusal?: string
      reasoning?: string
    }
    finish_reason: string
  }[]
  usage?: { prompt_tokens: number; completion_tokens: number; total_tokens: number; cost: number }
  error?: { code: number; message: string; metadata?: Record<string, unknown> }
}

/** A complete stream: a finish, usage once, `[DONE]` last. */
function expectComplete(chunks: readonly Chunk[], done: boolean, finish = "stop") {
  expect(done).toBe(true)
  expect(chunks.some((chunk) => chunk.choices[0]?.finish_reason === finish)).toBe(true)
  expect(chunks.every((chunk) => chunk.error === undefined)).toBe(true)
}

function expectFailed(chunks: readonly Chunk[], done: boolean, code: number) {
  expect(done).toBe(true)
  const last = chunks.at(-1)
  expect(last).toMatchObject({
    object: "chat.completion.chunk",
    choices: [{ index: 0, finish_reason: "error" }],
    error: { code, message: expect.any(String), metadata: { error_type: expect.any(String) } },
  })
  expect(chunks.slice(0, -1).every((chunk) => chunk.choices[0]?.finish_reason !== "stop")).toBe(true)
}

function expectCharged(
  receipt: Receipt,
  expected: { prompt: number; completion: number; from: string; cached?: number },
) {
  expect(receipt).toMatchObject({
    tokens_prompt: expected.prompt,
    tokens_completion: expected.completion,
    tokens_from: expected.from,
    total_cost: usd(expected.prompt, expected.completion, expected.cached),
  })
}

describe.concurrent("a complete response", () => {
  test.each([
    "echo",
    "crlf",
    "comments",
    "byte-chunks",
    "split-utf8",
    "odd-usage",
    "null-usage",
    "bare-chunks",
    "json",
    "no-done",
  ])("sim/%s: the client gets all content with usage, and is charged the provider's count", async (slug) => {
    const { chunks, done, receipt } = await stream(slug)
    expectComplete(chunks, done)
    const usage = chunks.map((chunk) => chunk.usage).find((found) => found !== undefined)
    expect(usage?.total_tokens).toBeGreaterThan(PROMPT_TOKENS)
    expectCharged(receipt, {
      prompt: usage?.prompt_tokens ?? 0,
      completion: usage?.completion_tokens ?? 0,
      from: "upstream",
    })
    expect(receipt).toMatchObject({ ending: "complete", finish_reason: "stop", status: 200 })
  })

  test("sim/echo: the JSON response includes its cost", async () => {
    const { status, body, response, workspace } = await nonStreamed("echo")
    expect(status).toBe(200)
    expect(body.choices[0]).toMatchObject({ message: { role: "assistant", content: TEXT }, finish_reason: "stop" })
    expect(body.usage).toMatchObject({
      prompt_tokens: PROMPT_TOKENS,
      completion_tokens: 6,
      total_tokens: 16,
      cost: usd(10, 6),
    })
    expectCharged(await receiptOf(workspace, response), { prompt: PROMPT_TOKENS, completion: 6, from: "upstream" })
  })

  test("sim/echo:free costs nothing", async () => {
    const { receipt, workspace } = await stream("echo:free")
    expect(receipt.total_cost).toBe(0)
    expect(await openHolds(workspace)).toEqual([])
  })

  test("sim/cached-tokens: cached tokens are charged once, at their own price", async () => {
    const { receipt } = await stream("cached-tokens")
    const cached = Math.floor(PROMPT_TOKENS / 2)
    expect(receipt.native_tokens_cached).toBe(cached)
    expectCharged(receipt, { prompt: PROMPT_TOKENS, completion: receipt.tokens_completion, from: "upstream", cached })
  })

  test("sim/long: all 4,000 tokens are charged", async () => {
    const { chunks, done, receipt } = await stream("long")
    expectComplete(chunks, done)
    expectCharged(receipt, { prompt: PROMPT_TOKENS, completion: 4_000, from: "upstream" })
  })

  test("sim/paced: max_tokens cuts the response, and only the tokens up to there are charged", async () => {
    const { chunks, done, receipt } = await stream("paced", { max_tokens: 5 })
    expectComplete(chunks, done, "length")
    expectCharged(receipt, { prompt: PROMPT_TOKENS, completion: 5, from: "upstream" })
  })
})

describe("a slow response", () => {
  useShortHeartbeats()

  test("sim/slow: comments keep the connection alive until the first content", async () => {
    const { chunks, done, raw, receipt } = await stream("slow")
    expectComplete(chunks, done)
    expect(raw.startsWith(": keepalive\n\n")).toBe(true)
    expect(textOf(chunks)).toBe(TEXT)
    expect(receipt).toMatchObject({ ending: "complete", tokens_completion: 6 })
  }, 15_000)
})

describe.concurrent("simulated models", () => {
  const tools = ["weather", "time"].map((name) => ({
    type: "function",
    function: { name, parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } },
  }))

  test("sim/agent: repeats the prompt, and runs a command after `$ ` with the required parameters only", async () => {
    const { chunks, done } = await stream("agent")
    expectComplete(chunks, done)
    expect(textOf(chunks)).toBe(TEXT)
    const properties = { command: { type: "string" }, why: { type: "string" }, folder: { type: "string" } }
    const parameters = { type: "object", properties, required: ["command", "why"] }
    const shell = { type: "function", function: { name: "shell", parameters } }
    const messages = [{ role: "user", content: "$ ls -la" }]
    const { body } = await nonStreamed("agent", { tools: [shell], messages })
    const called = body.choices[0]?.message.tool_calls?.[0]?.function
    expect(JSON.parse(called?.arguments ?? "")).toEqual({ command: "ls -la", why: "ls -la" })
  })

  test("sim/tool-call: the argument pieces join to valid JSON", async () => {
    const { chunks, done } = await stream("tool-call", { tools })
    expectComplete(chunks, done, "tool_calls")
    const calls = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? []) as {
      index: number
      function: { arguments?: string }
    }[]
    const joined = calls.map((call) => call.function.arguments ?? "").join("")
    expect(JSON.parse(joined)).toEqual({ city: TEXT })
    const { body } = await nonStreamed("tool-call", { tools })
    expect(body.choices[0]?.message.tool_calls?.[0]?.function.name).toBe("weather")
  })

  test("sim/parallel-tools: each call has its own index", async () => {
    const { chunks } = await stream("parallel-tools", { tools })
    const calls = chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? []) as { index: number }[]
    expect([...new Set(calls.map((call) => call.index))]).toEqual([0, 1])
  })

  test("sim/reasoning: reasoning arrives in deltas, and is charged with the completion", async () => {
    const { chunks, receipt } = await stream("reasoning")
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.reasoning ?? "").join("")).toContain(TEXT)
    const usage = chunks.at(-1)?.usage
    expect(receipt.tokens_completion).toBe(usage?.completion_tokens)
  })

  test("sim/refusal: a refusal completes the response", async () => {
    const { chunks, done } = await stream("refusal")
    expectComplete(chunks, done)
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.refusal ?? "").join("")).toContain("can't help")
  })
})

describe.concurrent("missing or zero usage", () => {
  test("sim/no-usage: delivered content is charged by estimate", async () => {
    const { chunks, done, receipt } = await stream("no-usage")
    expectComplete(chunks, done)
    expectCharged(receipt, {
      prompt: PROMPT_TOKENS,
      completion: Math.ceil(textOf(chunks).length / 4),
      from: "estimate",
    })
  })

  test("sim/no-usage: a JSON response is charged by estimate", async () => {
    const { body, workspace, response } = await nonStreamed("no-usage")
    const delivered = body.choices[0]?.message.content?.length ?? 0
    expectCharged(await receiptOf(workspace, response), {
      prompt: PROMPT_TOKENS,
      completion: Math.ceil(delivered / 4),
      from: "estimate",
    })
  })

  test("sim/zero-usage: an explicit zero is a valid count", async () => {
    const { receipt } = await stream("zero-usage")
    expectCharged(receipt, { prompt: 0, completion: 0, from: "upstream" })
  })
})

describe.concurrent("a provider that fails before the first content", () => {
  const cases: [slug: string, status: number, retryAfter: string | null][] = [
    ["status-400", 400, null],
    ["status-401", 502, null],
    ["status-402", 502, null],
    ["status-403", 502, null],
    ["status-404", 404, null],
    ["status-408", 408, null],
    ["status-413", 413, null],
    ["status-422", 422, null],
    ["status-429", 429, "2"],
    ["status-429:date", 429, "2"],
    ["status-429:ms", 429, "2"],
    ["status-500", 502, null],
    ["status-502", 502, null],
    ["status-503", 503, "2"],
    ["status-503:date", 503, "2"],
    ["status-503:ms", 503, "2"],
    ["status-504", 502, null],
    ["status-529", 529, null],
    ["empty", 502, null],
    ["html", 502, null],
    ["first-frame-error", 503, null],
  ]

  test.each(cases)("sim/%s is HTTP %i, streamed or not, and costs nothing", async (slug, status, retryAfter) => {
    seen.add(slug)
    for (const streamed of [true, false]) {
      const workspace = await newWorkspace()
      const response = await workspace.as.chat(`sim/${slug}`, TEXT, { stream: streamed })
      const text = await response.text()
      expect(response.status, text).toBe(status)
      expect(JSON.parse(text)).toMatchObject({ error: { code: status, message: expect.any(String) } })
      const hint = response.headers.get("retry-after")
      // A date has full seconds: up to one of the two may have passed.
      if (slug.endsWith(":date")) expect(["1", "2"]).toContain(hint)
      else expect(hint).toBe(retryAfter)
      const receipt = await receiptOf(workspace, response)
      expect(receipt).toMatchObject({ total_cost: 0, tokens_from: "none", ending: "refused", status })
      expect(await openHolds(workspace)).toEqual([])
    }
  })

  test("sim/status-401: the provider's status is reported, its account error is not", async () => {
    const { body } = await nonStreamed("status-401")
    expect(body.error?.metadata).toMatchObject({ provider_code: "401" })
    expect(body.error?.message).toBe("Embedded returned status 401.")
  })
})

describe.concurrent("a provider that fails in mid-stream", () => {
  test.each([
    ["late-error", 503],
    ["cut", 502],
    ["stall", 408],
  ])("sim/%s ends in an error chunk with code %i, and delivered content is charged", async (slug, code) => {
    const { chunks, done, receipt } = await stream(slug)
    expectFailed(chunks, done, code)
    const delivered = Math.ceil(textOf(chunks).length / 4)
    expect(delivered).toBe(10)
    expectCharged(receipt, { prompt: PROMPT_TOKENS, completion: delivered, from: "estimate" })
    expect(receipt).toMatchObject({ finish_reason: "error", status: code })
  })

  test.each([
    ["late-error", 503],
    ["cut", 502],
  ])("sim/%s as JSON is HTTP %i and costs nothing", async (slug, status) => {
    const answer = await nonStreamed(slug)
    expect(answer.status).toBe(status)
    expect(await receiptOf(answer.workspace, answer.response)).toMatchObject({ total_cost: 0, status })
  })
})

test("a model list falls back to the next model, and only the model that responded is charged", async () => {
  const workspace = await newWorkspace()
  const models = ["sim/status-503", "sim/empty", "sim/echo"]
  const { chunks, response } = await readStream(workspace.as.chat("sim/status-429", TEXT, { models, stream: true }))
  expect(textOf(chunks)).toBe(TEXT)
  const receipt = await receiptOf(workspace, response)
  expect(receipt.provider_responses.map(({ status }) => status)).toEqual([429, 503, 200, 200])
  expectCharged(receipt, { prompt: PROMPT_TOKENS, completion: 6, from: "upstream" })
})

test("Retry-After is sent only when every provider tried gave a hint", async () => {
  const workspace = await newWorkspace()
  const response = await workspace.as.chat("sim/status-429", TEXT, { models: ["sim/status-500"] })
  expect(response.headers.get("retry-after")).toBeNull()
  await expectJson(502, response)
})

test("a 422 from the provider causes no failover", async () => {
  const workspace = await newWorkspace()
  const response = await workspace.as.chat("sim/status-422", TEXT, { models: ["sim/echo"] })
  await expectJson(422, response)
})

test("every simulated model has a test in this file", () => {
  expect(
    embeddedModels
      .filter(({ embeddings, author }) => !embeddings && author === undefined)
      .map(({ slug }) => slug)
      .filter((slug) => !seen.has(slug)),
  ).toEqual([])
})
