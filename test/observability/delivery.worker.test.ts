import { createExecutionContext, runInDurableObject, waitOnExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest"
import { app } from "../../src/app/app.ts"
import { Outbox } from "../../durable-objects/ledger/outbox.ts"
import { unsettledGeneration } from "../../src/ledger/generation.ts"
import { drainDestination, sweepBatches } from "../../src/observability/delivery/backlog.ts"
import type { BroadcastMessage } from "../../src/config/messages.ts"
import { pauseMs, RETRY_WINDOW_MS, waitMs } from "../../src/observability/delivery/retry.ts"
import { distributeCalls } from "../../src/observability/delivery/distribute.ts"
import { findCallContentBatch } from "../../src/observability/call-content.ts"
import { BOOTSTRAP, client, newKey, newWorkspace, readStream, expectJson, type Workspace } from "../support/world.ts"
import {
  call,
  destinationOf,
  flush,
  generationsIn,
  listen,
  newHungReceiver,
  newReceiver,
  mockReceivers,
  spansIn,
  receivedSpans,
} from "./receiver.ts"
import { eventually } from "../support/eventually.ts"

beforeAll(() => {
  mockReceivers()
  return async () => {
    // Batches left by these tests must not affect later tests.
    await env.DB.prepare("UPDATE destinations SET deleted_at = 1").run()
    vi.restoreAllMocks()
  }
})

const bytesOf = (base64: string) => Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))

async function signature(secret: string, text: string): Promise<string> {
  const hmac = { name: "HMAC", hash: "SHA-256" }
  const key = await crypto.subtle.importKey("raw", bytesOf(secret.slice(6)), hmac, false, ["sign"])
  const signed = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(text))
  return `v1,${btoa(String.fromCharCode(...new Uint8Array(signed)))}`
}

