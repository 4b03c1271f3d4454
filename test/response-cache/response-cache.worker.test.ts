import { env } from "cloudflare:workers"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { pruneResponses } from "../../src/response-cache/store.ts"
import { eventually } from "../support/eventually.ts"
import { mockProvider } from "../support/mock-provider.ts"
import { expectJson, newKey, newWorkspace, readStream, type TestClient, type Workspace } from "../support/world.ts"

type Failure = { error: { message: string } }
type Answer = { id: string; choices: { message: { content: string } }[]; usage: { cost: number; total_tokens: number } }

const DAY_MS = 86_400_000
const ON = { "x-response-cache": "on" }

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() })
})
afterEach(() => {
  vi.useRealTimers()
})

const sendChat = (as: TestClient, more = {}, headers: Record<string, string> = ON, model = "sim/echo") =>
  as.chat(model, "The same words.", { max_tokens: 20, ...more }, headers)

const stored = async ({ organizationId }: Workspace) =>
  (await env.FILES.list({ prefix: `response-cache/${organizationId}/` })).objects.length

/** Waits until `many` responses are stored, which happens after the response is sent. */
const untilStored = (workspace: Workspace, many: number) =>
  eventually(async () => expect(await stored(workspace)).toBe(many))

const cacheOf = async (answer: Promise<Response>) => {
  const response = await answer
  await response.text()
  expect(response.status).toBe(200)
  return response.headers.get("x-response-cache")
}

/** A workspace in which the response of `sendChat` is stored. */
async function newCached() {
  const workspace = await newWorkspace()
  const { as, hash } = await newKey(workspace)
  expect(await cacheOf(sendChat(as))).toBe("miss")
  await untilStored(workspace, 1)
  return { workspace, as, hash }
}

describe("response_cache_seconds of a preset", () => {
  test.each(["chat/completions", "responses", "messages"])("of %s caches responses", async (path) => {
    const workspace = await newWorkspace()
    const { as } = await newKey(workspace)
    const preset = { model: "sim/echo", max_tokens: 20, response_cache_seconds: 60 }
    const created = await expectJson<{ data: { designated_version: { config: unknown } } }>(
      200,
      workspace.manage.post(`/presets/cached/${path}`, preset),
    )
    expect(created.data.designated_version.config).toMatchObject({ response_cache_seconds: 60 })
    const call = (headers = {}) => sendChat(as, {}, headers, "@preset/cached")
    expect(await cacheOf(call())).toBe("miss")
    await untilStored(workspace, 1)
    expect(await cacheOf(call())).toBe("hit")
    expect(await cacheOf(call({ "x-response-cache": "off" }))).toBeNull()
    expect(await cacheOf(sendChat(as, {}, {}))).toBeNull()
    vi.setSystemTime(Date.now() + 61_000)
    expect(await cacheOf(call())).toBe("miss")
  })

  test("takes precedence over the workspace's", async () => {
    const workspace = await newWorkspace()
    const { as } = await newKey(workspace)
    await workspace.manage.patch(`/workspaces/${workspace.workspaceId}`, { response_cache_seconds: 600 })
    const preset = { model: "sim/echo", response_cache_seconds: 60 }
    await expectJson(200, workspace.manage.post("/presets/brief/chat/completions", preset))
    expect(await cacheOf(sendChat(as, {}, {}, "@preset/brief"))).toBe("miss")
    await untilStored(workspace, 1)
    vi.setSystemTime(Date.now() + 61_000)
    expect(await cacheOf(sendChat(as, {}, {}, "@preset/brief"))).toBe("miss")
  })

  test("is ignored under a zero-retention guardrail, and rejected if invalid", async () => {
    const workspace = await newWorkspace()
    const { as, hash } = await newKey(workspace)
    const preset = { model: "sim/echo", response_cache_seconds: 60 }
    await expectJson(200, workspace.manage.post("/presets/cached/chat/completions", preset))
    const rules = { name: "zdr", enforce_zdr: true }
    const { data } = await expectJson<{ data: { id: string } }>(201, workspace.manage.post("/guardrails", rules))
    await workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, { key_hashes: [hash] })
    expect(await cacheOf(sendChat(as, {}, {}, "@preset/cached"))).toBeNull()
    for (const seconds of [0, 1.5, 604_801, "x"]) {
      const wrong = { model: "sim/echo", response_cache_seconds: seconds }
      const answer = await expectJson<Failure>(400, workspace.manage.post("/presets/wrong/chat/completions", wrong))
      expect(answer.error.message).toContain("response_cache_seconds: must be a whole number of seconds")
    }
  })
})

