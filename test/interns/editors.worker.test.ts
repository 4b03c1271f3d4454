import { abortAllDurableObjects, evictDurableObject, runDurableObjectAlarm } from "cloudflare:test"
import { afterEach, describe, expect, test } from "vitest"
import { Intern } from "../../durable-objects/intern/intern.ts"
import { RPC_ERRORS } from "../../src/interns/hosts/client-frames.ts"
import { LIMITS } from "../../src/interns/run/run.ts"
import { AcpClient, siteOf } from "../support/acp-client.ts"
import { newDaemonIntern, paramsOf, MockDaemon } from "../support/daemon.ts"
import { eventually } from "../support/eventually.ts"
import { internChat, refused } from "../support/intern-chat.ts"
import { internObject } from "../support/intern-object.ts"
import { expectJson, newWorkspace, type Workspace } from "../support/world.ts"

/** Chat and ACP open the same sessions of an intern. */

type Session = {
  id: string
  acp_session_id: string | null
  origin: string
  status: string
  title: string
  turns: number
}
type Entry = { kind: string; text?: string; title?: string; content?: string; command?: string; question?: object }
type Transcript = { data: Entry[]; session: Session & { open_question_id: string | null; last_error: object | null } }
type Listed = { sessions: { sessionId: string; title: string; cwd: string; updatedAt: string }[]; nextCursor?: string }

const { clock } = Intern
afterEach(() => {
  Intern.clock = clock
})

async function clientsOf(workspace: Workspace, id: string) {
  const path = `/interns/${id}`
  await eventually(async () =>
    expect(await expectJson(200, workspace.as.get(path))).toMatchObject({ status: "running" }),
  )
  const transcript = (session: string) =>
    expectJson<Transcript>(200, workspace.as.get(`${path}/sessions/${session}?limit=200`))
  return {
    workspace,
    id,
    path,
    transcript,
    /** Waits until its turn has ended. */
    ended: (session: string) =>
      eventually(async () => {
        const found = await transcript(session)
        expect(found.session.status).toBe("idle")
        return found
      }),
    sessions: async () => (await expectJson<{ data: Session[] }>(200, workspace.as.get(`${path}/sessions`))).data,
    chat: internChat(workspace.key, id),
    object: internObject(id),
    connect: async () => AcpClient.connect(await siteOf(workspace.as, id)),
  }
}

async function embedded(model = "sim/tool-call") {
  const workspace = await newWorkspace()
  const made = workspace.as.post("/interns", { name: "ada", model, provision: true })
  return clientsOf(workspace, (await expectJson<{ id: string }>(201, made)).id)
}

async function newConnected() {
  const workspace = await newWorkspace()
  const intern = await newDaemonIntern(workspace)
  const daemon = await new MockDaemon(intern).dial()
  return { daemon, ...(await clientsOf(workspace, intern.id)) }
}

/** An editor whose turn waits for the answer to its first question. */
async function pausedForQuestion() {
  const setup = await newConnected()
  const { daemon, connect } = setup
  const client = await connect()
  const session = await client.newSession()
  client.prompt(session, "Work")
  const received = await daemon.receives("session/prompt")
  daemon.requestPermission(session, "q1")
  await client.nextQuestion()
  return { ...setup, client, session, received }
}

const kinds = ({ data }: Transcript) => data.map(({ kind }) => kind)

