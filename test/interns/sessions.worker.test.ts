import { abortAllDurableObjects, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest"
import { Intern } from "../../durable-objects/intern/intern.ts"
import { webhookHeaders } from "../../src/outbound/standard-webhook.ts"
import { newReceiver, mockReceivers } from "../observability/receiver.ts"
import { MockDaemon, newDaemonIntern, paramsOf } from "../support/daemon.ts"
import { eventually } from "../support/eventually.ts"
import { internChat } from "../support/intern-chat.ts"
import { crashIntern, internObject } from "../support/intern-object.ts"
import { client, expectJson, newKey, newMember, newWorkspace, type TestClient } from "../support/world.ts"

const { clock } = Intern
afterEach(() => {
  Intern.clock = clock
})

type Session = {
  id: string
  title: string
  origin: string
  status: string
  open_question_id: string | null
  turns: number
  usage: { total_tokens: number; cost?: number } | null
  last_error: { reason: string } | null
}
type Entry = {
  n: number
  kind: string
  text?: string
  title?: string
  content?: string
  question?: { command?: string }
}
type Transcript = { data: Entry[]; has_more: boolean; session: Session }

async function newIntern(model = "sim/agent") {
  const workspace = await newWorkspace()
  const input = { name: "ada", model, provision: true }
  const { id } = await expectJson<{ id: string }>(201, workspace.as.post("/interns", input))
  const chat = internChat(workspace.key, id)
  const path = (session: string) => `/interns/${id}/sessions/${encodeURIComponent(session)}`
  const read = (session: string, query = "") =>
    expectJson<Transcript>(200, workspace.as.get(`${path(session)}${query}`))
  const inBackground = (text: string, more: Record<string, unknown> = {}) =>
    workspace.as.post(
      `/interns/${id}/chat/completions`,
      { stream: false, messages: [{ role: "user", content: text }], ...more },
      { prefer: "respond-async" },
    )
  const becomes = (session: string, status: string) =>
    eventually(async () => {
      const transcript = await read(session)
      expect(transcript.session.status).toBe(status)
      return transcript
    })
  return { workspace, id, chat, path, read, inBackground, becomes, object: internObject(id) }
}

/** All text of the agent: a read during a turn splits its text. */
const textOf = ({ data }: Transcript) => data.map(({ kind, text = "" }) => (kind === "text" ? text : "")).join("")
const kinds = ({ data }: Transcript) => data.map(({ kind }) => kind)

describe("the sessions of an intern", () => {
  test("are listed from newest to oldest with usage, and the transcript has every entry in order", async () => {
    const { workspace, id, chat, read } = await newIntern()
    await (await chat.send("Hello there", { session_id: "one" })).all()
    const first = await (await chat.send("$ echo hi", { session_id: "two" })).all()
    await (await chat.answer("two", first.question.id, "allow_once")).all()
    type Page = { data: Session[]; has_more: boolean; next_cursor?: string }
    const page = await expectJson<Page>(200, workspace.as.get(`/interns/${id}/sessions?limit=1`))
    expect(page).toMatchObject({ has_more: true, data: [{ id: "two", title: "$ echo hi", origin: "chat", turns: 1 }] })
    expect(page.data[0]?.usage?.cost).toBeGreaterThan(0)
    const rest = await expectJson<Page>(
      200,
      workspace.as.get(`/interns/${id}/sessions?limit=1&starting_after=${page.next_cursor ?? ""}`),
    )
    expect(rest).toMatchObject({ has_more: false, data: [{ id: "one", status: "idle", last_error: null }] })
    const transcript = await read("two")
    expect(kinds(transcript)).toEqual(["prompt", "question", "answer", "tool_call", "tool_call", "text", "end"])
    expect(transcript.data[1]?.question).toMatchObject({ command: "echo hi", folder: "/home/intern" })
    expect(transcript.data[2]).toMatchObject({ content: "allow_once" })
    const after = await read("two", `?after=${transcript.data[4]?.n ?? 0}&limit=1`)
    expect(after).toMatchObject({ has_more: true, data: [{ kind: "text" }] })
  })

  test("report the reason of a failure, and return 404 after deletion", async () => {
    const { workspace, chat, path, read } = await newIntern("sim/status-400")
    await (await chat.send("Hello", { session_id: "s" })).all()
    expect((await read("s")).session.last_error).toMatchObject({ reason: "turn_failed" })
    await expectJson(200, workspace.as.delete(path("s")))
    await expectJson(404, workspace.as.get(path("s")))
  })

  test("return 403 to a key of another user than the intern's creator", async () => {
    const { workspace, id, path, chat } = await newIntern()
    await (await chat.send("Hello", { session_id: "s" })).all()
    const stranger = await newMember(workspace, "user_next_door")
    const other = client((await newKey(workspace, { creator_user_id: stranger })).key)
    const paths = [`/interns/${id}/sessions`, path("s"), `/interns/${id}/files`, `/interns/${id}/schedules`]
    for (const one of paths) await expectJson(403, other.get(one))
  })
})

/** A background turn of an agent simulated by the test, paused on a question. */
async function pausedInBackground() {
  const workspace = await newWorkspace()
  const intern = await newDaemonIntern(workspace)
  const daemon = await new MockDaemon(intern).dial()
  const path = `/interns/${intern.id}`
  await eventually(async () => {
    const { status } = await expectJson<{ status: string }>(200, workspace.as.get(path))
    expect(status).toBe("running")
  })
  const messages = [{ role: "user", content: "Go" }]
  const body = { stream: false, session_id: "s", approval_mode: "manual", messages }
  await expectJson(202, workspace.as.post(`${path}/chat/completions`, body, { prefer: "respond-async" }))
  const prompt = await daemon.receives("session/prompt")
  const { sessionId: acp } = paramsOf(prompt)
  daemon.requestPermission(acp, "q")
  const session = async () => (await expectJson<Transcript>(200, workspace.as.get(`${path}/sessions/s`))).session
  const question = await eventually(async () => {
    const { open_question_id: id } = await session()
    expect(id).not.toBeNull()
    return id ?? ""
  })
  return { daemon, prompt, acp, session, question, chat: internChat(workspace.key, intern.id), intern }
}

describe("a standing permission", () => {
  test("applies to its session, is listed and can be revoked", async () => {
    const { workspace, path, chat } = await newIntern()
    const send = async (text: string, session: string) => (await chat.send(text, { session_id: session })).all()
    const at = (session: string, query = "") => `${path(session)}/permissions${query}`
    const list = async (session: string) =>
      (await expectJson<{ data: object[] }>(200, workspace.as.get(at(session)))).data
    const first = await send("$ echo one", "s")
    await (await chat.answer("s", first.question.id, "allow_always")).all()
    expect(await list("s")).toEqual([{ operation: "shell", decision: "allow" }])
    expect((await send("$ echo two", "s")).finish).toBe("stop")
    const other = await send("$ echo three", "other")
    expect(other.finish).toBe("tool_calls")
    expect(await list("other")).toEqual([])
    await (await chat.answer("other", other.question.id, "reject_always")).all()
    expect(await list("other")).toEqual([{ operation: "shell", decision: "reject" }])
    expect(await expectJson(200, workspace.as.delete(at("s", "?operation=mail/send")))).toEqual({ revoked: 0 })
    expect(await expectJson(200, workspace.as.delete(at("s", "?operation=shell")))).toEqual({ revoked: 1 })
    expect(await list("s")).toEqual([])
    expect((await send("$ echo four", "s")).finish).toBe("tool_calls")
    expect(await expectJson(200, workspace.as.delete(at("other")))).toEqual({ revoked: 1 })
    await expectJson(404, workspace.as.get(at("unknown")))
    await expectJson(404, workspace.as.delete(at("unknown")))
  })
})

describe("a standing permission of a daemon's agent", () => {
  test("applies to the same command in its session, and the agent gets allow_once each time", async () => {
    const { daemon, prompt, acp, question, chat, intern } = await pausedInBackground()
    const path = `/interns/${intern.id}/sessions/s/permissions`
    const requestPermission = (id: string, command: string, session = acp) => {
      const toolCall = { toolCallId: id, title: command, kind: "execute", rawInput: { command } }
      const options = ["allow_once", "allow_always", "reject_once"].map((kind) => ({
        optionId: kind,
        name: kind,
        kind,
      }))
      daemon.send({ id, method: "session/request_permission", params: { sessionId: session, toolCall, options } })
    }
    const once = { outcome: { outcome: "selected", optionId: "allow_once" } }
    const waitsFor = (session: string) =>
      eventually(async () => {
        const { open } = await internObject(intern.id).peek()
        const id = open.find((run) => run.session === session)?.question?.id
        expect(id).toBeDefined()
        return id ?? ""
      })
    await expectJson(
      202,
      intern.as.post(`/interns/${intern.id}/questions/${question}`, { session_id: "s", content: "allow_once" }),
    )
    requestPermission("first", "make deploy")
    await expectJson(
      202,
      intern.as.post(`/interns/${intern.id}/questions/${await waitsFor("s")}`, {
        session_id: "s",
        content: "allow_always",
      }),
    )
    expect(await daemon.answerTo("first")).toEqual(once)
    expect(await expectJson(200, intern.as.get(path))).toEqual({
      data: [{ operation: "make deploy", decision: "allow" }],
    })
    await crashIntern(intern.id)
    await daemon.dial()
    requestPermission("again", "make deploy")
    expect(await daemon.answerTo("again")).toEqual(once)
    // Not for another command with the same beginning, and not for another session.
    requestPermission("other", "make deploy; rm -rf /")
    const other = await waitsFor("s")
    expect(daemon.answersTo("other")).toEqual([])
    const reading = await chat.send("Go", { session_id: "t" })
    const second = await daemon.receives("session/prompt", 1)
    requestPermission("elsewhere", "make deploy", paramsOf(second).sessionId)
    expect((await reading.all()).finish).toBe("tool_calls")
    await expectJson(
      202,
      intern.as.post(`/interns/${intern.id}/questions/${other}`, { session_id: "s", content: "reject_once" }),
    )
    expect(await expectJson(200, intern.as.delete(`${path}?operation=make%20deploy`))).toEqual({ revoked: 1 })
    requestPermission("revoked", "make deploy")
    await waitsFor("s")
    expect(daemon.answersTo("revoked")).toEqual([])
    daemon.end(prompt)
  })
})

describe("a background turn", () => {
  test("returns its session immediately, continues without a client and writes its result to the transcript", async () => {
    const { inBackground, becomes } = await newIntern()
    const response = await inBackground("$ echo done > out.txt; cat out.txt")
    expect(response.headers.get("preference-applied")).toBe("respond-async")
    expect(response.headers.get("location")).toMatch(/\/api\/v1\/interns\/.+\/sessions\/.+/)
    const { session_id: session } = await expectJson<{ session_id: string }>(202, response)
    const transcript = await becomes(session, "idle")
    expect(transcript.session).toMatchObject({ origin: "background", last_error: null })
    expect(textOf(transcript)).toContain("done")
    expect(transcript.session.usage?.total_tokens).toBeGreaterThan(0)
  })

  test("waits for hours for an answer by id, and continues", async () => {
    const { workspace, id, inBackground, becomes, object } = await newIntern()
    await expectJson(202, inBackground("$ echo asked", { session_id: "s", approval_mode: "manual" }))
    const { session } = await becomes("s", "waiting")
    const passed = clock() + 12 * 3_600_000
    Intern.clock = () => passed
    await runDurableObjectAlarm(object)
    await crashIntern(id)
    type Questions = { data: { id: string; session_id: string; question: { command: string } }[] }
    const { data } = await expectJson<Questions>(200, workspace.as.get("/questions"))
    expect(data).toMatchObject([{ session_id: "s", question: { command: "echo asked" } }])
    const answer = { session_id: "s", content: "allow_once" }
    const path = `/interns/${id}/questions/${session.open_question_id ?? ""}`
    await expectJson(400, workspace.as.post(path, { ...answer, content: "maybe" }))
    expect(await expectJson(202, workspace.as.post(path, answer))).toEqual({ session_id: "s", status: "resumed" })
    const done = await becomes("s", "idle")
    expect(textOf(done)).toContain("asked")
  })

  test("continues after its object crashed", async () => {
    const { inBackground, becomes, object } = await newIntern()
    await expectJson(202, inBackground("$ sleep 2; echo survived", { session_id: "s" }))
    await abortAllDurableObjects()
    const passed = clock() + 31_000
    Intern.clock = () => passed
    await eventually(async () => expect(await runDurableObjectAlarm(object)).toBe(true))
    const done = await becomes("s", "idle")
    expect(textOf(done)).toContain("survived")
  })

  test("is cancelled through its session, and steered by a chat", async () => {
    const { workspace, id, path, chat, inBackground, becomes } = await newIntern("sim/slow")
    await expectJson(202, inBackground("A long one", { session_id: "s" }))
    expect((await chat.send("More", { session_id: "s" })).response.status).toBe(202)
    await expectJson(202, workspace.as.post(`${path("s")}/cancel`, undefined))
    expect((await becomes("s", "idle")).session.last_error).toMatchObject({ reason: "run_ended" })
    await expectJson(409, workspace.as.post(`${path("s")}/cancel`, undefined))
    const refused = await workspace.as.post(`/interns/${id}/chat/completions`, {
      stream: false,
      messages: [{ role: "user", content: "x" }],
    })
    expect(await expectJson(400, refused)).toMatchObject({ error: { metadata: { reason: "bad_request" } } })
  })
})

describe("a background turn of a daemon's agent", () => {
  test("continues when a connected client disconnects", async () => {
    const { daemon, prompt, acp, session, question, chat, intern } = await pausedInBackground()
    const reader = await chat.answer("s", question, "allow_once")
    daemon.text(acp, "Half")
    await reader.until("Half")
    reader.leave()
    await eventually(async () => expect((await internObject(intern.id).peek()).attached).toEqual([]))
    expect((await internObject(intern.id).peek()).open).toMatchObject([{ state: "streaming" }])
    daemon.end(prompt)
    await eventually(async () => expect(await session()).toMatchObject({ status: "idle", last_error: null }))
  })

  test("has all output in its transcript although the object was evicted during the turn", async () => {
    const { daemon, prompt, acp, question, chat, intern, session } = await pausedInBackground()
    ;(await chat.answer("s", question, "allow_once")).leave()
    await eventually(async () => expect((await internObject(intern.id).peek()).attached).toEqual([]))
    daemon.text(acp, "Said ")
    daemon.text(acp, "before. ")
    await daemon.settled()
    await evictDurableObject(internObject(intern.id))
    daemon.text(acp, "Said after.")
    daemon.end(prompt)
    await eventually(async () => expect((await session()).status).toBe("idle"))
    const path = `/interns/${intern.id}/sessions/s`
    const { data } = await expectJson<Transcript>(200, intern.as.get(path))
    const texts = data.filter(({ kind }) => kind === "text").map(({ text }) => text)
    expect(texts).toEqual(["Said before. ", "Said after."])
  })

  test("ends with stream_severed when daemon and object are lost and the daemon does not return", async () => {
    const { daemon, session, question, chat, intern } = await pausedInBackground()
    const reader = await chat.answer("s", question, "allow_once")
    reader.leave()
    await eventually(async () => expect((await internObject(intern.id).peek()).attached).toEqual([]))
    await abortAllDurableObjects()
    daemon.cut()
    const object = internObject(intern.id)
    expect((await object.peek()).open).toMatchObject([{ state: "streaming" }])
    const passed = clock() + 10_000
    Intern.clock = () => passed
    await runDurableObjectAlarm(object)
    expect(await session()).toMatchObject({ status: "idle", last_error: { reason: "stream_severed" } })
  })
})

test.each(["half\ud800", "\udc00", ".", ".."])(
  "the session id %j, which no URL can name, is rejected",
  async (session) => {
    const { workspace, id } = await newIntern()
    const messages = [{ role: "user", content: "$ echo hello" }]
    const headers = { prefer: "respond-async" }
    const body = { stream: false, session_id: session, messages }
    const rejected = await workspace.as.call("POST", `/interns/${id}/chat/completions`, body, headers)
    expect(await expectJson(400, rejected)).toMatchObject({
      error: { message: expect.stringContaining("session_id: must"), metadata: { reason: "bad_request" } },
    })
    expect(await expectJson(200, workspace.as.get(`/interns/${id}/sessions`))).toMatchObject({ data: [] })
  },
)

describe("a schedule", () => {
  type Schedule = { id: string; next_run_at: string; last_session_id: string | null; last_error: string | null }
  const rule = { cron: "0 8 * * 1-5", timezone: "Europe/Berlin", prompt: "$ echo scheduled" }
  const create = (as: TestClient, id: string, more: Record<string, unknown> = {}, status = 201) =>
    expectJson<Schedule>(status, as.post(`/interns/${id}/schedules`, { ...rule, ...more }))

  test("runs once at its time, in self-drive and in a new session", async () => {
    const { workspace, id, object, becomes } = await newIntern()
    const { next_run_at: next, id: schedule } = await create(workspace.as, id)
    expect(new Date(next).getUTCMinutes()).toBe(0)
    const at = Date.parse(next) + 1_000
    Intern.clock = () => at
    await runDurableObjectAlarm(object)
    await runDurableObjectAlarm(object)
    const { data } = await expectJson<{ data: Schedule[] }>(200, workspace.as.get(`/interns/${id}/schedules`))
    expect(data).toMatchObject([{ last_error: null }])
    expect(Date.parse(data[0]?.next_run_at ?? "")).toBeGreaterThan(at)
    const done = await becomes(data[0]?.last_session_id ?? "", "idle")
    expect(done.session).toMatchObject({ origin: `schedule:${schedule}`, turns: 1 })
    expect(textOf(done)).toContain("scheduled")

    const list = (origin: string) =>
      expectJson<{ data: { id: string }[] }>(200, workspace.as.get(`/interns/${id}/sessions?origin=${origin}`))
    expect((await list(`schedule:${schedule}`)).data.map((one) => one.id)).toEqual([data[0]?.last_session_id])
    expect((await list("chat")).data).toEqual([])
    await expectJson(400, workspace.as.get(`/interns/${id}/sessions?origin=else`))
  })

  test("that is run several times in one millisecond has a session for each run", async () => {
    const { workspace, id, becomes } = await newIntern()
    Intern.clock = () => Date.UTC(2031, 0, 6, 12)
    const { id: schedule } = await create(workspace.as, id)
    const run = () =>
      expectJson<Schedule>(202, workspace.as.post(`/interns/${id}/schedules/${schedule}/run`, undefined))
    const sessions = (await Promise.all([run(), run(), run()])).map(({ last_session_id: session }) => session ?? "")
    expect(new Set(sessions).size).toBe(3)
    for (const session of sessions) expect((await becomes(session, "idle")).session).toMatchObject({ turns: 1 })
  })

  test("resets its limit each day, also with one session for all runs", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2031, 0, 6, 12) })
    onTestFinished(() => void vi.useRealTimers())
    Intern.clock = () => Date.now()
    const { workspace, id, becomes } = await newIntern()
    const { id: schedule } = await create(workspace.as, id, { session: "same" })
    const path = `/interns/${id}/schedules/${schedule}`
    const run = async () => {
      const ran = await expectJson<Schedule>(202, workspace.as.post(`${path}/run`, undefined))
      const { session } = await becomes(ran.last_session_id ?? "", "idle")
      return { cost: session.usage?.cost ?? 0, error: ran.last_error }
    }
    const { cost } = await run()
    expect(cost).toBeGreaterThan(0)
    await workspace.ledger.balance()
    vi.setSystemTime(Date.now() + 86_400_000)
    const first = await run()
    expect(first).toMatchObject({ error: null })
    const ofDay = first.cost - cost
    await expectJson(200, workspace.as.patch(path, { daily_limit_usd: ofDay + 1 }))
    expect(await run()).toMatchObject({ error: null })
    await expectJson(200, workspace.as.patch(path, { daily_limit_usd: ofDay + cost / 2 }))
    expect((await run()).error).toMatch(/^Its runs on this UTC day have cost/)
  })

  test("stops at its daily limit with the reason, and can be paused, run manually and deleted", async () => {
    const { workspace, id, becomes } = await newIntern()
    const { id: schedule } = await create(workspace.as, id)
    const path = `/interns/${id}/schedules/${schedule}`
    const first = await expectJson<Schedule>(202, workspace.as.post(`${path}/run`, undefined))
    const { session } = await becomes(first.last_session_id ?? "", "idle")
    await expectJson(200, workspace.as.patch(path, { daily_limit_usd: session.usage?.cost }))
    const second = await expectJson<Schedule>(202, workspace.as.post(`${path}/run`, undefined))
    expect(second.last_error).toMatch(/^Its runs on this UTC day have cost/)
    expect(second.last_session_id).toBe(first.last_session_id)
    expect(await expectJson(200, workspace.as.patch(path, { enabled: false }))).toMatchObject({ next_run_at: null })
    await expectJson(200, workspace.as.delete(path))
    await expectJson(404, workspace.as.post(`${path}/run`, undefined))
  })

  test("keeps concurrent changes of different fields, and a change does not restore a deleted one", async () => {
    const { workspace, id } = await newIntern()
    const { id: schedule } = await create(workspace.as, id)
    const path = `/interns/${id}/schedules/${schedule}`
    const changes = [{ prompt: "Another prompt" }, { session: "same" }, { daily_limit_usd: 2 }, { enabled: false }]
    await Promise.all(changes.map((change) => expectJson(200, workspace.as.patch(path, change))))
    const list = () => expectJson<{ data: Schedule[] }>(200, workspace.as.get(`/interns/${id}/schedules`))
    expect((await list()).data).toMatchObject([Object.assign({}, ...changes)])
    const late = Array.from({ length: 8 }, () => workspace.as.patch(path, { enabled: true }))
    await Promise.all([expectJson(200, workspace.as.delete(path)), ...late])
    expect((await list()).data).toEqual([])
  })

  test("is not run if it is deleted or paused while another one that is due starts", async () => {
    const { workspace, id, object } = await newIntern()
    const all = [await create(workspace.as, id), await create(workspace.as, id), await create(workspace.as, id)]
    const [first, second, third] = all.map((one) => one.id).toSorted()
    const at = Date.parse(all[0]?.next_run_at ?? "") + 1_000
    Intern.clock = () => at
    await runInDurableObject(object, async (instance: Intern) => {
      const alarm = instance.alarm()
      expect(instance.deleteSchedule(second ?? "")).toBe(true)
      instance.changeSchedule(third ?? "", { enabled: false })
      await alarm
      expect(instance.schedules()).toMatchObject([
        { id: first, lastAt: at },
        { id: third, lastAt: null, nextAt: null, enabled: false },
      ])
    })
  })

  test("is rejected for a short interval, an invalid cron expression or time zone, and beyond 20 schedules", async () => {
    const { workspace, id } = await newIntern()
    for (const wrong of [{ cron: "*/2 * * * *" }, { cron: "every morning" }, { timezone: "Mars/Olympus" }]) {
      expect(await create(workspace.as, id, wrong, 400)).toMatchObject({
        error: { message: expect.stringContaining("cron") },
      })
    }
    for (let at = 0; at < 20; at++) await create(workspace.as, id)
    await create(workspace.as, id, {}, 409)
  })
})

