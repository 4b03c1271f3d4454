import { runDurableObjectAlarm } from "cloudflare:test"
import { env, exports } from "cloudflare:workers"
import { describe, expect, test } from "vitest"
import { insertGenerations } from "../../src/generations/store.ts"
import { CONNECTION_MS, type FeedInput, readFeed, type ServerEvent } from "../../src/events/feed.ts"
import { newId } from "../../src/support/ids.ts"
import { eventually } from "../support/eventually.ts"
import { internChat } from "../support/intern-chat.ts"
import { MockDaemon, newDaemonIntern } from "../support/daemon.ts"
import { expectJson, newKey, newWorkspace, type TestClient, type Workspace } from "../support/world.ts"

/** With a simulated clock: waiting takes no time. */
function feedOf(workspace: Workspace, more: Partial<FeedInput> = {}) {
  let now = Date.now()
  const timer = {
    wait: async (ms: number) => {
      now += ms
      return undefined
    },
    after: () => () => undefined,
  }
  const abort = new AbortController()
  const { organizationId } = workspace
  const feed = readFeed({
    db: env.DB,
    calls: { organizationId, keyHash: null },
    questions: null,
    lastEventId: null,
    isAllowed: async () => true,
    signal: abort.signal,
    timer,
    now: () => now,
    ...more,
  })
  return { feed, abort, now: () => now }
}

async function store({ organizationId, workspaceId }: Workspace, at: number, key = "k"): Promise<string> {
  const id = `gen-${newId()}`
  const times = { createdAt: at, settledAt: at, latencyMs: null, generationMs: null }
  const facts = { id, organizationId, workspaceId, keyHash: key, model: "a/one", provider: "P", upstreamId: null }
  const record = { ...facts, ...times, costNano: 1, byokCostNano: 0, tokens: {}, ending: "complete", attempts: [] }
  await insertGenerations(env.DB, [JSON.stringify({ ...record, requestId: "req-1", status: 200, sessionId: null })])
  return id
}

async function next(feed: AsyncGenerator<ServerEvent>, event: string): Promise<ServerEvent> {
  for await (const one of { [Symbol.asyncIterator]: () => ({ next: () => feed.next() }) }) {
    if (one.event === event) return one
  }
  throw new Error(`no ${event}`)
}

const idOf = ({ data }: ServerEvent) => (data as { id: string }).id

describe("the feed", () => {
  test("sends every call once, in whatever order the calls arrive", async () => {
    const workspace = await newWorkspace()
    const { feed, now } = feedOf(workspace)
    const ids = [await store(workspace, now())]
    expect(idOf(await next(feed, "call"))).toBe(ids[0])
    // A call that ended before the last one, and arrives after it.
    ids.push(await store(workspace, now() - 900))
    expect(idOf(await next(feed, "call"))).toBe(ids[1])
    ids.push(await store(workspace, now()))
    expect(idOf(await next(feed, "call"))).toBe(ids[2])
    const rest: ServerEvent[] = []
    for await (const event of feed) rest.push(event)
    expect(rest.filter(({ event }) => event === "call")).toEqual([])
  })

  test("resumes after the last event, and ends after its maximum duration", async () => {
    const workspace = await newWorkspace()
    const first = feedOf(workspace)
    const one = await store(workspace, first.now())
    const event = await next(first.feed, "call")
    const two = await store(workspace, first.now() + 1)
    const { feed, now } = feedOf(workspace, { lastEventId: event.id ?? null })
    const startedAt = now()
    const seen: string[] = []
    for await (const event of feed) if (event.event === "call") seen.push(idOf(event))
    expect(seen).toContain(two)
    expect(seen).not.toContain(one)
    expect(now() - startedAt).toBeGreaterThanOrEqual(CONNECTION_MS)
    expect(now() - startedAt).toBeLessThan(CONNECTION_MS + 60_000)
  })

  test("sends pings, and ends when its key stops working or the client disconnects", async () => {
    const workspace = await newWorkspace()
    let isAllowed = true
    const revoked = feedOf(workspace, { isAllowed: async () => isAllowed })
    expect((await next(revoked.feed, "ping")).data).toMatchObject({ at: expect.any(String) })
    isAllowed = false
    for await (const _ of revoked.feed) {
      // To the end.
    }
    const left = feedOf(workspace)
    left.abort.abort()
    expect((await left.feed.next()).done).toBe(true)
  })
})

/** Reads events over HTTP until one is found. */
function readEvents(as: TestClient, find: (text: string) => boolean): Promise<string> {
  return readUntil(as.get("/events"), find)
}