describe("an editor", () => {
  test("lists chat sessions, loads one by id, receives its transcript and continues it", async () => {
    const { chat, connect, ended, sessions } = await embedded("sim/echo")
    await (await chat.send("Remember me", { session_id: "from-chat" })).all()
    const client = await connect()
    const { sessions: listed } = await client.get<Listed>("session/list", { cwd: "/work" })
    expect(listed).toEqual([
      { sessionId: "from-chat", cwd: "/work", title: "Remember me", updatedAt: expect.any(String) },
    ])
    await client.get("session/load", { sessionId: "from-chat", cwd: "/work", mcpServers: [] })
    expect(client.textOf("from-chat", "user_message_chunk")).toBe("Remember me")
    expect(client.textOf("from-chat")).toBe("Remember me")
    const { result } = await client.answerTo(client.prompt("from-chat", "More"))
    expect(result).toMatchObject({ stopReason: "end_turn" })
    expect(client.textOf("from-chat")).toBe("Remember meMore")
    expect(kinds(await ended("from-chat"))).toEqual(["prompt", "text", "end", "prompt", "text", "end"])
    expect(await sessions()).toMatchObject([{ id: "from-chat", origin: "chat", turns: 2 }])
  })

  test("lists sessions in pages", async () => {
    const { daemon, connect } = await newConnected()
    const client = await connect()
    const made: string[] = []
    for (let at = 0; at < 52; at++) {
      if (at === 30) {
        const later = clock() + 60_000
        Intern.clock = () => later
      }
      const session = await client.newSession()
      const prompt = client.prompt(session, `Prompt ${at}`)
      daemon.end(await daemon.receives("session/prompt", at))
      await client.answerTo(prompt)
      made.push(session)
    }
    const first = await client.get<Listed>("session/list")
    expect(first.sessions).toHaveLength(50)
    const second = await client.get<Listed>("session/list", { cursor: first.nextCursor })
    expect(second.nextCursor).toBeUndefined()
    const all = [...first.sessions, ...second.sessions].map(({ sessionId }) => sessionId)
    expect(all.toSorted()).toEqual(made.toSorted())
    expect((await client.request("session/list", { cursor: "nonsense" })).error?.code).toBe(RPC_ERRORS.params)
  })

  test("gets the transcript with tool calls when the agent does not replay it", async () => {
    const { daemon, chat, connect } = await newConnected()
    const reading = await chat.send("Look", { session_id: "s" })
    const prompt = await daemon.receives("session/prompt")
    const { sessionId: acp } = paramsOf(prompt)
    const sendUpdate = (update: object) => daemon.send({ method: "session/update", params: { sessionId: acp, update } })
    sendUpdate({
      sessionUpdate: "tool_call",
      toolCallId: "t",
      title: "Bash",
      status: "pending",
      rawInput: { command: "ls" },
    })
    sendUpdate({ sessionUpdate: "tool_call_update", toolCallId: "t", status: "completed" })
    daemon.text(acp, "Found.")
    daemon.end(prompt)
    await reading.all()
    const client = await connect()
    await client.get("session/load", { sessionId: "s" })
    const updates = client.received.filter(({ method }) => method === "session/update").map(({ params }) => params)
    expect(updates).toEqual([
      { sessionId: "s", update: { sessionUpdate: "user_message_chunk", content: { type: "text", text: "Look" } } },
      {
        sessionId: "s",
        update: {
          sessionUpdate: "tool_call",
          toolCallId: "t",
          title: "Bash",
          status: "pending",
          rawInput: { command: "ls" },
        },
      },
      {
        sessionId: "s",
        update: { sessionUpdate: "tool_call_update", toolCallId: "t", title: "Bash", status: "completed" },
      },
      { sessionId: "s", update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "Found." } } },
    ])
  })

  test("must load its session again after a chat used it", async () => {
    const { daemon, chat, connect } = await newConnected()
    const client = await connect()
    const session = await client.newSession()
    const reading = await chat.send("Mine now", { session_id: session })
    daemon.text(session, "to the chat")
    daemon.end(await daemon.receives("session/prompt"))
    await reading.all()
    const { error } = await client.request("session/prompt", { sessionId: session, prompt: [] })
    expect(error?.code).toBe(RPC_ERRORS.noSession)
    expect(error?.message).toContain("Load it again")
    expect(client.textOf(session)).toBe("")
    await client.get("session/load", { sessionId: session })
    expect(client.textOf(session)).toBe("to the chat")
    client.prompt(session, "Mine again")
    await daemon.receives("session/prompt", 1)
  })

  test("gets an error for a deleted session, and does not recreate it", async () => {
    const { daemon, workspace, path, connect, sessions } = await newConnected()
    const client = await connect()
    const session = await client.newSession()
    const prompt = client.prompt(session, "Hello")
    const received = await daemon.receives("session/prompt")
    await expectJson(409, workspace.as.delete(`${path}/sessions/${session}`))
    daemon.end(received)
    await client.answerTo(prompt)
    await expectJson(200, workspace.as.delete(`${path}/sessions/${session}`))
    expect((await client.request("session/prompt", { sessionId: session, prompt: [] })).error?.code).toBe(
      RPC_ERRORS.noSession,
    )
    expect(await sessions()).toEqual([])
  })
})

