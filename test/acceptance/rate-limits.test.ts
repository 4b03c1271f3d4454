import Anthropic, { RateLimitError as AnthropicRateLimitError } from "@anthropic-ai/sdk"
import { createOpenRouter } from "@openrouter/ai-sdk-provider"
import { TooManyRequestsResponseError } from "@openrouter/sdk/models/errors"
import { APICallError, generateText } from "ai"
import OpenAI, { RateLimitError } from "openai"
import { beforeAll, describe, expect, test } from "vitest"
import {
  gatewayUrl,
  newKey,
  newOrganization,
  openai,
  openrouter,
  type Organization,
  request,
  usageOf,
} from "./world.ts"

/** Rate limits of keys, workspaces and guardrails, as clients see and obey them. */

const MINUTE_MS = 60_000
const question = { model: "sim/echo", messages: [{ role: "user" as const, content: "Hello." }] }

let organization: Organization
beforeAll(async () => {
  organization = await newOrganization()
})

const manage = <T>(method: string, resource: string, body?: object) =>
  request<T>(organization.managementKey, method, resource, { ...(body && { body }) })

/** Calls until the first failure. A minute that ends meanwhile admits up to `limit` more. */
async function untilRefused(
  limit: number,
  call: () => Promise<unknown>,
): Promise<{ admitted: number; thrown: unknown }> {
  for (let admitted = 0; admitted <= 2 * limit; admitted++) {
    try {
      await call()
    } catch (thrown) {
      return { admitted, thrown }
    }
  }
  return expect.fail(`More than ${2 * limit} requests were admitted.`)
}

/** The headers of a refusal for requests or tokens: seconds to wait, the limit, nothing left, the end of the minute. */
function expectRateHeaders(headers: Headers, limit: number): void {
  expect(headers.get("x-ratelimit-limit")).toBe(String(limit))
  expect(headers.get("x-ratelimit-remaining")).toBe("0")
  const [wait, reset] = [Number(headers.get("retry-after")), Number(headers.get("x-ratelimit-reset"))]
  expect(reset % MINUTE_MS).toBe(0)
  expect(wait).toBeGreaterThanOrEqual(1)
  expect(wait).toBeLessThanOrEqual(60)
}

describe("requests per minute of a key", () => {
  test("reach openai as a RateLimitError with the headers that say when to retry", async () => {
    const key = await newKey(organization, { requests_per_minute: 3 })
    const { admitted, thrown } = await untilRefused(3, () => openai(key).chat.completions.create(question))
    expect(admitted).toBeGreaterThanOrEqual(3)
    const error = thrown as RateLimitError
    expect(error).toBeInstanceOf(RateLimitError)
    expect(error.message).toContain("This key may start 3 requests per minute")
    expectRateHeaders(error.headers, 3)
  })

  test("reach openai in front of a stream, before any event", async () => {
    const key = await newKey(organization, { requests_per_minute: 1 })
    const { thrown } = await untilRefused(1, async () => {
      for await (const chunk of await openai(key).chat.completions.create({ ...question, stream: true })) void chunk
    })
    expect(thrown).toBeInstanceOf(RateLimitError)
  })

  test("reach @anthropic-ai/sdk as a RateLimitError of type rate_limit_error", async () => {
    const key = await newKey(organization, { requests_per_minute: 1 })
    const client = new Anthropic({ baseURL: gatewayUrl.replace(/\/v1$/, ""), apiKey: key, maxRetries: 0 })
    const { thrown } = await untilRefused(1, () => client.messages.create({ ...question, max_tokens: 50 }))
    const error = thrown as AnthropicRateLimitError
    expect(error).toBeInstanceOf(AnthropicRateLimitError)
    expect(error.error).toMatchObject({ type: "error", error: { type: "rate_limit_error" } })
    expectRateHeaders(error.headers, 1)
  })

  test("reach @openrouter/sdk as a TooManyRequestsResponseError with the reason", async () => {
    const key = await newKey(organization, { requests_per_minute: 1 })
    const { thrown } = await untilRefused(1, () => openrouter(key).chat.send({ chatRequest: question }))
    const error = thrown as TooManyRequestsResponseError
    expect(error).toBeInstanceOf(TooManyRequestsResponseError)
    expect(error.error).toMatchObject({ code: 429, metadata: { reason: "key_rate_limit", retryable: true } })
    expectRateHeaders(error.headers, 1)
  })

  test("reach ai as an APICallError that may be retried", async () => {
    const key = await newKey(organization, { requests_per_minute: 1 })
    const model = createOpenRouter({ apiKey: key, baseURL: gatewayUrl }).chat("sim/echo")
    const { thrown } = await untilRefused(1, () => generateText({ model, prompt: "Hello.", maxRetries: 0 }))
    const error = thrown as APICallError
    expect(APICallError.isInstance(error)).toBe(true)
    expect([error.statusCode, error.isRetryable]).toEqual([429, true])
    expectRateHeaders(new Headers(error.responseHeaders), 1)
  })

  test("admit exactly that many of 30 parallel calls, and only these are charged", async () => {
    const key = await newKey(organization, { requests_per_minute: 7 })
    const from = Math.floor(Date.now() / MINUTE_MS)
    const results = await Promise.allSettled(
      Array.from({ length: 30 }, () => openai(key).chat.completions.create(question)),
    )
    const minutes = Math.floor(Date.now() / MINUTE_MS) - from + 1
    const answered = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []))
    const refused = results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []))
    expect(answered.length).toBeGreaterThanOrEqual(7)
    expect(answered.length).toBeLessThanOrEqual(7 * minutes)
    expect(refused.every((error) => error instanceof RateLimitError)).toBe(true)
    const costs = answered.map(({ usage }) => Math.round((usage as unknown as { cost: number }).cost * 1e9))
    const usage = await usageOf({ ...organization, apiKey: key })
    expect(Math.round(usage * 1e9)).toBe(costs.reduce((sum, cost) => sum + cost, 0))
  })
})