describe("a cached response", () => {
  test("serves the same request, costs nothing and is recorded as a generation", async () => {
    const workspace = await newWorkspace()
    const { as } = await newKey(workspace)
    const first = await expectJson<Answer>(200, sendChat(as))
    await untilStored(workspace, 1)
    const spent = (await workspace.ledger.balance()).spentNano
    const response = await sendChat(as)
    expect(response.headers.get("x-response-cache")).toBe("hit")
    const second = await expectJson<Answer>(200, response)
    expect(second.choices[0]?.message.content).toBe(first.choices[0]?.message.content)
    expect(second.usage).toMatchObject({ cost: 0, total_tokens: first.usage.total_tokens })
    const id = response.headers.get("x-generation-id")
    expect((await workspace.ledger.balance()).spentNano).toBe(spent)
    expect(await expectJson(200, as.get(`/generation?id=${id}`))).toMatchObject({
      data: { total_cost: 0, model: "sim/echo" },
    })
  })

  test("is replayed as a stream if the request was streamed", async () => {
    const workspace = await newWorkspace()
    const { as } = await newKey(workspace)
    const first = await readStream(sendChat(as, { stream: true }))
    await untilStored(workspace, 1)
    const second = await readStream(sendChat(as, { stream: true }))
    expect(second.response.headers.get("x-response-cache")).toBe("hit")
    expect(second.done).toBe(true)
    const textOf = ({ chunks }: typeof first) => chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")
    expect(textOf(second)).toBe(textOf(first))
    const id = second.response.headers.get("x-generation-id")
    expect(await expectJson(200, as.get(`/generation?id=${id}`))).toMatchObject({ data: { total_cost: 0 } })
  })

  test("is served in every API format", async () => {
    const workspace = await newWorkspace()
    const { as } = await newKey(workspace)
    const messages = [{ role: "user", content: "The same words." }]
    const requests = [
      () => as.post("/messages", { model: "sim/echo", max_tokens: 20, messages }, ON),
      () => as.post("/responses", { model: "sim/echo", input: "The same words.", stream: true }, ON),
      () => as.post("/embeddings", { model: "sim/embed", input: "The same words." }, ON),
    ]
    for (const [at, send] of requests.entries()) {
      expect(await cacheOf(send())).toBe("miss")
      await untilStored(workspace, at + 1)
      expect(await cacheOf(send())).toBe("hit")
    }
  })

  test("is served to other keys of the workspace for any order of fields", async () => {
    const { workspace } = await newCached()
    const { as } = await newKey(workspace)
    const body = { max_tokens: 20, messages: [{ content: "The same words.", role: "user" }], model: "sim/echo" }
    expect(await cacheOf(as.post("/chat/completions", body, ON))).toBe("hit")
  })

  test("is not served in another workspace or organization, or for another end user", async () => {
    const { workspace, as } = await newCached()
    const other = await expectJson<{ data: { id: string } }>(
      201,
      workspace.manage.post("/workspaces", { name: "Other", slug: "other" }),
    )
    expect(await cacheOf(sendChat((await newKey(workspace, { workspace_id: other.data.id })).as))).toBe("miss")
    expect(await cacheOf(sendChat((await newKey(await newWorkspace())).as))).toBe("miss")
    expect(await cacheOf(sendChat(as, { user: "someone" }))).toBe("miss")
    expect(await cacheOf(sendChat(as, { temperature: 0.3 }))).toBe("miss")
    expect(await cacheOf(sendChat(as))).toBe("hit")
  })

  test("is not served to a request with other beta features of the provider", async () => {
    const workspace = await newWorkspace()
    const { as } = await newKey(workspace)
    const usage = { input_tokens: 5, output_tokens: 1 }
    const content = [{ type: "text", text: "Done" }]
    const message = {
      id: "m",
      type: "message",
      role: "assistant",
      model: "opus",
      content,
      stop_reason: "end_turn",
      usage,
    }
    const { upstreamCalls, stop } = mockProvider(() => Response.json(message))
    const send = (betas: Record<string, string>) =>
      as.post(
        "/messages",
        { model: "acme/opus-1", max_tokens: 20, messages: [{ role: "user", content: "Hi" }] },
        { ...ON, ...betas },
      )
    for (const [at, betas] of [{}, { "anthropic-beta": "one-2026" }, { "anthropic-beta": "two-2026" }].entries()) {
      expect(await cacheOf(send(betas))).toBe("miss")
      await untilStored(workspace, at + 1)
      expect(await cacheOf(send(betas))).toBe("hit")
    }
    expect(upstreamCalls.map(({ headers }) => headers.get("anthropic-beta"))).toEqual([null, "one-2026", "two-2026"])
    stop()
  })

  test("expires, is renewed by refresh and is bypassed with off", async () => {
    const { workspace, as } = await newCached()
    expect(await cacheOf(sendChat(as, {}, { "x-response-cache": "refresh, ttl=60" }))).toBe("miss")
    await eventually(async () => {
      const [object] = (
        await env.FILES.list({ prefix: `response-cache/${workspace.organizationId}/`, include: ["customMetadata"] })
      ).objects
      expect(Number(object?.customMetadata?.["expiresAt"])).toBeLessThan(Date.now() + 61_000)
    })
    expect(await cacheOf(sendChat(as))).toBe("hit")
    expect(await cacheOf(sendChat(as, {}, { "x-response-cache": "off" }))).toBeNull()
    expect(await cacheOf(sendChat(as, {}, {}))).toBeNull()
    vi.setSystemTime(Date.now() + 60_000)
    expect(await cacheOf(sendChat(as))).toBe("miss")
  })

  test("is checked by the output guardrails in force at replay", async () => {
    const workspace = await newWorkspace()
    const { as, hash } = await newKey(workspace)
    const repeat = () => as.chat("sim/echo", "Ask the zebra.", {}, ON)
    await expectJson(200, repeat())
    await untilStored(workspace, 1)
    const filter = { action: "redact", label: "[ANIMAL]", pattern: "zebra" }
    const made = workspace.manage.post("/guardrails", { name: "No animals", content_filters: [filter] })
    const { data } = await expectJson<{ data: { id: string } }>(201, made)
    await expectJson(200, workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, { key_hashes: [hash] }))
    const { choices } = await expectJson<Answer>(200, repeat())
    expect(choices[0]?.message.content).not.toContain("zebra")
  })
})

