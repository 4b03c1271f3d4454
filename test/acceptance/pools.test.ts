import { once } from "node:events"
import { mkdtempSync } from "node:fs"
import http from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import OpenAI, { NotFoundError, PermissionDeniedError, RateLimitError } from "openai"
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest"
import { readEnvFile } from "../../src/dev/start/dev-vars.ts"
import { root } from "../../src/dev/options.ts"
import { eventually } from "../support/eventually.ts"
import { gatewayCommand } from "./command.ts"
import { byNode, end, npmStart, type Started } from "./npm-start.ts"
import { request } from "./world.ts"
import { removeFolder } from "../support/remove-folder.ts"

/** Several keys of one provider, budgets of providers, and the switch that stops one, as the `openai` client sees them. */

const KEYS = ["vendor-key-alpha-0123", "vendor-key-bravo-0123", "vendor-key-charlie-0123"] as const
const SPARE = "vendor-key-of-the-spare-0123"
const OTHER = "vendor-key-of-openai-delta-0123"
/** What is learned of a key is kept for each model: each test has a model that no other calls. */
const MODELS = [
  "sharing",
  "cooling",
  "warned",
  "exhausted",
  "failing",
  "moving",
  "budget",
  "stopped",
  "credentials",
] as const
type Model = (typeof MODELS)[number]

type Answer = { status?: number; headers?: Record<string, string>; text?: string }
type Seen = { key: string; model: string }
let seen: Seen[] = []
let answer: (request: Seen) => Answer = () => ({})

const vendor = http.createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on("data", (chunk: Buffer) => chunks.push(chunk))
  request.on("end", () => {
    const key = (request.headers.authorization ?? "").replace("Bearer ", "")
    const json = { "content-type": "application/json" }
    if (request.url?.endsWith("/models")) {
      return void response.writeHead(200, json).end(JSON.stringify({ data: [{ id: "gpt-5-mini" }] }))
    }
    const { model } = JSON.parse(Buffer.concat(chunks).toString()) as { model: string }
    seen.push({ key, model })
    const { status = 200, headers = {}, text = "Something is wrong" } = answer({ key, model })
    const message = { role: "assistant", content: "Hi" }
    const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }
    const body =
      status === 200
        ? { id: "c1", object: "chat.completion", model, choices: [{ index: 0, message, finish_reason: "stop" }], usage }
        : { error: { message: text } }
    response.writeHead(status, { ...json, ...headers }).end(JSON.stringify(body))
  })
})

const state = mkdtempSync(path.join(tmpdir(), "gateway-pools-"))
let gateway: Started