describe("a call", () => {
  test("reaches a webhook signed, with its trace, its session and its content", async () => {
    const workspace = await newWorkspace()
    const { got, url } = newReceiver()
    const { config } = await listen(workspace, url, { config: { url, headers: { "x-team": "ours" } } })
    const trace = {
      trace_id: "0123456789abcdef0123456789abcdef",
      parent_span_id: "0123456789abcdef",
      trace_name: "checkout",
      generation_name: "answer",
      release: "1.2",
      build: { number: 7 },
    }
    const id = await call(workspace.as.chat("sim/echo", "Hello there", { trace, session_id: "s-1", user: "ada" }))
    const [span] = await receivedSpans(got, 1)
    expect(span).toMatchObject({ traceId: trace.trace_id, parentSpanId: trace.parent_span_id, name: "answer" })
    expect(span?.spanId).toMatch(/^[0-9a-f]{16}$/)
    expect(span?.at).toMatchObject({
      "gen_ai.operation.name": "chat",
      "gen_ai.request.model": "sim/echo",
      "gen_ai.response.id": id,
      "gen_ai.conversation.id": "s-1",
      "gateway.generation_id": id,
      "gateway.event_id": expect.any(String) as string,
      "trace.name": "checkout",
      "trace.metadata.release": "1.2",
      "trace.metadata.build": '{"number":7}',
    })
    expect(span?.at["gen_ai.input.messages"]).toBe(
      '[{"role":"user","parts":[{"type":"text","content":"Hello there"}]}]',
    )
    expect(span?.at["gen_ai.output.messages"]).toContain("Hello there")
    const [received] = got
    const header = (name: string) => received?.headers.get(name) ?? ""
    expect(header("x-team")).toBe("ours")
    const signed = `${header("webhook-id")}.${header("webhook-timestamp")}.${received?.body}`
    expect(header("webhook-signature")).toBe(await signature(config.signingSecret, signed))
  })

  test("is exported without cost, identity and request context unless their flags are set", async () => {
    const workspace = await newWorkspace()
    const [plain, full] = [newReceiver(), newReceiver()]
    await listen(workspace, plain.url)
    await listen(workspace, full.url, {
      broadcast_generation_cost: true,
      broadcast_generation_identity: true,
      broadcast_generation_request_context: true,
    })
    const headers = { "x-title": "Shop", "http-referer": "https://shop.example", "user-agent": "shop/1" }
    await call(workspace.as.chat("sim/echo", "Hi", { user: "grace" }, headers))
    const keysOf = (names: string[], group: string) => names.filter((name) => name.startsWith(group)).toSorted()
    const bare = Object.keys((await receivedSpans(plain.got, 1))[0]?.at ?? {})
    expect(
      keysOf(bare, "gateway.cost").concat(keysOf(bare, "gateway.identity"), keysOf(bare, "gateway.context")),
    ).toEqual([])
    expect(bare).not.toContain("gen_ai.usage.cost")
    expect(plain.got[0]?.body).not.toContain("grace")
    const [span] = await receivedSpans(full.got, 1)
    expect(span?.at).toMatchObject({
      "gen_ai.usage.cost": expect.any(Number) as number,
      "gateway.cost.is_byok": false,
      "user.id": "grace",
      "gateway.identity.api_key_name": "First key",
      "gateway.identity.workspace_id": workspace.workspaceId,
      "gateway.context.app_title": "Shop",
      "gateway.context.user_agent": "shop/1",
    })
  })

  test.each([
    ["a stream", "/chat/completions", { messages: [{ role: "user", content: "Keep this" }], stream: true }],
    ["a response", "/responses", { input: "Keep this" }],
    ["a message", "/messages", { messages: [{ role: "user", content: "Keep this" }], max_tokens: 50 }],
  ])("is exported completely when it is %s", async (_, path, body) => {
    const workspace = await newWorkspace()
    const { got, url } = newReceiver()
    await listen(workspace, url)
    await call(workspace.as.post(path, { model: "sim/echo", ...body }))
    const [span] = await receivedSpans(got, 1)
    expect(span?.at["gen_ai.input.messages"]).toContain("Keep this")
    expect(span?.at["gen_ai.output.messages"]).toContain("Keep this")
  })

  test.each([
    ["embeddings", "/embeddings", { model: "sim/embed", input: ["Keep ZEBRA-1", "and this"] }, ["and this"]],
    [
      "rerank",
      "/rerank",
      { model: "sim/rerank", query: "Keep ZEBRA-1", documents: ["doc a", { text: "doc b" }] },
      ["doc b"],
    ],
    ["image", "/images", { model: "sim/image", prompt: "Keep ZEBRA-1" }, []],
    ["speech", "/audio/speech", { model: "sim/speech", input: "Keep ZEBRA-1", instructions: "Softly" }, ["Softly"]],
    ["video", "/videos", { model: "sim/video", prompt: "Keep ZEBRA-1" }, []],
  ])("of another kind reaches it with its prompt after the guardrails: %s", async (_name, path, body, texts) => {
    const workspace = await newWorkspace()
    const rule = { name: "Rail", content_filters: [{ pattern: "ZEBRA-\\d+", action: "redact", label: "Zebra" }] }
    const { data } = await expectJson<{ data: { id: string } }>(201, workspace.manage.post("/guardrails", rule))
    const { as, hash } = await newKey(workspace)
    await expectJson(200, workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, { key_hashes: [hash] }))
    const { got, url } = newReceiver()
    await listen(workspace, url)
    await call(as.post(path, body))
    const [span] = await receivedSpans(got, 1)
    for (const text of ["Keep [Zebra]", ...texts]) expect(span?.at["gen_ai.input.messages"]).toContain(text)
    expect(JSON.stringify(span)).not.toContain("ZEBRA-1")
    expect(span?.at["gen_ai.output.messages"]).toBeUndefined()
  })

  test("without content still has a span: token ids, and a call that all providers rejected", async () => {
    const workspace = await newWorkspace()
    const { got, url } = newReceiver()
    await listen(workspace, url)
    const ids = [
      await call(workspace.as.post("/embeddings", { model: "sim/embed", input: [1, 2, 3] })),
      await call(workspace.as.chat("sim/status-500", "Hello")),
    ]
    const spans = await receivedSpans(got, 2)
    expect(spans.map(({ at }) => at["gateway.generation_id"]).toSorted()).toEqual(ids.toSorted())
    const refused = spans.find(({ at }) => at["gateway.generation_id"] === ids[1])
    expect(refused).toMatchObject({ status: { code: 2 }, at: { "error.type": "provider_failed" } })
  })
})