describe("the files of an embedded intern", () => {
  test("are written, listed, read, published and deleted through the API", async () => {
    const { workspace, id, chat } = await newIntern()
    const at = (path: string) => `/interns/${id}/files/content?path=${encodeURIComponent(path)}`
    await expectJson(200, workspace.as.call("PUT", at("notes/in.txt"), "from outside"))
    const texts = await (
      await chat.send("$ cat notes/in.txt > copy.txt; cat copy.txt", { approval_mode: "self-drive" })
    ).all()
    expect(texts.text).toContain("from outside")
    expect(await expectJson(200, workspace.as.get(`/interns/${id}/files`))).toEqual({
      data: [
        { path: "/home/intern/copy.txt", bytes: 12 },
        { path: "/home/intern/notes/in.txt", bytes: 12 },
      ],
    })
    expect(await (await workspace.as.get(at("/home/intern/copy.txt"))).text()).toBe("from outside")
    const published = await workspace.as.post(`/interns/${id}/files/publish`, { path: "copy.txt" })
    expect(await expectJson(201, published)).toMatchObject({ filename: "copy.txt" })
    await expectJson(200, workspace.as.delete(at("copy.txt")))
    await expectJson(404, workspace.as.get(at("copy.txt")))
    await expectJson(400, workspace.as.get(at("../../etc/passwd")))
    await expectJson(413, workspace.as.call("PUT", at("big"), "x".repeat(1024 * 1024 + 1)))
  })
})