beforeAll(async () => {
  vendor.listen(0, "127.0.0.1")
  await once(vendor, "listening")
  const base_url = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}/v1`
  const models = (names: readonly string[]) =>
    names.map((id) => ({ id, model: `team/${id}`, prompt: "0.00001", completion: "0.00001" }))
  const providers = [
    { slug: "pool", name: "Pool", base_url, api_keys: KEYS, models: models(MODELS) },
    { slug: "spare", base_url, api_key: SPARE, models: models(["failing", "moving", "budget"]) },
  ]
  const variables = {
    CUSTOM_PROVIDERS: JSON.stringify(providers),
    OPENAI_API_KEY: `${OTHER},${KEYS[0]}`,
    OPENAI_BASE_URL: base_url,
  }
  gateway = await npmStart(state, (args) => byNode(args, variables))
})
afterAll(async () => {
  await end(gateway)
  vendor.close()
  removeFolder(state)
})
beforeEach(() => {
  seen = []
  answer = () => ({})
})

const openai = () => new OpenAI({ baseURL: gateway.url, apiKey: gateway.apiKey, maxRetries: 0, logLevel: "off" })
/** A call of one session; sessions are spread over the keys. */
const say = (model: Model, session = "s", more: object = {}) =>
  openai().chat.completions.create({
    model: `team/${model}`,
    messages: [{ role: "user", content: "Hi" }],
    max_tokens: 20,
    ...({ session_id: session, ...more } as object),
  })
/** Of the pool, first the one provider with all its keys. */
const POOL_FIRST = { provider: { order: ["pool"] } }
const keysSeen = () => seen.map(({ key }) => key)

const manage = <T>(method: string, resource: string, body?: object) =>
  request<T>(gateway.managementKey, method, resource, { url: gateway.url, ...(body && { body }) })

async function failureOf(call: Promise<unknown>): Promise<Error> {
  return call.then(
    () => expect.fail("The call succeeded."),
    (thrown: unknown) => thrown as Error,
  )
}

describe("several keys of one provider", () => {
  test("share the sessions, and each session keeps its key", async () => {
    for (let call = 0; call < 3; call++) await say("sharing", "one")
    expect(new Set(keysSeen()).size).toBe(1)
    for (let session = 0; session < 40; session++) await say("sharing", `s${session}`)
    expect(new Set(keysSeen())).toEqual(new Set(KEYS))
  })

  test("a key that returns 429 is left out while it cools down, and the client sees no failure", async () => {
    answer = ({ key }) => (key === KEYS[0] ? { status: 429, headers: { "retry-after": "60" } } : {})
    for (let session = 0; session < 20; session++)
      expect((await say("cooling", `s${session}`)).model).toBe("team/cooling")
    expect(keysSeen().filter((key) => key === KEYS[0])).toHaveLength(1)
    expect(new Set(keysSeen())).toEqual(new Set(KEYS))
  })

  test("a key whose headers say that no requests are left is not tried first", async () => {
    const spent = { "x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "60s" }
    answer = () => (seen.length === 1 ? { headers: spent } : {})
    for (let call = 0; call < 4; call++) await say("warned")
    const [first, ...others] = keysSeen()
    expect(others).toHaveLength(3)
    expect(others).not.toContain(first)
  })

  test("where all are refused, the client gets a RateLimitError with the shortest wait and no key in it", async () => {
    const waits = new Map<string, string>(KEYS.map((key, at) => [key, String(30 - at)]))
    answer = ({ key }) => ({
      status: 429,
      headers: { "retry-after": waits.get(key) ?? "" },
      text: `Rate limit of ${key} reached`,
    })
    const error = await failureOf(say("exhausted"))
    expect(error).toBeInstanceOf(RateLimitError)
    expect((error as RateLimitError).headers.get("retry-after")).toBe("28")
    expect(keysSeen().toSorted()).toEqual([...KEYS].toSorted())
    expect(JSON.stringify((error as RateLimitError).error)).not.toContain("vendor-key")
  })

  test("a failure of the provider is not tried with another key: the next provider serves the call", async () => {
    answer = ({ key }) => (key === SPARE ? {} : { status: 503 })
    await say("failing", "s", POOL_FIRST)
    expect(keysSeen()).toHaveLength(2)
    expect(keysSeen().at(-1)).toBe(SPARE)
  })

  test("after the last key, the next provider serves the call, and its record lists each attempt", async () => {
    answer = ({ key }) => (key === SPARE ? {} : { status: 401, text: `Incorrect API key provided: ${key}` })
    const { id } = await say("moving", "s", POOL_FIRST)
    expect(keysSeen()).toHaveLength(4)
    await eventually(async () => {
      type Attempt = { provider: string; status: number; key_number: number | null }
      const { data } = await manage<{ data: { trail: Attempt[] } }>("GET", `/calls/${id}`)
      expect(data.trail.map(({ provider, status }) => [provider, status])).toEqual([
        ["Pool", 401],
        ["Pool", 401],
        ["Pool", 401],
        ["spare", 200],
      ])
      expect(
        data.trail
          .slice(0, 3)
          .map(({ key_number: number }) => number)
          .toSorted(),
      ).toEqual([1, 2, 3])
      expect(JSON.stringify(data)).not.toContain("vendor-key")
    })
  })

  test("come from one variable, separated by commas", async () => {
    for (let session = 0; session < 20; session++) {
      await openai().chat.completions.create({
        model: "openai/gpt-5-mini",
        messages: [{ role: "user", content: "Hi" }],
        ...({ session_id: `s${session}` } as object),
      })
    }
    expect(new Set(keysSeen())).toEqual(new Set([OTHER, KEYS[0]]))
  })
})

describe("BYOK credentials of one provider", () => {
  test("of equal sort_order share the calls, before the keys of the gateway", async () => {
    const keys = ["customer-key-echo-0123", "customer-key-foxtrot-0123"]
    for (const key of keys) await manage("POST", "/byok", { provider: "pool", key, sort_order: 1 })
    await eventually(async () => {
      seen = []
      for (let session = 0; session < 20; session++) await say("credentials", `s${session}`)
      expect(new Set(keysSeen())).toEqual(new Set(keys))
    })
    const { data } = await manage<{ data: { id: string }[] }>("GET", "/byok")
    for (const { id } of data) await manage("DELETE", `/byok/${id}`)
  })
})

describe("a budget of a provider", () => {
  test("moves calls to the other provider once it is used up, and refuses a call that may use no other", async () => {
    const budget = "/provider-budgets/pool/daily"
    type Budget = { provider: string; spent_usd: number }
    const spent = async () => {
      const { data } = await manage<{ data: Budget[] }>("GET", "/provider-budgets")
      return Math.round((data.find(({ provider }) => provider === "pool")?.spent_usd ?? Number.NaN) * 1e9)
    }
    await manage("PUT", budget, { limit_usd: 10 })
    // A call costs 1,100,000 nano-dollars. Its hold is larger, since the tokens of its prompt are not known before.
    const limit = (await spent()) + 10_000_000
    await manage("PUT", budget, { limit_usd: limit / 1e9 })
    try {
      for (let call = 0; call < 15; call++) await say("budget", `s${call}`, POOL_FIRST)
      expect(keysSeen()[0]).not.toBe(SPARE)
      expect(keysSeen().at(-1)).toBe(SPARE)
      const before = await spent()
      expect(before).toBeLessThanOrEqual(limit)
      const served = keysSeen().filter((key) => key !== SPARE)
      expect(before).toBe(limit - 10_000_000 + served.length * 1_100_000)
      const error = await failureOf(say("budget", "s", { provider: { only: ["pool"] } }))
      expect(error).toBeInstanceOf(PermissionDeniedError)
      expect((error as PermissionDeniedError).error).toMatchObject({ metadata: { reason: "provider_budget" } })
      expect(await spent()).toBe(before)
    } finally {
      await manage("DELETE", budget)
    }
  })
})

describe("npm run gateway -- provider stop", () => {
  const switchTo = async (action: string) => {
    const { code, errors } = await gatewayCommand(["provider", action, "pool"], {
      GATEWAY_URL: gateway.url,
      GATEWAY_MANAGEMENT_KEY: gateway.managementKey,
      BOOTSTRAP_MANAGEMENT_KEY: readEnvFile(path.join(root, ".dev.vars"))["BOOTSTRAP_MANAGEMENT_KEY"] ?? "",
    })
    expect(code, errors).toBe(0)
  }

  test("ends new calls to the provider at once, and start lets them go on", async () => {
    await say("stopped")
    await switchTo("stop")
    seen = []
    const error = await failureOf(say("stopped"))
    expect(error).toBeInstanceOf(NotFoundError)
    expect(error.message).toContain("stopped")
    expect((await say("budget", "s", POOL_FIRST)).model).toBe("team/budget")
    expect(keysSeen()).toEqual([SPARE])
    await switchTo("start")
    expect((await say("stopped")).model).toBe("team/stopped")
  })
})