describe("a destination receives", () => {
  test("calls of its keys, and content only without privacy mode", async () => {
    const workspace = await newWorkspace()
    const { hash, as } = await newKey(workspace)
    const [one, all, quiet] = [newReceiver(), newReceiver(), newReceiver()]
    await listen(workspace, one.url, { api_key_hashes: [hash] })
    await listen(workspace, all.url)
    await listen(workspace, quiet.url, { privacy_mode: true })
    const theirs = await call(workspace.as.chat("sim/echo", "Not for one"))
    const mine = await call(as.chat("sim/echo", "For one"))
    expect((await receivedSpans(all.got, 2)).length).toBe(2)
    await receivedSpans(quiet.got, 2)
    await receivedSpans(one.got, 1)
    expect(generationsIn(one.got)).toEqual([mine])
    expect(generationsIn(all.got).toSorted()).toEqual([theirs, mine].toSorted())
    const quietly = JSON.stringify(quiet.got.map(({ body }) => body))
    expect(quietly).not.toMatch(/for one|messages/i)
  })

  test("calls that match its filter rules, even on content that privacy mode withholds", async () => {
    const workspace = await newWorkspace()
    const [matched, all] = [newReceiver(), newReceiver()]
    const rules = [
      { field: "output", operator: "contains", value: "wanted" },
      { field: "model", operator: "starts_with", value: "sim/" },
    ]
    await listen(workspace, matched.url, { privacy_mode: true, filter_rules: { groups: [{ rules }] } })
    await listen(workspace, all.url)
    await call(workspace.as.chat("sim/echo", "Leave this out"))
    const id = await call(workspace.as.chat("sim/echo", "This is wanted"))
    await receivedSpans(all.got, 2)
    await receivedSpans(matched.got, 1)
    expect(generationsIn(matched.got)).toEqual([id])
    expect(matched.got[0]?.body).not.toContain("This is wanted")
  })

  test("complete sessions at its sampling rate", async () => {
    const workspace = await newWorkspace()
    const [some, all] = [newReceiver(), newReceiver()]
    await listen(workspace, some.url, { sampling_rate: 0.5 })
    await listen(workspace, all.url)
    for (let at = 0; at < 24; at++) await call(workspace.as.chat("sim/echo", "Hi", { session_id: `session-${at % 8}` }))
    await receivedSpans(all.got, 24)
    const countOf = (got: typeof all.got) => Map.groupBy(spansIn(got), ({ at }) => at["session.id"] as string)
    const events = [...countOf(some.got)].map(([session, calls]) => [session, calls.length])
    expect(events.every(([, count]) => count === 3)).toBe(true)
    expect(events.length).toBeGreaterThan(0)
    expect(events.length).toBeLessThan(8)
  })

  test("nothing while disabled, while its workspace's broadcast is off, and after deletion", async () => {
    const workspace = await newWorkspace()
    const [off, control] = [newReceiver(), newReceiver()]
    const { id } = await listen(workspace, off.url, { enabled: false })
    const here = await listen(workspace, control.url)
    await call(workspace.as.chat("sim/echo", "Hi"))
    await receivedSpans(control.got, 1)
    await expectJson(200, workspace.manage.patch(`/observability/destinations/${id}`, { enabled: true }))
    const settings = (isOn: boolean) =>
      expectJson(
        200,
        workspace.manage.patch(`/workspaces/${workspace.workspaceId}`, { is_observability_broadcast_enabled: isOn }),
      )
    await settings(false)
    await call(workspace.as.chat("sim/echo", "Hi"))
    await flush(workspace)
    await settings(true)
    await expectJson(200, workspace.manage.delete(`/observability/destinations/${id}`))
    await call(workspace.as.chat("sim/echo", "Hi"))
    await receivedSpans(control.got, 2)
    expect([off.got.length, spansIn(control.got).length]).toEqual([0, 2])
    expect(here.backlog).toBe(0)
  })

  test("calls of its regions", async () => {
    const workspace = await newWorkspace()
    const [global, both] = [newReceiver(), newReceiver()]
    await listen(workspace, global.url)
    await listen(workspace, both.url, { regions: ["global", "eu"] })
    const here = await call(workspace.as.chat("sim/echo", "Hi"))
    await flush(workspace)
    await receivedSpans(both.got, 1)
    expect(generationsIn(global.got)).toEqual([here])
    const context = createExecutionContext()
    const european = await app.fetch(
      new Request("http://eu.localhost/api/v1/chat/completions", {
        method: "POST",
        headers: { authorization: `Bearer ${workspace.key}`, "content-type": "application/json" },
        body: JSON.stringify({ model: "acme/chat-93", messages: [{ role: "user", content: "Hi" }] }),
      }),
      env,
      context,
    )
    await european.text()
    await waitOnExecutionContext(context)
    const spans = await receivedSpans(both.got, 2)
    expect(spans.map(({ at }) => at["gateway.region"]).toSorted()).toEqual(["europe", "global"])
    expect(generationsIn(global.got)).toEqual([here])
  })
})