async function readUntil(sent: Promise<Response>, find: (text: string) => boolean): Promise<string> {
  const response = await sent
  expect(response.headers.get("content-type")).toContain("text/event-stream")
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  let text = ""
  while (!find(text)) {
    const { done, value } = (await reader?.read()) ?? { done: true, value: undefined }
    if (done) break
    text += decoder.decode(value, { stream: true })
  }
  await reader?.cancel()
  return text
}

describe("GET /events", () => {
  test("sends a normal key its calls, and a management key those of its organization", async () => {
    const [workspace, other] = await Promise.all([newWorkspace(), newWorkspace()])
    const [mine, second] = await Promise.all([newKey(workspace), newKey(workspace)])
    for (const { as } of [mine, second, other]) await (await as.chat("sim/echo", "Hi")).text()
    for (const { ledger, object } of [workspace, other]) {
      await ledger.balance()
      await runDurableObjectAlarm(object)
    }
    const own = await readEvents(mine.as, (text) => text.includes("event: call"))
    expect(own).toMatch(/^retry: 1000\n\nevent: call\nid: \d+\.gen-[0-9a-f-]+\ndata: \{/)
    expect(own).toContain(mine.hash)
    expect(own).not.toContain(second.hash)
    const all = await readEvents(workspace.manage, (text) => (text.match(/event: call/g) ?? []).length >= 2)
    expect(all).toContain(mine.hash)
    expect(all).toContain(second.hash)
    expect(all).not.toContain(other.workspaceId)
  })
})

/** Every client of these tests calls the main hostname. */
function onRegionalHost({ key }: Workspace, path: string): Promise<Response> {
  const front = (exports as unknown as { default: Fetcher }).default
  return front.fetch(`http://eu.localhost/api/v1${path}`, { headers: { authorization: `Bearer ${key}` } })
}

describe("open questions", () => {
  type Questions = { data: { id: string; intern: { id: string }; session_id: string; question: { kind: string } }[] }

  test("are listed for their workspace only, on the main hostname, while they can be answered", async () => {
    const [workspace, other] = await Promise.all([newWorkspace(), newWorkspace()])
    const intern = await newDaemonIntern(workspace)
    const daemon = await new MockDaemon(intern).dial()
    const chat = internChat(workspace.key, intern.id)
    const reading = await chat.send("Run it", { approval_mode: "manual" })
    const prompt = await daemon.receives("session/prompt")
    const acp = (prompt.params as { sessionId: string }).sessionId
    daemon.send({
      id: "q-1",
      method: "session/request_permission",
      params: {
        sessionId: acp,
        toolCall: { toolCallId: "t", title: "bash", rawInput: { command: "rm -r build", cwd: "/work" } },
        options: [{ optionId: "1", kind: "allow_once", name: "Allow" }],
      },
    })
    await reading.all()
    const { data } = await eventually(async () => {
      const listed = await expectJson<Questions>(200, workspace.as.get("/questions"))
      expect(listed.data).toHaveLength(1)
      return listed
    })
    expect(data[0]).toMatchObject({
      id: reading.question.id,
      intern: { id: intern.id },
      session_id: reading.session,
      question: { kind: "permission", operation: "bash", command: "rm -r build", folder: "/work" },
    })
    expect(await readEvents(workspace.manage, (text) => text.includes("event: question"))).toContain('"state":"open"')
    expect((await expectJson<Questions>(200, other.manage.get("/questions"))).data).toEqual([])
    expect(await (await onRegionalHost(workspace, "/questions")).json()).toMatchObject({
      error: { code: 403, metadata: { reason: "regional_hostname" } },
    })
    await (await workspace.as.chat("sim/echo", "Hi")).text()
    await workspace.ledger.balance()
    await runDurableObjectAlarm(workspace.object)
    const regional = await readUntil(onRegionalHost(workspace, "/events"), (text) => text.includes("event: call"))
    expect(regional).toContain("event: call")
    expect(regional).not.toContain("event: question")
    type Made = { data: { id: string } }
    const made = await expectJson<Made>(201, workspace.manage.post("/workspaces", { name: "B", slug: "b" }))
    const elsewhere = await newKey(workspace, { workspace_id: made.data.id })
    expect((await expectJson<Questions>(200, elsewhere.as.get("/questions"))).data).toEqual([])
    const answered = await chat.answer(reading.session, reading.question.id, "allow_once")
    daemon.end(prompt)
    await answered.all()
    await eventually(async () => {
      expect((await expectJson<Questions>(200, workspace.as.get("/questions"))).data).toEqual([])
    })
  })
})