describe("a session created by an editor", () => {
  test("is listed with its transcript, and a chat that names it continues it", async () => {
    const { daemon, chat, connect, sessions, ended, transcript } = await newConnected()
    const client = await connect()
    const session = await client.newSession()
    const prompt = [
      { type: "text", text: "Fix this" },
      { type: "resource_link", uri: "file:///a.ts", name: "a.ts" },
    ]
    const promptId = client.start("session/prompt", { sessionId: session, prompt })
    const received = await daemon.receives("session/prompt")
    expect(paramsOf(received).prompt).toEqual(prompt)
    expect(await sessions()).toMatchObject([
      { id: session, acp_session_id: session, origin: "acp", status: "running", title: "Fix this file:///a.ts" },
    ])
    daemon.text(session, "Fixed.")
    daemon.end(received, "end_turn", { inputTokens: 3, outputTokens: 4 })
    expect((await client.answerTo(promptId)).result).toMatchObject({ stopReason: "end_turn" })
    const done = await ended(session)
    expect(done.data).toMatchObject([
      { kind: "prompt", text: "Fix this\nfile:///a.ts" },
      { kind: "text", text: "Fixed." },
      { kind: "end" },
    ])
    // The usage is read from the gateway's records, with a delay.
    await eventually(async () =>
      expect((await transcript(session)).session).toMatchObject({ usage: { prompt_tokens: 3, completion_tokens: 4 } }),
    )
    client.close()
    const reading = await chat.send("Go on", { session_id: session })
    const next = await daemon.receives("session/prompt", 1)
    expect(paramsOf(next).sessionId).toBe(session)
    daemon.end(next)
    expect((await reading.all()).session).toBe(session)
    expect(daemon.received.filter(({ method }) => method === "session/new")).toHaveLength(1)
    expect(await sessions()).toMatchObject([{ id: session, turns: 2 }])
  })

  test("keeps its id when the agent lost it and a chat restarted it", async () => {
    const { daemon, chat, connect } = await newConnected()
    const session = await (await connect()).newSession()
    daemon.restart()
    await daemon.dial()
    const serve = daemon.send.bind(daemon)
    daemon.send = (message) => {
      const isLoaded = "result" in message && JSON.stringify(message.result) === "{}"
      serve(isLoaded ? { id: message.id ?? 0, error: { code: -32_002, message: "unknown" } } : message)
    }
    const reading = await chat.send("Anew", { session_id: session })
    const prompt = await daemon.receives("session/prompt")
    daemon.send = serve
    const { sessionId: acp } = paramsOf(prompt)
    expect(acp).not.toBe(session)
    daemon.text(acp, "Begun anew.")
    daemon.end(prompt)
    await reading.all()
    const client = await connect()
    await client.get("session/load", { sessionId: session })
    expect(client.textOf(session)).toBe("Begun anew.")
    client.prompt(session, "More")
    const next = await daemon.receives("session/prompt", 1)
    expect(paramsOf(next).sessionId).toBe(acp)
    daemon.text(acp, " And more.")
    await client.until(() => client.textOf(session).includes("more") || undefined)
    client.send({ method: "session/cancel", params: { sessionId: session } })
    expect((await daemon.receives("session/cancel")).params).toEqual({ sessionId: acp })
  })
})