describe("the webhook of an intern", () => {
  beforeEach(mockReceivers)
  afterEach(() => {
    vi.restoreAllMocks()
  })

  type Event = { type: string; data: { session_id: string; question?: { command: string }; error?: unknown } }
  const deliver = async (object: ReturnType<typeof internObject>, ms = 0) => {
    const at = Intern.clock() + ms
    Intern.clock = () => at
    await runDurableObjectAlarm(object)
  }

  test("receives signed events in order, and after an outage again with the same ids", async () => {
    const { workspace, id, chat, object } = await newIntern()
    const receiver = newReceiver(() => new Response("down", { status: 503 }))
    const path = `/interns/${id}/webhook`
    type Set = { signing_secret: string }
    const { signing_secret: secret } = await expectJson<Set>(200, workspace.as.put(path, { url: receiver.url }))
    expect(secret).toMatch(/^whsec_/)
    const first = await (await chat.send("$ echo hi", { session_id: "s" })).all()
    await eventually(async () => {
      await runDurableObjectAlarm(object)
      expect(receiver.got.length).toBeGreaterThan(0)
    })
    await (await chat.answer("s", first.question.id, "allow_once")).all()
    expect(await expectJson(200, workspace.as.get(path))).toMatchObject({
      backlog: 3,
      last_error: "The receiver returned status 503.",
    })
    receiver.turn(() => new Response("fine"))
    const failed = receiver.got.length
    await deliver(object, 3_600_000)
    const { got } = receiver
    expect(got.slice(failed).map(({ body }) => (JSON.parse(body) as Event).type)).toEqual([
      "question.opened",
      "question.answered",
      "turn.ended",
    ])
    expect((JSON.parse(got[0]?.body ?? "") as Event).data).toMatchObject({
      session_id: "s",
      question: { command: "echo hi" },
    })
    expect(got[failed]?.headers.get("webhook-id")).toBe(got[0]?.headers.get("webhook-id"))
    for (const { headers, body } of got) {
      const webhookId = headers.get("webhook-id") ?? ""
      const now = Number(headers.get("webhook-timestamp")) * 1_000
      const signed = await webhookHeaders(secret, { id: webhookId, body, now })
      expect(headers.get("webhook-signature")).toBe(signed["webhook-signature"])
    }
    expect(await expectJson(200, workspace.as.get(path))).toMatchObject({ backlog: 0 })
    await expectJson(200, workspace.as.delete(path))
    await expectJson(404, workspace.as.get(path))
  })

  test("receives question.expired for an unanswered question", async () => {
    const { workspace, id, chat, object } = await newIntern()
    const receiver = newReceiver()
    await expectJson(200, workspace.as.put(`/interns/${id}/webhook`, { url: receiver.url }))
    await (await chat.send("$ echo hi", { session_id: "s" })).all()
    await deliver(object, 300_000)
    await eventually(async () => {
      await deliver(object)
      const types = receiver.got.map(({ body }) => (JSON.parse(body) as Event).type)
      expect(types).toEqual(["question.opened", "question.expired", "turn.ended"])
    })
  })

  test("accepts only a public https URL, and its secret is not stored in plain text", async () => {
    const { workspace, id, object } = await newIntern()
    const path = `/interns/${id}/webhook`
    for (const url of ["http://example.com/", "https://10.0.0.1/", "https://user:pw@example.com/", "ftp://x.test/"]) {
      await expectJson(400, workspace.as.put(path, { url }))
    }
    type Set = { signing_secret: string }
    const { signing_secret: secret } = await expectJson<Set>(
      200,
      workspace.as.put(path, { url: "https://hooks.example.com/" }),
    )
    await runInDurableObject(object, (_, { storage }) => {
      const rows = JSON.stringify([...storage.sql.exec("SELECT * FROM webhook")])
      expect(rows).not.toContain(secret.slice("whsec_".length))
    })
  })
})
