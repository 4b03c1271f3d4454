import { env } from "cloudflare:workers"
import { runDurableObjectAlarm } from "cloudflare:test"
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest"
import { Intern } from "../../durable-objects/intern/intern.ts"
import { openInternKey } from "../../src/interns/access/intern-key.ts"
import { sweepBatches } from "../../src/observability/delivery/backlog.ts"
import { turnIdOf } from "../../src/observability/turn.ts"
import { DAY_MS } from "../../src/support/time/time.ts"
import { newConnectedIntern } from "../support/daemon.ts"
import { eventually } from "../support/eventually.ts"
import { internChat } from "../support/intern-chat.ts"
import { internObject } from "../support/intern-object.ts"
import { client, expectJson, newWorkspace, type Workspace } from "../support/world.ts"
import {
  call,
  destinationOf,
  listen,
  newReceiver,
  mockReceivers,
  type Received,
  type ReceivedSpan,
  spansIn,
} from "./receiver.ts"

beforeAll(mockReceivers)
afterAll(() => vi.restoreAllMocks())
const { clock } = Intern
afterEach(() => {
  Intern.clock = clock
})

async function newIntern(workspace: Workspace, more: Record<string, unknown> = {}) {
  const input = { name: "ada", model: "sim/agent", provision: true, ...more }
  const { id } = await expectJson<{ id: string }>(201, workspace.as.post("/interns", input))
  return { id, chat: internChat(workspace.key, id) }
}

const collector = (url: string, more: object = {}) => ({ type: "otel-collector", config: { endpoint: url }, ...more })

type Tree = { turn: ReceivedSpan; questions: ReceivedSpan[]; calls: ReceivedSpan[] }

/** The turn with its child calls and questions, once it and `calls` calls have arrived. */
function treeIn(got: readonly Received[], calls: number, session?: string): Promise<Tree> {
  return eventually(() => {
    // A repeated delivery has the same ids.
    const spans = [...new Map(spansIn(got).map((span) => [span.spanId, span])).values()]
    const turns = spans.filter(({ name }) => name.startsWith("invoke_agent"))
    const turn = turns.find(({ at }) => session === undefined || at["gen_ai.conversation.id"] === session)
    if (!turn) throw new Error("There is no turn.")
    const children = spans.filter(
      ({ parentSpanId, traceId }) => parentSpanId === turn.spanId && traceId === turn.traceId,
    )
    const questions = children.filter(({ name }) => name.startsWith("question "))
    const others = children.filter(({ name }) => !name.startsWith("question "))
    expect(others.length).toBe(calls)
    return { turn, questions, calls: others }
  })
}

test("a turn is a span with its questions and calls as children in a collector, a webhook and S3", async () => {
  const workspace = await newWorkspace()
  const [otlp, hook, bucket] = [newReceiver(), newReceiver(), newReceiver()]
  await listen(workspace, hook.url)
  await listen(workspace, otlp.url, collector(otlp.url, { broadcast_generation_cost: true }))
  const keys = { accessKeyId: "AKIA0123456789012345", secretAccessKey: "s3-secret-key-0123456789ab" }
  await listen(workspace, bucket.url, { type: "s3", config: { endpoint: bucket.url, bucketName: "b", ...keys } })
  const { id, chat } = await newIntern(workspace)
  const paused = await (await chat.send("$ echo hello", { session_id: "report", approval_mode: "manual" })).all()
  await (await chat.answer("report", paused.question.id, "allow_once")).all()

  for (const { got } of [otlp, hook]) {
    const hasCost = got === otlp.got
    const { turn, questions, calls } = await treeIn(got, 2)
    expect(turn).toMatchObject({
      name: "invoke_agent ada",
      at: {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.id": id,
        "gen_ai.agent.name": "ada",
        "gen_ai.conversation.id": "report",
        "gateway.turn.outcome": "completed",
        "gateway.turn.approval_mode": "manual",
        "gateway.turn.host": "embedded",
        "gateway.turn.questions": "1",
        "gateway.turn.calls": "2",
      },
    })
    expect(turn.parentSpanId).toBeUndefined()
    expect(Number(turn.at["gateway.turn.cost"] ?? 0) > 0).toBe(hasCost)
    expect(Object.keys(turn.at).filter((name) => name.startsWith("gen_ai.usage"))).toEqual([])
    expect(questions).toMatchObject([
      {
        name: "question shell",
        at: {
          "gateway.question.id": paused.question.id,
          "gateway.question.kind": "permission",
          "gateway.question.state": "answered",
          "gateway.question.decision": "allow_once",
        },
      },
    ])
    expect(JSON.parse(String(questions[0]?.at["gateway.question.details"]))).toMatchObject({ command: "echo hello" })
    expect(calls.map(({ at }) => [at["gen_ai.operation.name"], at["gen_ai.conversation.id"]])).toEqual([
      ["chat", "report"],
      ["chat", "report"],
    ])
  }
  const { turn } = await treeIn(otlp.got, 2)
  const row = await eventually(() => {
    const rows = bucket.got.flatMap(({ body }) => body.trim().split("\n")).map((line) => JSON.parse(line) as Row)
    const found = rows.find(({ api_type: type }) => type === "agent")
    if (!found) throw new Error("There is no row of the turn.")
    return found
  })
  expect(row).toMatchObject({
    name: "invoke_agent ada",
    trace_id: turn.traceId,
    span_id: turn.spanId,
    ending: "completed",
  })
  expect(Object.keys(row).filter((name) => /cost|tokens/.test(name))).toEqual([])
  expect(JSON.parse(row.metadata)).toMatchObject({ intern_id: id, questions: [{ state: "answered" }] })
})
type Row = Record<string, unknown> & { api_type: string; metadata: string }