/** A destination with a failed delivery. Its object sleeps for an hour: the test delivers the backlog. */
async function waiting(answer: () => Response | Promise<Response> = () => new Response("no", { status: 503 })) {
  const workspace = await newWorkspace()
  const receiver = newReceiver(answer)
  const { id } = await listen(workspace, receiver.url)
  const generation = await call(workspace.as.chat("sim/echo", "Wait for me"))
  await flush(workspace)
  await eventually(async () => expect((await destinationOf(workspace, id)).backlog).toBe(1))
  await env.DB.prepare("UPDATE destinations SET paused_until = ? WHERE id = ?")
    .bind(Date.now() + 3_600_000, id)
    .run()
  const batch = await env.DB.prepare("SELECT id, since FROM broadcast_batches WHERE destination_id = ?")
    .bind(id)
    .first<{ id: string; since: number }>()
  const { id: batchId = "", since = 0 } = batch ?? {}
  const destination = { organizationId: workspace.organizationId, destinationId: id }
  const drainAt = (at: number) => drainDestination(destination, env, () => at)
  return { workspace, receiver, id, generation, batchId, drainAt, since }
}

const LATER_MS = 7_200_000

describe("a failing destination", () => {
  test("receives the complete call later with the same ids, and shows its state in the meantime", async () => {
    const { workspace, receiver, id, generation, batchId, drainAt, since } = await waiting()
    expect(await destinationOf(workspace, id)).toMatchObject({
      backlog: 1,
      dead_letters: 0,
      last_error: "it returned 503",
      last_success_at: null,
      failures: 1,
      next_attempt_at: expect.any(String),
    })
    const before = receiver.got.length
    expect(await drainAt(since + LATER_MS)).toBeGreaterThan(since + LATER_MS)
    expect(receiver.got.length).toBe(before + 1)
    receiver.turn(() => new Response("fine"))
    expect(await drainAt(since + 2 * LATER_MS)).toBeNull()
    expect(await destinationOf(workspace, id)).toMatchObject({
      backlog: 0,
      last_success_at: expect.any(String) as string,
    })
    const spans = spansIn(receiver.got)
    expect(new Set(spans.map(({ at }) => at["gateway.event_id"])).size).toBe(1)
    expect(new Set(receiver.got.map(({ headers }) => headers.get("webhook-id"))).size).toBe(1)
    expect(spans.at(-1)?.at["gen_ai.input.messages"]).toContain("Wait for me")
    expect(spans.at(-1)?.at["gateway.generation_id"]).toBe(generation)
    const { objects } = await env.FILES.list({ prefix: "broadcast/" })
    expect(objects.some(({ key }) => key.includes(batchId.replaceAll("-", "")))).toBe(false)
  })

  test("pauses after six failures in a row for 1 to 15 seconds, and for 5 minutes after an hour", () => {
    expect([1, 5, 6, 7, 8].map(pauseMs)).toEqual([0, 0, 1_000, 1_500, 2_250])
    expect([20, 249, 250, 9_000].map(pauseMs)).toEqual([15_000, 15_000, 300_000, 300_000])
    expect([1, 2, 3, 20].map(waitMs)).toEqual([2_000, 4_000, 8_000, 30_000])
  })

  test("is paused for its Retry-After of up to an hour", async () => {
    const workspace = await newWorkspace()
    const headers = { "retry-after": "600" }
    const { got, url } = newReceiver(() => new Response("slow down", { status: 429, headers }))
    const { id } = await listen(workspace, url)
    const before = Date.now()
    await call(workspace.as.chat("sim/echo", "Hi"))
    await receivedSpans(got, 1)
    const row = await eventually(async () => {
      const query = `SELECT d.paused_until, b.due_at FROM destinations d JOIN broadcast_batches b ON b.destination_id = d.id WHERE d.id = ?`
      const found = await env.DB.prepare(query).bind(id).first<{ paused_until: number; due_at: number }>()
      expect(found).not.toBeNull()
      return found
    })
    expect(row?.paused_until).toBeGreaterThanOrEqual(before + 600_000)
    expect(row?.due_at).toBeGreaterThanOrEqual(before + 600_000)
  })

  test("gets no request for new calls while it is paused", async () => {
    const { workspace, receiver, id } = await waiting()
    const before = receiver.got.length
    await call(workspace.as.chat("sim/echo", "Wait, too"))
    await flush(workspace)
    await eventually(async () => expect((await destinationOf(workspace, id)).backlog).toBe(2))
    expect(receiver.got.length).toBe(before)
  })

  test("receives calls made during the failure with content, which is then removed", async () => {
    const { workspace, receiver, id, drainAt, since } = await waiting()
    const later = await call(workspace.as.chat("sim/echo", "Came while it failed"))
    await flush(workspace)
    await eventually(async () => expect((await destinationOf(workspace, id)).backlog).toBe(2))
    const rows = await env.DB.prepare("SELECT id FROM broadcast_batches WHERE destination_id = ? AND is_sorted = 0")
      .bind(id)
      .all<{ id: string }>()
    const [{ id: batchId } = { id: "" }] = rows.results
    expect(Object.keys(await findCallContentBatch(env.FILES, batchId))).toEqual([later])
    receiver.turn(() => new Response("fine"))
    expect(await drainAt(since + LATER_MS)).toBeNull()
    const span = spansIn(receiver.got).find(({ at }) => at["gateway.generation_id"] === later)
    expect(span?.at["gen_ai.output.messages"]).toContain("Came while it failed")
    expect(await findCallContentBatch(env.FILES, batchId)).toEqual({})
    expect(await destinationOf(workspace, id)).toMatchObject({ backlog: 0, dead_letters: 0 })
  })

  test("has its batches dead-lettered after a day, and redeliver sends them", async () => {
    const { workspace, receiver, id, drainAt, since } = await waiting()
    expect(await drainAt(since + RETRY_WINDOW_MS - 1)).toBeGreaterThan(0)
    expect(await destinationOf(workspace, id)).toMatchObject({ backlog: 1, dead_letters: 0 })
    expect(await drainAt(since + RETRY_WINDOW_MS + LATER_MS)).toBeNull()
    expect(await destinationOf(workspace, id)).toMatchObject({ backlog: 0, dead_letters: 1 })
    receiver.turn(() => new Response("fine"))
    const before = receiver.got.length
    const again = await expectJson(200, workspace.manage.post(`/observability/destinations/${id}/redeliver`, undefined))
    expect(again).toEqual({ data: { batches: 1 } })
    await eventually(() => expect(receiver.got.length).toBeGreaterThan(before))
    await eventually(async () =>
      expect(await destinationOf(workspace, id)).toMatchObject({ backlog: 0, dead_letters: 0 }),
    )
    expect(spansIn(receiver.got).at(-1)?.at["gen_ai.output.messages"]).toContain("Wait for me")
  })

  test("that is disabled gets no request, and its backlog is dead-lettered after a day", async () => {
    const { workspace, receiver, id, drainAt, since } = await waiting()
    await expectJson(200, workspace.manage.patch(`/observability/destinations/${id}`, { enabled: false }))
    const before = receiver.got.length
    expect(await drainAt(since + LATER_MS)).toBeGreaterThan(since + LATER_MS)
    expect(await drainAt(since + RETRY_WINDOW_MS + LATER_MS)).toBeNull()
    expect(receiver.got.length).toBe(before)
    expect(await destinationOf(workspace, id)).toMatchObject({ backlog: 0, dead_letters: 1 })
  })

  test("that rejects a batch five times has it dead-lettered, without a pause for others", async () => {
    const refusing = () => new Response("no", { status: 413 })
    const { workspace, id, drainAt, since } = await waiting(refusing)
    for (let at = 1; at < 4; at++) expect(await drainAt(since + at * LATER_MS)).toBeGreaterThan(0)
    expect(await drainAt(since + 4 * LATER_MS)).toBeNull()
    expect(await destinationOf(workspace, id)).toMatchObject({ backlog: 0, dead_letters: 1 })
    const row = await env.DB.prepare("SELECT failures FROM destinations WHERE id = ?").bind(id).first()
    expect(row).toEqual({ failures: 0 })
  })

  test("does not delay another destination", async () => {
    const workspace = await newWorkspace()
    const [hung, well] = [newHungReceiver(), newReceiver()]
    await listen(workspace, hung.url)
    await listen(workspace, well.url)
    const id = await call(workspace.as.chat("sim/echo", "Hi"))
    await flush(workspace)
    await receivedSpans(well.got, 1)
    expect(generationsIn(well.got)).toEqual([id])
    await receivedSpans(hung.got, 1)
    hung.release()
  })

  test("loses its backlog when it is deleted", async () => {
    const { workspace, id, batchId } = await waiting()
    await expectJson(200, workspace.manage.delete(`/observability/destinations/${id}`))
    await eventually(async () => {
      const left = await env.DB.prepare("SELECT * FROM broadcast_batches WHERE destination_id = ?").bind(id).all()
      expect(left.results).toEqual([])
      const { objects } = await env.FILES.list({ prefix: "broadcast/" })
      expect(objects.some(({ key }) => key.includes(batchId.replaceAll("-", "")))).toBe(false)
    })
  })

  test("without an alarm is woken by the hourly job", async () => {
    const { workspace, id, receiver } = await waiting()
    receiver.turn(() => new Response("fine"))
    const past = Date.now() - 3 * 3_600_000
    await env.DB.batch([
      env.DB.prepare("UPDATE broadcast_batches SET due_at = ? WHERE destination_id = ?").bind(past, id),
      env.DB.prepare("UPDATE destinations SET paused_until = 0 WHERE id = ?").bind(id),
    ])
    await sweepBatches(env, Date.now())
    await eventually(async () => expect((await destinationOf(workspace, id)).backlog).toBe(0))
  })
})