describe("a session in use", () => {
  test("is refused to other clients with the door that uses it and what to do", async () => {
    const { daemon, workspace, path, chat, connect } = await newConnected()
    const client = await connect()
    const reading = await chat.send("Hello", { session_id: "s" })
    const first = await daemon.receives("session/prompt")
    const { sessionId: acp } = paramsOf(first)
    const busy = (await client.request("session/load", { sessionId: "s" })).error
    expect(busy).toMatchObject({ code: RPC_ERRORS.busy, data: { reason: "busy", retryable: true, door: "chat" } })
    expect(busy?.message).toContain(`POST ${path}/sessions/s/cancel`)
    daemon.requestPermission(acp, "q")
    const { question } = await reading.all()
    const waiting = (await client.request("session/load", { sessionId: acp })).error
    expect(waiting).toMatchObject({ data: { door: "chat", question_id: question.id } })
    expect(waiting?.message).toContain(`POST ${path}/questions/${question.id}`)
    await expectJson(
      202,
      workspace.as.post(`${path}/questions/${question.id}`, { session_id: "s", content: "allow_once" }),
    )
    expect((await client.request("session/load", { sessionId: "s" })).error).toMatchObject({
      data: { door: "background" },
    })
    daemon.end(first)
    await daemon.settled()
    await client.get("session/load", { sessionId: "s" })
    client.prompt("s", "Mine")
    const second = await daemon.receives("session/prompt", 1)
    for (const call of [chat.send("Mine", { session_id: "s" }), chat.send("Mine", { session_id: acp })]) {
      const conflict = await refused(call)
      expect(conflict).toMatchObject({ status: 409, reason: "busy", retryable: true, retryAfter: "5" })
      expect(conflict.message).toContain("An ACP client has a turn in this session")
      expect(conflict.message).toContain(`POST ${path}/sessions/s/cancel`)
    }
    daemon.end(second)
  })

  test("has its editor turn cancelled over HTTP, and is released even if the agent does not respond", async () => {
    const { daemon, workspace, path, connect, ended, object } = await newConnected()
    const client = await connect()
    const session = await client.newSession()
    const prompt = client.prompt(session, "Long work")
    await daemon.receives("session/prompt")
    await expectJson(202, workspace.as.post(`${path}/sessions/${session}/cancel`, undefined))
    expect((await daemon.receives("session/cancel")).params).toEqual({ sessionId: session })
    const later = clock() + LIMITS.graceMs
    Intern.clock = () => later
    await runDurableObjectAlarm(object)
    expect((await client.answerTo(prompt)).error).toMatchObject({ data: { reason: "stream_severed" } })
    expect((await ended(session)).session.last_error).toMatchObject({ reason: "stream_severed" })
    client.prompt(session, "Again")
    await daemon.receives("session/prompt", 1)
  })
})