test("an expired and a cancelled question are exported with their state and time", async () => {
  const workspace = await newWorkspace()
  const { got, url } = newReceiver()
  await listen(workspace, url, collector(url))
  const { id, chat } = await newIntern(workspace)
  await (await chat.send("$ echo one", { session_id: "late", approval_mode: "manual" })).all()
  const opened = clock()
  Intern.clock = () => clock() + 301_000
  await runDurableObjectAlarm(internObject(id))
  const late = (await treeIn(got, 1, "late")).questions[0]
  expect(late).toMatchObject({
    status: { code: 2, message: "No answer arrived in time." },
    at: { "gateway.question.state": "expired", "error.type": "question_expired" },
  })
  expect(late?.at).not.toHaveProperty("gateway.question.decision")
  const { endTimeUnixNano } = late as unknown as { endTimeUnixNano: string }
  expect(Math.abs(Number(BigInt(endTimeUnixNano) / 1_000_000n) - opened - 300_000)).toBeLessThan(10_000)

  await (await chat.send("$ echo two", { session_id: "stopped", approval_mode: "manual" })).all()
  await expectJson(202, workspace.as.post(`/interns/${id}/sessions/stopped/cancel`, undefined))
  await eventually(() => {
    const states = spansIn(got).flatMap(({ at }) => at["gateway.question.state"] ?? [])
    expect(states).toEqual(["expired", "cancelled"])
  })
  const outcomes = spansIn(got).flatMap(({ at }) => at["gateway.turn.outcome"] ?? [])
  expect(outcomes).toEqual(["run_ended", "run_ended"])
})

test("privacy mode withholds the details of questions, and vault secrets are never exported", async () => {
  const workspace = await newWorkspace()
  const [open, closed] = [newReceiver(), newReceiver()]
  await listen(workspace, open.url, collector(open.url))
  await listen(workspace, closed.url, collector(closed.url, { name: "private", privacy_mode: true }))
  const { id, chat } = await newIntern(workspace)
  const secret = "vault-secret-0123456789"
  const entry = { value: secret, hosts: ["api.example.com"] }
  await expectJson(200, workspace.as.call("PUT", `/vault/interns/${id}/secrets/token`, JSON.stringify(entry)))
  const command = '$ curl -H "Authorization: Bearer $TOKEN" https://api.example.com/canary'
  const paused = await (await chat.send(command, { session_id: "s", approval_mode: "manual" })).all()
  await (await chat.answer("s", paused.question.id, "reject_once")).all()
  const exported = await treeIn(open.got, 2)
  expect(exported.questions[0]?.at["gateway.question.details"]).toContain("canary")
  const hidden = await treeIn(closed.got, 2)
  expect(hidden.questions).toMatchObject([{ at: { "gateway.question.decision": "reject_once" } }])
  expect(JSON.stringify(closed.got)).not.toContain("canary")
  expect(JSON.stringify([open.got, closed.got])).not.toContain(secret)
})