const contentsIn = (workspace: Workspace) =>
  runInDurableObject(workspace.object, (_, { storage }) => storage.sql.exec("SELECT content FROM contents").toArray())

describe("exported content", () => {
  test("is kept by the ledger until the call is sorted, and not stored without a destination", async () => {
    const workspace = await newWorkspace()
    await call(workspace.as.chat("sim/echo", "Nobody listens"))
    expect(await contentsIn(workspace)).toEqual([])
    const { got, url } = newReceiver()
    await listen(workspace, url)
    await call(workspace.as.chat("sim/echo", "Somebody listens"))
    await workspace.ledger.balance()
    expect(JSON.stringify(await contentsIn(workspace))).toContain("Somebody listens")
    await receivedSpans(got, 1)
    await eventually(async () => expect(await contentsIn(workspace)).toEqual([]))
  })

  test("above a size is a separate object, removed once the call is sorted", async () => {
    const workspace = await newWorkspace()
    const { got, url } = newReceiver()
    await listen(workspace, url)
    const put = vi.spyOn(env.FILES, "put")
    onTestFinished(() => put.mockRestore())
    const long = "A long question. ".repeat(2_000)
    await call(workspace.as.chat("sim/echo", long))
    const [span] = await receivedSpans(got, 1)
    expect(span?.at["gen_ai.input.messages"]).toContain(long)
    const keys = put.mock.calls.map(([key]) => key).filter((key) => key.startsWith("broadcast/"))
    expect(keys).toHaveLength(1)
    await eventually(async () => expect(await env.FILES.head(keys[0] ?? "")).toBeNull())
  })

  test("sorted twice is the same batch with the same event ids", async () => {
    const workspace = await newWorkspace()
    const { got, url } = newReceiver()
    await listen(workspace, url, { privacy_mode: true })
    const id = await call(workspace.as.chat("sim/echo", "Hi"))
    await receivedSpans(got, 1)
    const message = {
      kind: "calls" as const,
      organizationId: workspace.organizationId,
      workspaceId: workspace.workspaceId,
      generationIds: [id],
      since: 0,
    }
    await distributeCalls(message, env, Date.now())
    const [first, second] = got
    expect(second?.headers.get("webhook-id")).toBe(first?.headers.get("webhook-id"))
    expect(spansIn(got).map(({ spanId }) => spanId)[1]).toBe(spansIn(got)[0]?.spanId)
  })

  test("of another organization cannot be sorted by its id", async () => {
    const [mine, theirs] = [await newWorkspace(), await newWorkspace()]
    const { got, url } = newReceiver()
    await listen(theirs, url)
    const id = await call(mine.as.chat("sim/echo", "Mine"))
    await flush(mine)
    const { organizationId, workspaceId } = theirs
    await distributeCalls(
      { kind: "calls", organizationId, workspaceId, generationIds: [id], since: 0 },
      env,
      Date.now(),
    )
    expect(got).toEqual([])
  })
})

