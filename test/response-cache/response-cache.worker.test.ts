import { env } from "cloudflare:workers"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { pruneResponses } from "../../src/response-cache/store.ts"
import { eventually } from "../support/eventually.ts"
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

const ask = (as: TestClient, more = {}, headers: Record<string, string> = ON, model = "sim/echo") =>
  as.chat(model, "The same words.", { max_tokens: 20, ...more }, headers)

const stored = async ({ organizationId }: Workspace) =>
  (await env.FILES.list({ prefix: `response-cache/${organizationId}/` })).objects.length

/** Resolves when so many responses are stored: that happens after the response is sent. */
const untilStored = (workspace: Workspace, many: number) =>
  eventually(async () => expect(await stored(workspace)).toBe(many))

const cacheOf = async (answer: Promise<Response>) => {
  const response = await answer
  await response.text()
  expect(response.status).toBe(200)
  return response.headers.get("x-response-cache")
}

/** A workspace in which the response of `ask` is stored. */
async function newCached() {
  const workspace = await newWorkspace()
  const { as, hash } = await newKey(workspace)
  expect(await cacheOf(ask(as))).toBe("miss")
  await untilStored(workspace, 1)
  return { workspace, as, hash }
}

describe("a preset", () => {
  test.each(["chat/completions", "responses", "messages"])("of %s has responses cached", async (path) => {
    const workspace = await newWorkspace()
    const { as } = await newKey(workspace)
    const preset = { model: "sim/echo", max_tokens: 20, response_cache_seconds: 60 }
    const created = await expectJson<{ data: { designated_version: { config: unknown } } }>(
      200,
      workspace.manage.post(`/presets/cached/${path}`, preset),
    )
    expect(created.data.designated_version.config).toMatchObject({ response_cache_seconds: 60 })
    const call = (headers = {}) => ask(as, {}, headers, "@preset/cached")
    expect(await cacheOf(call())).toBe("miss")
    await untilStored(workspace, 1)
    expect(await cacheOf(call())).toBe("hit")
    expect(await cacheOf(call({ "x-response-cache": "off" }))).toBeNull()
    expect(await cacheOf(ask(as, {}, {}))).toBeNull()
    vi.setSystemTime(Date.now() + 61_000)
    expect(await cacheOf(call())).toBe("miss")
  })

  test("has its own time, before that of the workspace", async () => {
    const workspace = await newWorkspace()
    const { as } = await newKey(workspace)
    await workspace.manage.patch(`/workspaces/${workspace.workspaceId}`, { response_cache_seconds: 600 })
    const preset = { model: "sim/echo", response_cache_seconds: 60 }
    await expectJson(200, workspace.manage.post("/presets/brief/chat/completions", preset))
    expect(await cacheOf(ask(as, {}, {}, "@preset/brief"))).toBe("miss")
    await untilStored(workspace, 1)
    vi.setSystemTime(Date.now() + 61_000)
    expect(await cacheOf(ask(as, {}, {}, "@preset/brief"))).toBe("miss")
  })

  test("does not have responses cached under a guardrail of zero retention, nor for a wrong time", async () => {
    const workspace = await newWorkspace()
    const { as, hash } = await newKey(workspace)
    const preset = { model: "sim/echo", response_cache_seconds: 60 }
    await expectJson(200, workspace.manage.post("/presets/cached/chat/completions", preset))
    const rules = { name: "zdr", enforce_zdr: true }
    const { data } = await expectJson<{ data: { id: string } }>(201, workspace.manage.post("/guardrails", rules))
    await workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, { key_hashes: [hash] })
    expect(await cacheOf(ask(as, {}, {}, "@preset/cached"))).toBeNull()
    for (const seconds of [0, 1.5, 604_801, "x"]) {
      const wrong = { model: "sim/echo", response_cache_seconds: seconds }
      const answer = await expectJson<Failure>(400, workspace.manage.post("/presets/wrong/chat/completions", wrong))
      expect(answer.error.message).toContain("response_cache_seconds: must be a whole number of seconds")
    }
  })
})