test("calls of a daemon's agent are children of the turn if it is the only one in progress", async () => {
  const { workspace, intern, daemon, chat } = await newConnectedIntern()
  const { got, url } = newReceiver()
  await listen(workspace, url, collector(url))
  const internClient = client((await openInternKey(env, workspace, intern.id)).key)
  const first = chat.send("Go", { session_id: "a" })
  const prompt = await daemon.receives("session/prompt")
  const inTurn = await call(internClient.chat("sim/echo", "In the turn"))
  const second = chat.send("Go", { session_id: "b" })
  const other = await daemon.receives("session/prompt", 1)
  await call(internClient.chat("sim/echo", "In one of two"))
  daemon.end(prompt)
  daemon.end(other)
  await (await first).all()
  await (await second).all()
  await call(internClient.chat("sim/echo", "In none"))
  const { turn, calls } = await treeIn(got, 1, "a")
  expect(turn.at).toMatchObject({ "gateway.turn.host": "daemon", "gateway.turn.outcome": "completed" })
  expect(calls.map(({ at }) => at["gateway.generation_id"])).toEqual([inTurn])
  await eventually(() => expect(spansIn(got).filter(({ name }) => name.startsWith("chat")).length).toBe(3))
})

test("a turn is delivered with the same event id after its destination was down", async () => {
  const workspace = await newWorkspace()
  const receiver = newReceiver(() => new Response("down", { status: 503 }))
  const { id: destination } = await listen(workspace, receiver.url, collector(receiver.url))
  const { chat } = await newIntern(workspace)
  await (await chat.send("Hello", { session_id: "s" })).all()
  await eventually(async () => expect((await destinationOf(workspace, destination)).backlog).toBeGreaterThanOrEqual(2))
  const before = spansIn(receiver.got).flatMap(({ name, at }) => (name === "invoke_agent ada" ? [at] : []))
  receiver.got.splice(0)
  receiver.turn(() => new Response("fine"))
  await expectJson(200, workspace.manage.post(`/observability/destinations/${destination}/redeliver`, undefined))
  const object = env.DELIVERY.get(env.DELIVERY.idFromName(destination))
  await runDurableObjectAlarm(object)
  const { turn } = await treeIn(receiver.got, 1)
  for (const at of before) expect(at["gateway.event_id"]).toBe(turn.at["gateway.event_id"])
  expect((await destinationOf(workspace, destination)).backlog).toBe(0)
})

const rowsOf = async ({ organizationId }: Workspace) => {
  const query = env.DB.prepare("SELECT id, sorted_at FROM intern_turns WHERE organization_id = ?").bind(organizationId)
  return (await query.all<{ id: string; sorted_at: number | null }>()).results
}

test("turns are not stored without a destination, and unmatched ones only until they expire", async () => {
  const workspace = await newWorkspace()
  const { chat } = await newIntern(workspace)
  await (await chat.send("Hello", { session_id: "before" })).all()
  const { got, url } = newReceiver()
  const rules = {
    enabled: true,
    groups: [{ logic: "and", rules: [{ field: "session_id", operator: "equals", value: "in" }] }],
  }
  await listen(workspace, url, collector(url, { filter_rules: rules }))
  await (await chat.send("Hello", { session_id: "out" })).all()
  await (await chat.send("Hello", { session_id: "in" })).all()
  const { turn } = await treeIn(got, 1)
  expect(turn.at["gen_ai.conversation.id"]).toBe("in")
  expect(spansIn(got).filter(({ name }) => name === "invoke_agent ada").length).toBe(1)
  const rows = await eventually(async () => {
    const stored = await rowsOf(workspace)
    expect(stored.every(({ sorted_at: at }) => at !== null)).toBe(true)
    return stored
  })
  expect(rows.length).toBe(2)
  await sweepBatches(env, Date.now() + 18 * DAY_MS)
  expect(await rowsOf(workspace)).toEqual([])
})

test("a turn whose queue message was lost is queued again", async () => {
  const workspace = await newWorkspace()
  const { got, url } = newReceiver()
  await listen(workspace, url, collector(url))
  const { chat } = await newIntern(workspace)
  await (await chat.send("Hello", { session_id: "s" })).all()
  await treeIn(got, 1)
  const [row] = await rowsOf(workspace)
  const lost = turnIdOf("lost", Date.now())
  await env.DB.prepare(
    "INSERT INTO intern_turns SELECT ?, organization_id, workspace_id, record, NULL FROM intern_turns WHERE id = ?",
  )
    .bind(lost, row?.id ?? "")
    .run()
  await sweepBatches(env, Date.now() + 20 * 60_000)
  await eventually(async () => {
    expect((await rowsOf(workspace)).find(({ id }) => id === lost)?.sorted_at).not.toBeNull()
    expect(spansIn(got).filter(({ name }) => name === "invoke_agent ada").length).toBe(2)
  })
})