describe("the ledger's outbox", () => {
  const listened = (workspace: Workspace, id: string) => ({
    ...unsettledGeneration(
      {
        id,
        organizationId: workspace.organizationId,
        workspaceId: workspace.workspaceId,
        keyHash: "k",
        createdAt: Date.now(),
        requestId: `req-${crypto.randomUUID()}`,
        apiType: "completions",
        requestedModel: "m",
        streamed: false,
        sessionId: null,
        appUrl: null,
        appTitle: null,
        userAgent: null,
        promptEstimate: 1,
        broadcast: { region: "global", user: null, trace: null, hasContent: false },
      },
      0,
    ),
    settledAt: Date.now(),
  })

  test("keeps calls while the database or the queue is unavailable, and sends each afterwards", async () => {
    const workspace = await newWorkspace()
    await runInDurableObject(workspace.object, async (_, { storage }) => {
      const outbox = new Outbox(storage.sql)
      const ids = Array.from({ length: 60 }, () => `gen-${crypto.randomUUID()}`)
      for (const id of ids) outbox.add([listened(workspace, id)])
      const sent: BroadcastMessage[] = []
      let isAway = true
      const queue = {
        sendBatch: async (messages: { body: BroadcastMessage }[]) => {
          if (isAway) throw new Error("The queue is away.")
          sent.push(...messages.map(({ body }) => body))
        },
      } as unknown as Queue<BroadcastMessage>
      // Not in the database yet: a consumer could not read them.
      expect(await outbox.broadcast(queue, 1)).toBeNull()
      await outbox.flush(env.DB)
      expect(await outbox.broadcast(queue, 1)).toBeGreaterThan(0)
      expect(sent).toEqual([])
      isAway = false
      const reopened = new Outbox(storage.sql)
      const idsIn = (messages: BroadcastMessage[]) =>
        messages.flatMap((message) => (message.kind === "calls" ? message.generationIds : []))
      expect(await reopened.broadcast(queue, 1)).toBe(120_000)
      expect(await reopened.broadcast(queue, 2)).toBe(119_999)
      expect(idsIn(sent)).toEqual(ids)
      expect(Math.max(...sent.map((message) => JSON.stringify(message).length))).toBeLessThan(5_000)
      // A queue that lost its messages, like one in development when its process ends.
      reopened.broadcasts.confirm(ids.slice(0, 50), 3)
      expect(await new Outbox(storage.sql).broadcast(queue, 120_001)).toBe(240_000)
      expect(idsIn(sent.splice(0)).slice(60)).toEqual(ids.slice(50))
      reopened.broadcasts.confirm(ids, 4)
      expect(await reopened.broadcast(queue, 1_000_000)).toBeNull()
      expect(sent).toEqual([])
    })
  })
})