describe("a stored response", () => {
  test("answers the same request, costs nothing, and is recorded as a call", async () => {
    const workspace = await newWorkspace()
    const { as } = await newKey(workspace)
    const first = await expectJson<Answer>(200, ask(as))
    await untilStored(workspace, 1)
    const spent = (await workspace.ledger.balance()).spentNano
    const response = await ask(as)
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

  test("is replayed as a stream where the request was one", async () => {
    const workspace = await newWorkspace()
    const { as } = await newKey(workspace)
    const first = await readStream(ask(as, { stream: true }))
    await untilStored(workspace, 1)
    const second = await readStream(ask(as, { stream: true }))
    expect(second.response.headers.get("x-response-cache")).toBe("hit")
    expect(second.done).toBe(true)
    const textOf = ({ chunks }: typeof first) => chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")
    expect(textOf(second)).toBe(textOf(first))
    const id = second.response.headers.get("x-generation-id")
    expect(await expectJson(200, as.get(`/generation?id=${id}`))).toMatchObject({ data: { total_cost: 0 } })
  })

  test("answers on every API format", async () => {
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

  test("answers other keys of the workspace, whatever the order of the fields", async () => {
    const { workspace } = await newCached()
    const { as } = await newKey(workspace)
    const body = { max_tokens: 20, messages: [{ content: "The same words.", role: "user" }], model: "sim/echo" }
    expect(await cacheOf(as.post("/chat/completions", body, ON))).toBe("hit")
  })

  test("answers nobody in another workspace or organization, and no other end user", async () => {
    const { workspace, as } = await newCached()
    const other = await expectJson<{ data: { id: string } }>(
      201,
      workspace.manage.post("/workspaces", { name: "Other", slug: "other" }),
    )
    expect(await cacheOf(ask((await newKey(workspace, { workspace_id: other.data.id })).as))).toBe("miss")
    expect(await cacheOf(ask((await newKey(await newWorkspace())).as))).toBe("miss")
    expect(await cacheOf(ask(as, { user: "someone" }))).toBe("miss")
    expect(await cacheOf(ask(as, { temperature: 0.3 }))).toBe("miss")
    expect(await cacheOf(ask(as))).toBe("hit")
  })

  test("expires, is renewed by refresh, and is not used with off", async () => {
    const { workspace, as } = await newCached()
    expect(await cacheOf(ask(as, {}, { "x-response-cache": "refresh, ttl=60" }))).toBe("miss")
    await eventually(async () => {
      const [object] = (
        await env.FILES.list({ prefix: `response-cache/${workspace.organizationId}/`, include: ["customMetadata"] })
      ).objects
      expect(Number(object?.customMetadata?.["expiresAt"])).toBeLessThan(Date.now() + 61_000)
    })
    expect(await cacheOf(ask(as))).toBe("hit")
    expect(await cacheOf(ask(as, {}, { "x-response-cache": "off" }))).toBeNull()
    expect(await cacheOf(ask(as, {}, {}))).toBeNull()
    vi.setSystemTime(Date.now() + 60_000)
    expect(await cacheOf(ask(as))).toBe("miss")
  })

  test("passes the output guardrails that apply when it is replayed", async () => {
    const workspace = await newWorkspace()
    const { as, hash } = await newKey(workspace)
    const say = () => as.chat("sim/echo", "Ask the zebra.", {}, ON)
    await expectJson(200, say())
    await untilStored(workspace, 1)
    const filter = { action: "redact", label: "[ANIMAL]", pattern: "zebra" }
    const made = workspace.manage.post("/guardrails", { name: "No animals", content_filters: [filter] })
    const { data } = await expectJson<{ data: { id: string } }>(201, made)
    await expectJson(200, workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, { key_hashes: [hash] }))
    const { choices } = await expectJson<Answer>(200, say())
    expect(choices[0]?.message.content).not.toContain("zebra")
  })
})

describe("a response is not stored", () => {
  const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }]

  test("for a request with tools, unless the header says tools", async () => {
    const workspace = await newWorkspace()
    const { as } = await newKey(workspace)
    expect(await cacheOf(ask(as, { tools }))).toBeNull()
    const withTools = { "x-response-cache": "on, tools" }
    expect(await cacheOf(ask(as, { tools }, withTools))).toBe("miss")
    await untilStored(workspace, 1)
    expect(await cacheOf(ask(as, { tools }, withTools))).toBe("hit")
  })

  test("under a guardrail that enforces zero data retention", async () => {
    const workspace = await newWorkspace()
    const { as, hash } = await newKey(workspace)
    const made = workspace.manage.post("/guardrails", { name: "ZDR", enforce_zdr_openai: true })
    const { data } = await expectJson<{ data: { id: string } }>(201, made)
    await expectJson(200, workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, { key_hashes: [hash] }))
    expect(await cacheOf(ask(as))).toBeNull()
  })

  test.each(["sim/late-error", "sim/cut"])("that failed: %s", async (model) => {
    const workspace = await newWorkspace()
    const { as } = await newKey(workspace)
    const failed = await ask(as, { stream: true }, ON, model)
    await failed.text().catch(() => "")
    expect(await cacheOf(ask(as))).toBe("miss")
    await untilStored(workspace, 1)
  })
})

describe("the response cache of a workspace", () => {
  test("is on for all requests where it has a time to live", async () => {
    const workspace = await newWorkspace()
    const path = `/workspaces/${workspace.workspaceId}`
    const answer = await expectJson(200, workspace.manage.patch(path, { response_cache_seconds: 300 }))
    expect(answer).toMatchObject({ data: { response_cache_seconds: 300 } })
    const { as } = await newKey(workspace)
    expect(await cacheOf(ask(as, {}, {}))).toBe("miss")
    await untilStored(workspace, 1)
    expect(await cacheOf(ask(as, {}, {}))).toBe("hit")
    expect(await cacheOf(ask(as, {}, { "x-response-cache": "off" }))).toBeNull()
  })

  test("is purged by a management key", async () => {
    const { workspace, as } = await newCached()
    const path = `/workspaces/${workspace.workspaceId}/response-cache`
    await expectJson(403, as.delete(path))
    expect(await expectJson(200, workspace.manage.delete(path))).toEqual({ deleted: 1, has_more: false })
    expect(await cacheOf(ask(as))).toBe("miss")
  })

  test("is pruned of what no response may be old enough for", async () => {
    const { workspace } = await newCached()
    await pruneResponses(env.FILES, Date.now() + 6 * DAY_MS)
    expect(await stored(workspace)).toBe(1)
    await pruneResponses(env.FILES, Date.now() + 8 * DAY_MS)
    expect(await stored(workspace)).toBe(0)
  })

  test.each(["yes", "ttl=0", "ttl=604801", "ttl=x", "on; tools"])("refuses the directive %s", async (directive) => {
    const workspace = await newWorkspace()
    const { error } = await expectJson<Failure>(400, ask(workspace.as, {}, { "x-response-cache": directive }))
    expect(error.message).toContain("x-response-cache: accepts on, off, refresh, tools and ttl=<seconds")
  })
})