describe("other rate limits", () => {
  test("of a workspace count its keys together", async () => {
    const { data } = await manage<{ data: { id: string } }>("POST", "/workspaces", { name: "Slow", slug: "slow" })
    await manage("PATCH", `/workspaces/${data.id}`, { requests_per_minute: 2 })
    const keys = [
      await newKey(organization, { workspace_id: data.id }),
      await newKey(organization, { workspace_id: data.id }),
    ]
    let turn = 0
    const { admitted, thrown } = await untilRefused(2, () =>
      openai(keys[turn++ % 2] ?? "").chat.completions.create(question),
    )
    expect(admitted).toBeGreaterThanOrEqual(2)
    const error = thrown as RateLimitError
    expect(error.error).toMatchObject({ metadata: { reason: "workspace_rate_limit" } })
  })

  test("of a guardrail count each key that it is assigned to", async () => {
    const key = await newKey(organization, { name: "guarded" })
    const { data } = await manage<{ data: { id: string } }>("POST", "/guardrails", {
      name: "One a minute",
      requests_per_minute: 1,
    })
    const { data: current } = await manage<{ data: { hash: string }[] }>("GET", "/keys?q=guarded")
    await manage("POST", `/guardrails/${data.id}/assignments/keys`, { key_hashes: current.map(({ hash }) => hash) })
    const { thrown } = await untilRefused(1, () => openai(key).chat.completions.create(question))
    const error = thrown as RateLimitError
    expect(error.error).toMatchObject({ metadata: { reason: "guardrail_rate_limit" } })
  })

  test("of tokens say how many are left, and refuse a prompt that never fits without advice to retry", async () => {
    const key = await newKey(organization, { tokens_per_minute: 400 })
    const { thrown } = await untilRefused(400, () => openai(key).chat.completions.create(question))
    const error = thrown as RateLimitError
    expect(error).toBeInstanceOf(RateLimitError)
    expect(error.headers.get("x-ratelimit-limit")).toBe("400")
    expect(Number(error.headers.get("x-ratelimit-remaining"))).toBeLessThan(400)
    const messages = [{ role: "user" as const, content: "word ".repeat(2_000) }]
    const never = (await openai(key)
      .chat.completions.create({ ...question, messages })
      .catch((caught: unknown) => caught)) as RateLimitError
    expect(never).toBeInstanceOf(RateLimitError)
    expect(never.headers.has("retry-after")).toBe(false)
    expect(never.error).toMatchObject({ metadata: { retryable: false } })
  })

  test("of concurrent requests refuse a second call while a stream runs, and openai's own retries get through", async () => {
    const key = await newKey(organization, { concurrent_requests: 1 })
    const running = await openai(key).chat.completions.create({ ...question, model: "sim/paced", stream: true })
    const refused = await openai(key)
      .chat.completions.create(question)
      .catch((caught: unknown) => caught)
    expect(refused).toBeInstanceOf(RateLimitError)
    expect((refused as RateLimitError).headers.get("retry-after")).toBe("1")
    const patient = new OpenAI({ baseURL: gatewayUrl, apiKey: key, maxRetries: 10 })
    const retried = patient.chat.completions.create(question)
    for await (const chunk of running) void chunk
    expect((await retried).choices[0]?.message.content).toContain("Hello.")
  })
})