describe("a question of an editor's turn", () => {
  type Question = { id: string; session_id: string; question: { command?: string }; deadline: string }
  const open = async (workspace: Workspace) =>
    (await expectJson<{ data: Question[] }>(200, workspace.as.get("/questions"))).data

  test("is listed, can be answered by id, and is then withdrawn from the editor", async () => {
    const { workspace, path, connect, ended } = await embedded()
    const client = await connect()
    const session = await client.newSession()
    const prompt = client.prompt(session, "echo hello | tr a-z A-Z")
    const shown = await client.nextQuestion()
    const question = await eventually(async () => {
      const [first] = await open(workspace)
      expect(first).toMatchObject({ session_id: session, question: { command: "echo hello | tr a-z A-Z" } })
      return first
    })
    const answer = { session_id: session, content: "allow_once" }
    await expectJson(202, workspace.as.post(`${path}/questions/${question?.id ?? ""}`, answer))
    expect((await client.answerTo(prompt)).result).toMatchObject({ stopReason: "end_turn" })
    expect(client.textOf(session)).toContain("HELLO")
    const closed = client.received.find(({ method }) => method === "$/cancel_request")
    expect(closed?.params).toEqual({ requestId: shown.id })
    client.choose(shown, "reject")
    const done = await ended(session)
    expect(kinds(done)).toEqual(["prompt", "question", "answer", "tool_call", "tool_call", "text", "end"])
    expect(done.data[3]).toMatchObject({ title: "shell", command: "echo hello | tr a-z A-Z", folder: "/home/intern" })
    expect(await open(workspace)).toEqual([])
  })

  test("is answered by the editor in any order, and each answer is in the transcript", async () => {
    const { daemon, workspace, connect, ended, object } = await newConnected()
    const client = await connect()
    const session = await client.newSession()
    const prompt = client.prompt(session, "Two at once")
    const received = await daemon.receives("session/prompt")
    daemon.requestPermission(session, "q1")
    daemon.requestPermission(session, "q2")
    const [first, second] = [await client.nextQuestion(), await client.nextQuestion(undefined, 1)]
    await evictDurableObject(object)
    client.choose(second, "reject_once-2")
    expect(await daemon.answerTo("q2")).toEqual({ outcome: { outcome: "selected", optionId: "reject_once-2" } })
    expect(await open(workspace)).toHaveLength(1)
    client.choose(first, "allow_always-1")
    // The agent gets "once" for an answer that holds for the session.
    expect(await daemon.answerTo("q1")).toEqual({ outcome: { outcome: "selected", optionId: "allow_once-0" } })
    daemon.end(received)
    await client.answerTo(prompt)
    const { data } = await ended(session)
    const answers = data.filter(({ kind }) => kind === "answer").map(({ content }) => content)
    expect(answers).toEqual(["reject_once", "allow_always"])
    expect(data.filter(({ kind }) => kind === "question")).toHaveLength(2)
    expect(await open(workspace)).toEqual([])
    expect(client.received.some(({ method }) => method === "$/cancel_request")).toBe(false)
  })

  test("is refused to a chat with a hint where to answer, and expires after a day", async () => {
    const { daemon, workspace, path, chat, client, session, transcript, object } = await pausedForQuestion()
    const { open_question_id: question } = (await transcript(session)).session
    const refusal = await refused(chat.answer(session, question ?? "", "allow_once"))
    expect(refusal).toMatchObject({ status: 409, reason: "busy" })
    expect(refusal.message).toContain(`POST ${path}/questions/${question ?? ""}`)
    const [listed] = await open(workspace)
    expect(Date.parse(listed?.deadline ?? "") - clock()).toBeGreaterThan(LIMITS.backgroundQuestionMs - 60_000)
    const later = clock() + LIMITS.backgroundQuestionMs + 1_000
    Intern.clock = () => later
    await runDurableObjectAlarm(object)
    expect(await daemon.answerTo("q1")).toEqual({ outcome: { outcome: "cancelled" } })
    expect(client.received.some(({ method }) => method === "$/cancel_request")).toBe(true)
  })

  test("answered from the list continues as a background turn when the editor disconnects", async () => {
    const { daemon, workspace, path, chat, client, session, received, transcript, ended } = await pausedForQuestion()
    const { open_question_id: question } = (await transcript(session)).session
    const answer = { session_id: session, content: "allow_once" }
    await expectJson(202, workspace.as.post(`${path}/questions/${question ?? ""}`, answer))
    daemon.requestPermission(session, "q2")
    await client.nextQuestion(undefined, 1)
    client.close()
    const next = await eventually(async () => {
      expect(await refused(chat.send("?", { session_id: session }))).toMatchObject({
        message: expect.stringContaining("waits for an answer") as string,
      })
      return (await transcript(session)).session.open_question_id ?? ""
    })
    expect(daemon.answersTo("q2")).toEqual([])
    const reading = await chat.answer(session, next, "allow_once")
    daemon.text(session, "Done.")
    daemon.end(received)
    expect((await reading.all()).text).toBe("Done.")
    expect((await ended(session)).session.last_error).toBeNull()
    expect(daemon.received.some(({ method }) => method === "session/cancel")).toBe(false)
  })

  test("is cancelled with its turn by a crash that disconnects the editor", async () => {
    const { daemon, workspace, session, received, ended } = await pausedForQuestion()
    await abortAllDurableObjects()
    await daemon.dial()
    expect(await daemon.answerTo("q1")).toEqual({ outcome: { outcome: "cancelled" } })
    daemon.end(received, "cancelled")
    expect((await ended(session)).session.last_error).toMatchObject({ reason: "run_ended" })
    await eventually(async () => expect(await open(workspace)).toEqual([]))
  })
})