describe("rotating the master key", () => {
  const OTHER = btoa(String.fromCharCode(...new Uint8Array(32).fill(11)))
  const rotate = async (current: string, previous: string) => {
    const turned = { ...env, MASTER_KEY: current, MASTER_KEY_PREVIOUS: previous }
    const init = {
      method: "POST",
      headers: { authorization: `Bearer ${BOOTSTRAP}`, "content-type": "application/json" },
      body: "{}",
    }
    for (;;) {
      const answer = await app.fetch(
        new Request("http://gateway.test/api/v1/secrets/rotate", init),
        turned,
        createExecutionContext(),
      )
      if ((await expectJson<{ data: { remaining: number } }>(200, answer)).data.remaining === 0) return turned
    }
  }

  test("keeps a destination's secrets readable", async () => {
    const workspace = await newWorkspace()
    const { got, url } = newReceiver()
    await listen(workspace, url, {
      privacy_mode: true,
      config: { url, headers: { "x-key": "a-secret-header-0123456789" } },
    })
    const id = await call(workspace.as.chat("sim/echo", "Hi"))
    await receivedSpans(got, 1)
    const { organizationId, workspaceId } = workspace
    const message = { kind: "calls" as const, organizationId, workspaceId, generationIds: [id], since: 0 }
    const scoped = env.MASTER_KEY ?? ""
    const turned = await rotate(OTHER, scoped)
    try {
      await distributeCalls(message, { ...turned, MASTER_KEY_PREVIOUS: undefined } as never, Date.now())
      expect(got.at(-1)?.headers.get("x-key")).toBe("a-secret-header-0123456789")
      expect(got.length).toBe(2)
    } finally {
      await rotate(scoped, OTHER)
    }
    await distributeCalls(message, env, Date.now())
    expect(got.length).toBe(3)
  })
})