describe("a response is not cached", () => {
  const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }]

  test("for a request with tools, unless the header has tools", async () => {
    const workspace = await newWorkspace()
    const { as } = await newKey(workspace)
    expect(await cacheOf(sendChat(as, { tools }))).toBeNull()
    const withTools = { "x-response-cache": "on, tools" }
    expect(await cacheOf(sendChat(as, { tools }, withTools))).toBe("miss")
    await untilStored(workspace, 1)
    expect(await cacheOf(sendChat(as, { tools }, withTools))).toBe("hit")
  })

  test("under a guardrail that enforces zero data retention", async () => {
    const workspace = await newWorkspace()
    const { as, hash } = await newKey(workspace)
    const made = workspace.manage.post("/guardrails", { name: "ZDR", enforce_zdr_openai: true })
    const { data } = await expectJson<{ data: { id: string } }>(201, made)
    await expectJson(200, workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, { key_hashes: [hash] }))
    expect(await cacheOf(sendChat(as))).toBeNull()
  })

  test("for a request that asks for zero data retention", async () => {
    const workspace = await newWorkspace()
    const { as } = await newKey(workspace)
    expect(await cacheOf(sendChat(as, { provider: { zdr: true } }))).toBeNull()
    expect(await cacheOf(sendChat(as, { provider: { zdr: false } }))).toBe("miss")
  })

  test.each(["sim/late-error", "sim/cut"])("if it failed: %s", async (model) => {
    const workspace = await newWorkspace()
    const { as } = await newKey(workspace)
    const failed = await sendChat(as, { stream: true }, ON, model)
    await failed.text().catch(() => "")
    expect(await cacheOf(sendChat(as))).toBe("miss")
    await untilStored(workspace, 1)
  })
})

describe("the response cache of a workspace", () => {
  test("applies to all requests if it has a time to live", async () => {
    const workspace = await newWorkspace()
    const path = `/workspaces/${workspace.workspaceId}`
    const answer = await expectJson(200, workspace.manage.patch(path, { response_cache_seconds: 300 }))
    expect(answer).toMatchObject({ data: { response_cache_seconds: 300 } })
    const { as } = await newKey(workspace)
    expect(await cacheOf(sendChat(as, {}, {}))).toBe("miss")
    await untilStored(workspace, 1)
    expect(await cacheOf(sendChat(as, {}, {}))).toBe("hit")
    expect(await cacheOf(sendChat(as, {}, { "x-response-cache": "off" }))).toBeNull()
  })

  test("is purged by a management key", async () => {
    const { workspace, as } = await newCached()
    const path = `/workspaces/${workspace.workspaceId}/response-cache`
    await expectJson(403, as.delete(path))
    expect(await expectJson(200, workspace.manage.delete(path))).toEqual({ deleted: 1, has_more: false })
    expect(await cacheOf(sendChat(as))).toBe("miss")
  })

  test("is pruned of responses older than the longest time to live", async () => {
    const { workspace } = await newCached()
    await pruneResponses(env.FILES, Date.now() + 6 * DAY_MS)
    expect(await stored(workspace)).toBe(1)
    await pruneResponses(env.FILES, Date.now() + 8 * DAY_MS)
    expect(await stored(workspace)).toBe(0)
  })

  test.each(["yes", "ttl=0", "ttl=604801", "ttl=x", "on; tools"])("rejects the directive %s", async (directive) => {
    const workspace = await newWorkspace()
    const { error } = await expectJson<Failure>(400, sendChat(workspace.as, {}, { "x-response-cache": directive }))
    expect(error.message).toContain("x-response-cache: accepts on, off, refresh, tools and ttl=<seconds")
  })
})