describe("POST /observability/destinations/{id}/test", () => {
  type Probed = { data: { ok: boolean; status: number | null; latency_ms: number; message: string } }
  const probe = async (workspace: Workspace, id: string) =>
    (await expectJson<Probed>(200, workspace.manage.post(`/observability/destinations/${id}/test`, undefined))).data

  test("sends a test call, and returns the result", async () => {
    const workspace = await newWorkspace()
    const { got, url, turn } = newReceiver(() => new Response("welcome", { status: 202 }))
    const { id } = await listen(workspace, url, { enabled: false })
    expect(await probe(workspace, id)).toEqual({
      ok: true,
      status: 202,
      latency_ms: expect.any(Number) as number,
      message: "welcome",
    })
    expect(spansIn(got)[0]?.name).toBe("connection test")
    turn(() => new Response(null, { status: 500 }))
    expect(await probe(workspace, id)).toMatchObject({ ok: false, status: 500, message: "it returned 500." })
    turn(() => Promise.reject(new Error("connect ECONNREFUSED 10.0.0.7")))
    expect(await probe(workspace, id)).toMatchObject({ ok: false, status: null, message: "the connection failed." })
    turn(() => new Response(null, { status: 302, headers: { location: "https://elsewhere.example" } }))
    expect((await probe(workspace, id)).message).toContain("set the address that it redirects to")
    type Log = { data: { action: string }[] }
    const log = await expectJson<Log>(200, workspace.manage.get(`/audit?resource_id=${id}`))
    expect(log.data.map(({ action }) => action)).toContain("destination.test")
  })

  test("redacts secrets that the destination returns", async () => {
    const workspace = await newWorkspace()
    const secret = "very-secret-header-value-0123456789"
    const { url } = newReceiver(
      ({ headers }) => new Response(`you sent ${headers.get("x-key")} and ${btoa(headers.get("x-key") ?? "")}`),
    )
    const { id } = await listen(workspace, url, { config: { url, headers: { "x-key": secret } } })
    const { message } = await probe(workspace, id)
    expect(message).toBe("you sent [redacted] and [redacted]")
  })
})

test("calls succeed while destinations hang", async () => {
  const workspace = await newWorkspace()
  const hung = newHungReceiver()
  await listen(workspace, hung.url)
  for (let at = 0; at < 5; at++) expect((await client(workspace.key).chat("sim/echo", "Hi")).status).toBe(200)
  expect((await readStream(workspace.as.chat("sim/echo", "Hi", { stream: true }))).done).toBe(true)
  hung.release()
})
