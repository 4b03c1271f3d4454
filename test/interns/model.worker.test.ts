import { abortAllDurableObjects, evictDurableObject, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import * as fc from "fast-check"
import { afterEach, expect, test } from "vitest"
import { Intern } from "../../durable-objects/intern/intern.ts"
import { RPC_ERRORS } from "../../src/interns/hosts/client-frames.ts"
import type { Question } from "../support/acp-client.ts"
import { Editor } from "../support/editor.ts"
import { internObject } from "../support/intern-object.ts"
import type { AcpMessage } from "../../src/interns/run/acp/acp.ts"
import { LIMITS } from "../../src/interns/run/run.ts"
import { newDaemonIntern, paramsOf, MockDaemon } from "../support/daemon.ts"
import { internChat, type InternReader, refused } from "../support/intern-chat.ts"
import { newWorkspace, type Workspace } from "../support/world.ts"
import { eventually } from "../support/eventually.ts"
import { runs } from "../support/runs.ts"

/**
 * For any order of operations of clients, the agent, its daemon and the runtime, the runs of an intern keep their
 * invariants. The model below states them; every operation goes through the API to a real object.
 */

type ReceivedRequest = { rpc: string; isShown: boolean }
type Run = {
  session: string
  acp: string
  prompt: AcpMessage
  state: "streaming" | "paused" | "cancelling" | "ended"
  mode: "manual" | "self-drive"
  /** Continues without a client. */
  isBackground: boolean
  /** The editor's id of its prompt; undefined for another client's run, or after the editor disconnected. */
  request: number | undefined
  /** The editor holds the session, also while its turn is being cancelled after it disconnected. */
  isOfEditor: boolean
  /** Of the connected client. */
  reader: InternReader | undefined
  /** The agent's output while the run was open, and the part that earlier clients received. */
  output: string
  seen: string
  questions: ReceivedRequest[]
  questionId: string | undefined
  answered: string[]
  deadline: number
  turn: number
  grace: number | null
  cancels: number
  epoch: string
}

/** The weight of each operation. */
const OPERATIONS = {
  prompt: 5,
  "self-drive": 1,
  background: 4,
  "answer by id": 4,
  text: 3,
  ask: 5,
  answer: 5,
  "answer wrong": 3,
  "answer cancel": 1,
  "answer again": 3,
  leave: 3,
  stop: 3,
  "delete session": 1,
  end: 2,
  "end cancelled": 1,
  "end failed": 1,
  "pass a little": 1,
  "pass the deadline": 2,
  "pass to just before it": 3,
  "pass the grace": 1,
  "ring twice": 1,
  evict: 2,
  crash: 1,
  cut: 1,
  "come back": 4,
  "start anew": 1,
  "open in the editor": 8,
  "new in the editor": 1,
  "prompt by the editor": 12,
  "answer by the editor": 4,
  "answer the last by the editor": 1,
  "answer again by the editor": 1,
  "cancel by the editor": 1,
  "close the editor": 3,
  "switch the schedule": 2,
  "run the schedule": 1,
  "pass to the schedule": 2,
}
type Operation = { do: keyof typeof OPERATIONS; session: 0 | 1 | 2 | 3 }

type Schedule = { id: string; enabled: boolean; next_run_at: string | null; last_error: string | null }

/** Sequences in one session that random steps would seldom produce. */
const STORIES: readonly (readonly Operation["do"][])[] = [
  ["background", "ask", "answer", "text", "leave"],
  ["background", "ask", "answer by id", "ask", "answer", "leave"],
  ["open in the editor", "prompt by the editor", "ask", "answer", "answer by id", "close the editor"],
  ["open in the editor", "prompt by the editor", "ask", "ask", "answer the last by the editor", "answer by the editor"],
  ["open in the editor", "prompt by the editor", "ask", "pass the deadline"],
  ["open in the editor", "prompt by the editor", "ask", "text", "end"],
  ["open in the editor", "start anew", "prompt by the editor"],
  ["background", "end", "open in the editor", "delete session", "prompt by the editor"],
  ["switch the schedule", "run the schedule", "ask"],
]
/** Ends what would block a sequence. */
const CLEARED: readonly Operation["do"][] = ["come back", "stop", "end cancelled"]

const OPERATION_NAMES = Object.keys(OPERATIONS) as (keyof typeof OPERATIONS)[]
const TEN_MINUTES = 600_000

class Setup {
  readonly daemon: MockDaemon
  readonly chat: ReturnType<typeof internChat>
  readonly runs = new Map<string, Run>()
  readonly ended: { session: string; question: string }[] = []
  readonly questions: { rpc: string; epoch: string; run: Run }[] = []
  readonly undelivered: { run: Run; text: string }[] = []
  /** The third is replaced by one that the editor creates, and the fourth belongs to the schedule. */
  readonly sessions: [string, string, string, string] = ["a", "b", "c", "c"]
  /** The agent's ids of the sessions. */
  readonly acp = new Map<string, string>()
  readonly editor: Editor
  schedule: { id: string; isOn: boolean; nextAt: number } | undefined
  isConnected = true
  now: number
  count = 0

  constructor(daemon: MockDaemon, key: string) {
    this.daemon = daemon
    this.chat = internChat(key, daemon.intern.id)
    this.editor = new Editor(daemon.intern.as, daemon.intern.id)
    this.now = Intern.clock()
    Intern.clock = () => this.now
  }

  /** Created on each access: a stub of a crashed object is broken. */
  get object(): DurableObjectStub<Intern> {
    return internObject(this.daemon.intern.id)
  }

  async do({ do: what, session: index }: Operation): Promise<void> {
    const session = this.sessions[index]
    const run = this.runs.get(session)
    switch (what) {
      case "prompt":
        return this.prompt(session, "manual")
      case "self-drive":
        return this.prompt(session, "self-drive")
      case "background":
        return this.background(session)
      case "answer by id":
        return run && this.answerById(run)
      case "text":
        return run && this.text(run)
      case "ask":
        return run && this.ask(run)
      case "answer":
        return run && this.answer(run)
      case "answer wrong":
        return run && this.answerWrong(run)
      case "answer cancel":
        return run && this.answerCancel(run)
      case "answer again":
        return this.answerAgain(session)
      case "leave":
        return run && this.leave(run)
      case "stop":
        return this.stop(session)
      case "delete session":
        return this.deleteSession(session)
      case "end":
      case "end cancelled":
      case "end failed":
        return run && this.end(run, what)
      case "pass a little":
        return this.pass(1_000)
      case "pass the deadline":
        return this.pass(LIMITS.questionTimeoutMs)
      case "pass to just before it":
        return this.pass(LIMITS.questionTimeoutMs - 1)
      case "pass the grace":
        return this.pass(LIMITS.graceMs)
      case "ring twice":
        await runDurableObjectAlarm(this.object)
        await runDurableObjectAlarm(this.object)
        return
      case "evict":
        return this.evict()
      case "crash":
        return this.crash()
      case "cut":
        return this.cut()
      case "come back":
        return this.reconnect()
      case "start anew":
        return this.startAgain()
      case "open in the editor":
        return this.openInEditor(session)
      case "new in the editor":
        return this.newInEditor()
      case "prompt by the editor":
        return this.promptByEditor(session)
      case "answer by the editor":
        return run && this.answerByEditor(run, 0)
      case "answer the last by the editor":
        return run && this.answerByEditor(run, run.questions.length - 1)
      case "answer again by the editor":
        return this.answerAgainByEditor()
      case "cancel by the editor":
        return this.cancelByEditor(session)
      case "close the editor":
        return this.closeEditor()
      case "switch the schedule":
        return this.switchSchedule()
      case "run the schedule":
        return this.runSchedule()
      case "pass to the schedule":
        return this.schedule?.isOn ? this.pass(Math.max(0, this.schedule.nextAt - this.now)) : undefined
    }
  }

  async prompt(session: string, mode: Run["mode"]): Promise<void> {
    const open = this.runs.get(session)
    const nth = this.daemon.received.filter(({ method }) => method === "session/prompt").length
    const reading = await this.chat.send(`p${this.count++}`, { session_id: session, approval_mode: mode })
    if (!this.isConnected) return refusedWith(reading, { reason: "intern_unreachable" })
    if (open?.state === "streaming" && open.request === undefined) {
      expect(reading.response.status).toBe(202)
      await reading.response.body?.cancel()
      return
    }
    if (open) return refusedWith(reading, { status: 409, reason: "busy" })
    if (this.runs.size >= OPEN_RUNS) {
      return refusedWith(reading, { status: 503, reason: "busy" })
    }
    expect(reading.response.status).toBe(200)
    await this.begun({ session, mode, nth, reader: reading, request: undefined })
  }

  async begun(opening: Pick<Run, "session" | "mode" | "reader" | "request"> & { nth: number }): Promise<void> {
    const { session, mode, nth, reader, request } = opening
    const prompt = await this.daemon.receives("session/prompt", nth)
    const isBackground = reader === undefined && request === undefined
    // A chat, or a schedule, takes the session from the editor.
    if (request === undefined) this.editor.opened.delete(session)
    this.acp.set(session, paramsOf(prompt).sessionId)
    this.runs.set(session, {
      session,
      isBackground,
      request,
      isOfEditor: request !== undefined,
      acp: paramsOf(prompt).sessionId,
      prompt,
      state: "streaming",
      mode,
      reader,
      output: "",
      seen: "",
      questions: [],
      questionId: undefined,
      answered: [],
      deadline: 0,
      turn: this.now + turnMs({ isBackground, request }),
      grace: null,
      cancels: 0,
      epoch: this.daemon.epoch,
    })
  }

  /** A prompt with respond-async, without a stream. */
  async background(session: string): Promise<void> {
    if (this.runs.has(session) || this.runs.size >= OPEN_RUNS || !this.isConnected) return
    const nth = this.daemon.received.filter(({ method }) => method === "session/prompt").length
    const { id, as } = this.daemon.intern
    const messages = [{ role: "user", content: `p${this.count++}` }]
    const body = { stream: false, approval_mode: "manual", session_id: session, messages }
    const answer = await as.post(`/interns/${id}/chat/completions`, body, { prefer: "respond-async" })
    expect(await answer.json()).toEqual({ session_id: session, status: "started" })
    await this.begun({ session, mode: "manual", nth, reader: undefined, request: undefined })
  }

  async answerById(run: Run): Promise<void> {
    if (run.state !== "paused" || run.questionId === undefined || !this.isConnected) return
    const { id, as } = this.daemon.intern
    const body = { session_id: run.session, content: "allow_once" }
    const answer = await as.post(`/interns/${id}/questions/${run.questionId}`, body)
    expect(await answer.json()).toEqual({ session_id: run.session, status: "resumed" })
    run.answered.push(run.questionId)
    const turn = this.now + LIMITS.backgroundMs
    Object.assign(run, { state: "streaming", questionId: undefined, isBackground: true, turn })
    const [question, ...rest] = run.questions
    run.questions = rest
    expect(await this.daemon.answerTo(question?.rpc ?? "")).toEqual(selected("allow_once-0"))
    this.questionsAreClosed(question ? [question] : [])
    if (rest.length > 0) await this.paused(run)
  }

  /** Answered by another client: the editor no longer has to show them. */
  questionsAreClosed(closed: readonly ReceivedRequest[]): void {
    for (const { rpc } of closed) if (this.editor.questions.delete(rpc)) this.editor.closedQuestions += 1
  }

  /** All output of the agent in the last turn of a session. */
  async transcript(session: string): Promise<string> {
    type Page = { data: { kind: string; text?: string }[] }
    const { id, as } = this.daemon.intern
    const { data } = await (await as.get(`/interns/${id}/sessions/${session}?limit=200`)).json<Page>()
    // Prompts may have steered it, so it begins after the end of the previous turn.
    const last = data.findLastIndex(({ kind }) => kind === "end")
    const turn = data.slice(data.slice(0, last).findLastIndex(({ kind }) => kind === "end") + 1)
    return turn.map(({ kind, text = "" }) => (kind === "text" ? text : "")).join("")
  }

  async text(run: Run): Promise<void> {
    const text = `<${this.count++}>`
    this.daemon.text(run.acp, text)
    if (!this.isConnected) this.undelivered.push({ run, text })
    else await this.delivered(run, text)
  }

  async delivered(run: Run, text: string): Promise<void> {
    await this.daemon.settled()
    const open = this.runs.get(run.session)
    if (open === undefined || open.request !== undefined) this.editor.agentText(run.session, text)
    if (run.state !== "streaming" && run.state !== "paused") return
    run.output += text
    if (run.state === "streaming") await run.reader?.until(text)
  }

  async ask(run: Run): Promise<void> {
    if (!this.isConnected) return
    const rpc = `q${this.count++}-${run.acp}`
    this.daemon.requestPermission(run.acp, rpc)
    this.questions.push({ rpc, epoch: this.daemon.epoch, run })
    if (run.state === "cancelling") {
      expect(await this.daemon.answerTo(rpc)).toEqual(CANCELLED)
      return
    }
    if (run.mode === "self-drive") {
      expect(await this.daemon.answerTo(rpc)).toEqual(selected("allow_once-0"))
      return
    }
    run.questions.push({ rpc, isShown: run.state === "streaming" })
    if (run.request !== undefined) await this.editor.shows(rpc)
    if (run.state === "streaming") await this.paused(run)
  }

  /** The client receives the question and disconnects. */
  async paused(run: Run): Promise<void> {
    const reader = await run.reader?.all()
    if (reader) {
      expect(reader.finish).toBe("tool_calls")
      expect(reader.session).toBe(run.session)
      run.seen += reader.text
      if (!run.isBackground) expect(run.seen).toBe(run.output)
    }
    const questionId = await eventually(async () => {
      const { open } = await this.object.peek()
      const id = open.find(({ session }) => session === run.session)?.question?.id
      expect(id).toBeDefined()
      return id
    })
    if (reader) expect(reader.question.id).toBe(questionId)
    Object.assign(run, { state: "paused", reader: undefined, questionId })
    const canWait = run.isBackground || run.request !== undefined
    run.deadline = this.now + (canWait ? LIMITS.backgroundQuestionMs : LIMITS.questionTimeoutMs)
  }

  async answer(run: Run): Promise<void> {
    if (run.state !== "paused" || run.questionId === undefined) return
    const reader = await this.chat.answer(run.session, run.questionId, "allow_once")
    if (!this.isConnected) return refusedWith(reader, { reason: "intern_unreachable" })
    if (run.request !== undefined) return refusedWith(reader, { status: 409, reason: "busy" })
    await this.taken(run, reader)
    const [question, ...rest] = run.questions
    run.questions = rest
    expect(await this.daemon.answerTo(question?.rpc ?? "")).toEqual(selected("allow_once-0"))
    if (rest.length > 0) await this.paused(run)
  }

  async taken(run: Run, reader: InternReader): Promise<void> {
    expect(reader.response.status, reader.raw).toBe(200)
    run.answered.push(run.questionId ?? "")
    const turn = this.now + turnMs(run)
    Object.assign(run, { state: "streaming", reader, questionId: undefined, turn })
    const rest = run.output.slice(run.seen.length)
    if (rest !== "" && !run.isBackground) await reader.until(rest)
  }

  /** Some time after the question, so that a moved deadline would be noticed. */
  async answerWrong(run: Run): Promise<void> {
    await this.pass(1_000)
    if (run.state !== "paused" || run.questionId === undefined) return
    const wrong = await refused(this.chat.answer(run.session, run.questionId, "perhaps"))
    expect(wrong).toMatchObject({ status: 400, reason: "bad_request" })
  }

  async answerCancel(run: Run): Promise<void> {
    if (run.state !== "paused" || run.questionId === undefined) return
    const reader = await this.chat.answer(run.session, run.questionId, "cancel")
    if (!this.isConnected) return refusedWith(reader, { reason: "intern_unreachable" })
    if (run.request !== undefined) return refusedWith(reader, { status: 409, reason: "busy" })
    await this.taken(run, reader)
    await this.cancelled(run)
  }

  async answerAgain(session: string): Promise<void> {
    const open = this.runs.get(session)
    const over = this.ended.findLast((one) => one.session === session)
    if (over) {
      const answer = await refused(this.chat.answer(session, over.question, "allow_once"))
      expect(answer).toMatchObject({ status: 409, reason: "interaction_not_pending" })
    }
    const before = open?.state === "streaming" || open?.state === "paused" ? open.answered.at(-1) : undefined
    if (before !== undefined) {
      const answer = await refused(this.chat.answer(session, before, "allow_once"))
      expect(answer).toMatchObject({ status: 404, reason: "interaction_unknown" })
    }
  }

  async leave(run: Run): Promise<void> {
    if (!run.reader) return
    run.reader.leave()
    run.reader = undefined
    await eventually(async () => {
      const { attached, open } = await this.object.peek()
      const mine = open.find(({ session }) => session === run.session)
      expect(attached).not.toContain(mine?.id)
    })
    if (run.state === "streaming" && !run.isBackground) await this.cancelled(run)
  }

  /** By the session id, from any client. */
  async stop(session: string): Promise<void> {
    const run = this.runs.get(session)
    const { id, as } = this.daemon.intern
    const path = `/interns/${id}/sessions/${session}`
    const known = await as.get(path)
    await known.body?.cancel()
    const answer = await as.post(`${path}/cancel`, undefined)
    expect(answer.status).toBe(run ? 202 : known.status === 200 ? 409 : 404)
    await answer.body?.cancel()
    if (run?.state === "streaming" || run?.state === "paused") await this.cancelled(run)
  }

  /** Never during a turn. The next prompt begins a new session. */
  async deleteSession(session: string): Promise<void> {
    const { id, as } = this.daemon.intern
    const answer = await as.delete(`/interns/${id}/sessions/${session}`)
    await answer.body?.cancel()
    if (this.runs.has(session)) return expect(answer.status).toBe(409)
    expect([200, 404]).toContain(answer.status)
    // A session without a turn is known only to the editor, and stays.
    if (answer.status === 200) this.editor.opened.delete(session)
    if (answer.status === 200) this.acp.delete(session)
    expect((await as.get(`/interns/${id}/sessions/${session}`)).status).toBe(404)
  }

  /** The run is cancelled: its pending question gets one response. */
  async cancelled(run: Run): Promise<void> {
    Object.assign(run, { state: "cancelling", grace: this.now + LIMITS.graceMs, cancels: run.cancels + 1 })
    this.questionIsClosed(run)
    if (!this.isConnected) return
    await this.receivesCancel(run)
  }

  questionIsClosed(run: Run): void {
    if (run.questionId !== undefined) this.ended.push({ session: run.session, question: run.questionId })
    this.questionsAreClosed(run.questions)
    run.questions = []
    run.questionId = undefined
  }

  async receivesCancel(run: Run): Promise<void> {
    await eventually(() => {
      const received = this.daemon.received.filter(
        (message) => message.method === "session/cancel" && paramsOf(message).sessionId === run.acp,
      )
      expect(received.length).toBeGreaterThanOrEqual(run.cancels)
    })
  }

  async end(run: Run, how: "end" | "end cancelled" | "end failed"): Promise<void> {
    if (!this.isConnected) return
    if (how === "end failed") this.daemon.send({ id: run.prompt.id ?? 0, error: { code: -32_603, message: "broken" } })
    else this.daemon.end(run.prompt, how === "end" ? "end_turn" : "cancelled")
    await this.daemon.settled()
    const reason = { end: undefined, "end cancelled": "run_ended", "end failed": "turn_failed" }[how]
    const isConfirmed = run.state === "cancelling" && how !== "end"
    await this.over(run, isConfirmed ? ANY : reason)
  }

  /** The run has ended, and a connected client receives the reason. `reason` is undefined for a normal end. */
  async over(run: Run, reason: string | undefined): Promise<void> {
    this.questionIsClosed(run)
    if (run.request !== undefined) await this.editor.ended(run.request, reason)
    const reader = await run.reader?.all()
    if (reader) {
      run.seen += reader.text
      if (run.state === "streaming" && !run.isBackground) expect(run.seen).toBe(run.output)
      expect(reader.finish).toBe(reason === undefined ? "stop" : "error")
      if (reason !== undefined && reason !== ANY) expect(reader.error?.metadata.reason).toBe(reason)
      if (reason === ANY) expect(["run_ended", "timeout"]).toContain(reader.error?.metadata.reason)
    }
    if (run.state === "streaming" || run.state === "paused") {
      expect(await this.transcript(run.session)).toBe(run.output)
    }
    run.state = "ended"
    run.reader = undefined
    // For an answered question, too, the error is now that its run ended.
    for (const question of run.answered) this.ended.push({ session: run.session, question })
    this.runs.delete(run.session)
  }

  async pass(ms: number): Promise<void> {
    const nth = this.daemon.received.filter(({ method }) => method === "session/prompt").length
    this.now += ms
    await runDurableObjectAlarm(this.object)
    await this.deadlines()
    if (!this.schedule?.isOn || this.schedule.nextAt > this.now) return
    // Any number of missed runs is made up by one.
    this.schedule.nextAt = nextTenMinutes(this.now)
    await this.scheduled(nth)
  }

  async deadlines(): Promise<void> {
    for (const run of this.runs.values()) {
      if (run.grace !== null && run.grace <= this.now) await this.over(run, "stream_severed")
      else if (run.state === "paused" && run.deadline <= this.now) await this.cancelled(run)
      else if (run.state === "streaming" && run.turn <= this.now) await this.cancelled(run)
    }
  }

  async evict(): Promise<void> {
    if ([...this.runs.values()].some(({ reader }) => reader !== undefined)) return
    await evictDurableObject(this.object)
  }

  async crash(): Promise<void> {
    await abortAllDurableObjects()
    await this.object.peek()
    this.daemon.cut()
    this.isConnected = false
    this.editor.gone()
    for (const run of this.runs.values()) {
      const isWatched = run.state === "streaming" || (run.state === "paused" && run.request !== undefined)
      Object.assign(run, { reader: undefined, request: undefined })
      if (run.isBackground) run.isOfEditor = false
      if (!isWatched) continue
      if (!run.isBackground) await this.cancelled(run)
      else if (run.state === "streaming") run.grace = this.now + LIMITS.graceMs
    }
  }

  async cut(): Promise<void> {
    if (!this.isConnected) return
    this.daemon.cut()
    this.isConnected = false
    await eventually(async () => expect((await this.object.peek()).isHostUp).toBe(false))
    for (const run of this.runs.values()) if (run.state === "streaming") run.grace = this.now + LIMITS.graceMs
  }

  async reconnect(): Promise<void> {
    if (this.isConnected) return
    await this.daemon.connect()
    this.daemon.resend()
    await this.daemon.settled()
    this.isConnected = true
    for (const run of this.runs.values()) {
      if (run.state === "streaming") run.grace = null
      if (run.state === "cancelling") await this.receivesCancel(run)
    }
    for (const { run, text } of this.undelivered.splice(0)) await this.delivered(run, text)
  }

  async startAgain(): Promise<void> {
    if (this.isConnected) await this.cut()
    this.daemon.restart()
    this.undelivered.length = 0
    await this.daemon.dial()
    this.isConnected = true
    for (const run of this.runs.values()) await this.over(run, "stream_severed")
    this.editor.forget()
  }

  /** The door that holds the session, as reported to the editor. */
  door({ isOfEditor, isBackground }: Run): string {
    if (isOfEditor) return "acp"
    return isBackground ? "background" : "chat"
  }

  /** The error for a request of the editor that would reach the agent. */
  refusal(): object | undefined {
    if (!this.isConnected) return { code: RPC_ERRORS.away, data: { reason: "intern_unreachable" } }
    return this.runs.size >= OPEN_RUNS ? { code: RPC_ERRORS.busy, data: { reason: "busy" } } : undefined
  }

  async openInEditor(session: string): Promise<void> {
    const run = this.runs.get(session)
    const name = this.count++ % 2 === 0 ? session : (this.acp.get(session) ?? session)
    const busy = run && { code: RPC_ERRORS.busy, data: { reason: "busy", door: this.door(run) } }
    const refusal = busy ?? this.refusal()
    if (refusal) return this.editor.refusedLoad(name, refusal)
    await this.editor.open(session, name)
    if (!this.acp.has(session)) this.acp.set(session, session)
  }

  /** A session that a chat can continue. */
  async newInEditor(): Promise<void> {
    if (this.refusal() || this.runs.has(this.sessions[2])) return
    const client = await this.editor.connected()
    const made = await client.newSession()
    this.editor.opened.set(made, { name: made, from: client.received.length, expected: "" })
    this.acp.set(made, made)
    this.sessions[2] = made
  }

  async promptByEditor(session: string): Promise<void> {
    const run = this.runs.get(session)
    const opened = this.editor.opened.get(session)
    const busy = run && { code: RPC_ERRORS.busy, data: { door: this.door(run) } }
    const refusal = busy ?? (opened ? this.refusal() : { code: RPC_ERRORS.noSession })
    if (!opened || refusal) return this.editor.refusedPrompt(opened?.name ?? session, refusal ?? {})
    const client = await this.editor.connected()
    const nth = this.daemon.received.filter(({ method }) => method === "session/prompt").length
    const request = client.prompt(opened.name, `p${this.count++}`)
    await this.begun({ session, mode: "manual", nth, reader: undefined, request })
  }

  async answerByEditor(run: Run, index: number): Promise<void> {
    const expectedQuestion = run.questions[index]
    const shown = expectedQuestion && this.editor.questions.get(expectedQuestion.rpc)
    if (run.state !== "paused" || run.request === undefined || !expectedQuestion || !shown || !this.isConnected) return
    this.editor.client?.choose(shown, "allow_once-0")
    this.editor.questions.delete(expectedQuestion.rpc)
    expect(await this.daemon.answerTo(expectedQuestion.rpc)).toEqual(selected("allow_once-0"))
    run.questions = run.questions.filter((question) => question !== expectedQuestion)
    if (index > 0) return
    run.answered.push(run.questionId ?? "")
    Object.assign(run, { state: "streaming", questionId: undefined, turn: this.now + turnMs(run) })
    if (run.questions.length > 0) await this.paused(run)
  }

  /** An answered question keeps its answer. */
  async answerAgainByEditor(): Promise<void> {
    const { client } = this.editor
    const late = client?.received.filter(({ method }) => method === "session/request_permission") ?? []
    for (const question of late as Question[]) {
      const isOpen = [...this.editor.questions.values()].includes(question)
      if (!isOpen) client?.choose(question, "reject_once-2")
    }
    await this.editor.settled()
  }

  async cancelByEditor(session: string): Promise<void> {
    const run = this.runs.get(session)
    const name = this.editor.opened.get(session)?.name ?? session
    this.editor.client?.send({ method: "session/cancel", params: { sessionId: name } })
    await this.editor.settled()
    const isOpen = run?.state === "streaming" || run?.state === "paused"
    if (run && isOpen && run.request !== undefined) await this.cancelled(run)
  }

  async closeEditor(): Promise<void> {
    if (!this.editor.client) return
    this.editor.gone()
    for (const run of this.runs.values()) {
      if (run.request === undefined) continue
      run.request = undefined
      if (run.isBackground) run.isOfEditor = false
      const isOpen = run.state === "streaming" || run.state === "paused"
      await eventually(async () => {
        const { open } = await this.object.peek()
        const mine = open.find(({ session }) => session === run.session)
        if (run.isBackground) expect(mine?.client).toBeNull()
        else expect(mine?.state).toBe("cancelling")
      })
      if (isOpen && !run.isBackground) await this.cancelled(run)
    }
  }

  async switchSchedule(): Promise<void> {
    const { id, as } = this.daemon.intern
    if (!this.schedule) {
      const rule = { cron: "*/10 * * * *", prompt: "Scheduled", session: "same", enabled: false }
      const made = await (await as.post(`/interns/${id}/schedules`, rule)).json<Schedule>()
      this.schedule = { id: made.id, isOn: false, nextAt: 0 }
      this.sessions[3] = `schedule-${made.id}`
    }
    const isOn = !this.schedule.isOn
    await (await as.patch(`/interns/${id}/schedules/${this.schedule.id}`, { enabled: isOn })).json()
    Object.assign(this.schedule, { isOn, nextAt: nextTenMinutes(this.now) })
  }

  async runSchedule(): Promise<void> {
    if (!this.schedule) return
    const nth = this.daemon.received.filter(({ method }) => method === "session/prompt").length
    const { id, as } = this.daemon.intern
    await (await as.post(`/interns/${id}/schedules/${this.schedule.id}/run`, undefined)).json()
    await this.scheduled(nth)
  }

  /** The schedule was run now: a turn began, it steered the open one, or the record has the error. */
  async scheduled(nth: number): Promise<void> {
    const session = this.sessions[3]
    const open = this.runs.get(session)
    const isSteered = open?.state === "streaming" && open.request === undefined
    const isStarted = this.isConnected && (open ? isSteered : this.runs.size < OPEN_RUNS)
    const record = await this.scheduleRecord()
    expect(record?.last_error === null).toBe(isStarted)
    if (isStarted && !open) {
      await this.begun({ session, mode: "self-drive", nth, reader: undefined, request: undefined })
    }
    const prompts = this.daemon.received.filter(({ method }) => method === "session/prompt").length
    expect(prompts).toBe(nth + (isStarted && !open ? 1 : 0))
  }

  async scheduleRecord(): Promise<Schedule | undefined> {
    const { id, as } = this.daemon.intern
    const { data } = await (await as.get(`/interns/${id}/schedules`)).json<{ data: Schedule[] }>()
    return data.find((one) => one.id === this.schedule?.id)
  }

  /** Invariants after every step. */
  async check(): Promise<void> {
    const { open, attached } = await this.object.peek()
    const expected = [...this.runs.values()]
    const ofEditor = ({ state, client }: (typeof open)[number]) => state !== "cancelling" && client != null
    expect(open.map((run) => [run.session, run.state, ofEditor(run), run.isBackground]).toSorted()).toEqual(
      expected
        .map(({ session, state, request, isBackground }) => {
          return [session, state, state !== "cancelling" && request !== undefined, isBackground]
        })
        .toSorted(),
    )
    await this.editor.check()
    const attachedSessions = attached.map((id) => open.find((run) => run.id === id)?.session).toSorted()
    expect(attachedSessions).toEqual(
      expected
        .filter(({ reader }) => reader !== undefined)
        .map(({ session }) => session)
        .toSorted(),
    )
    for (const run of expected) {
      expect(run.reader === undefined || run.state === "streaming" || run.state === "cancelling").toBe(true)
      if (run.state === "streaming" && !run.isBackground) expect(run.reader ?? run.request).toBeDefined()
    }
    await runInDurableObject(this.object, async (_, state) => {
      const alarm = await state.storage.getAlarm()
      const isQuiet = open.every((run) => run.state === "streaming" && run.turnDeadline === null)
      const isScheduled = this.schedule?.isOn ?? false
      if (!isQuiet || isScheduled) expect(alarm).not.toBeNull()
      if (open.length === 0 && !isScheduled) expect(alarm).toBeNull()
      if (isScheduled) expect(alarm).toBeLessThanOrEqual(this.schedule?.nextAt ?? 0)
      const pending = [
        ...state.storage.sql.exec<{ n: number }>(
          "SELECT count(*) AS n FROM questions WHERE is_pending = 1 GROUP BY run",
        ),
      ]
      expect(pending.every(({ n }) => n === 1)).toBe(true)
      expect(pending).toHaveLength(expected.filter(({ state }) => state === "paused").length)
    })
    if (this.schedule) {
      const next = (await this.scheduleRecord())?.next_run_at ?? null
      expect(next && Date.parse(next)).toBe(this.schedule.isOn ? this.schedule.nextAt : null)
    }
    if (!this.isConnected) return
    for (const { rpc, epoch, run } of this.questions) {
      if (epoch !== this.daemon.epoch) continue
      const isOpen = run.questions.some((question) => question.rpc === rpc)
      await eventually(() => expect(this.daemon.answersTo(rpc), rpc).toHaveLength(isOpen ? 0 : 1))
    }
  }
}

async function refusedWith(reader: InternReader, expected: Record<string, unknown>): Promise<void> {
  expect(await refused(reader)).toMatchObject(expected)
}

/** A connected editor has no turn limit. */
function turnMs({ isBackground, request }: Pick<Run, "isBackground" | "request">): number {
  if (isBackground) return LIMITS.backgroundMs
  return request === undefined ? LIMITS.turnMs : Number.MAX_SAFE_INTEGER / 2
}

const nextTenMinutes = (now: number) => (Math.floor(now / TEN_MINUTES) + 1) * TEN_MINUTES

const ANY = "run_ended or timeout"
const CANCELLED = { outcome: { outcome: "cancelled" } }
const selected = (optionId: string) => ({ outcome: { outcome: "selected", optionId } })

/** Fewer than there are sessions. */
const OPEN_RUNS = 2

const { clock, timer, openRuns } = Intern
afterEach(() => {
  Intern.openRuns = openRuns
  Intern.clock = clock
  Intern.timer = timer
})

async function newSetup(workspace: Workspace): Promise<Setup> {
  const intern = await newDaemonIntern(workspace)
  // Far from the machine's clock, so that only the test runs alarms.
  const start = Date.now() + 365 * 86_400_000
  Intern.clock = () => start
  Intern.openRuns = OPEN_RUNS
  Intern.timer = { ...timer, within: () => Promise.resolve(undefined) }
  const daemon = await new MockDaemon(intern).dial()
  const deps = new Setup(daemon, workspace.key)
  await eventually(async () => {
    const { status } = await (await workspace.as.get(`/interns/${intern.id}`)).json<{ status: string }>()
    expect(status).toBe("running")
  })
  // The object clears its alarm after the record was written, perhaps after the test sees the record.
  await runInDurableObject(deps.object, (_, { storage }) =>
    eventually(async () => expect(await storage.getAlarm()).toBeNull()),
  )
  return deps
}

test("any schedule of operations keeps the invariants of every run", { timeout: 900_000 }, async () => {
  const workspace = await newWorkspace()
  const session = fc.constantFrom(0 as const, 0 as const, 0 as const, 1 as const, 2 as const, 3 as const)
  const name = fc.oneof(...OPERATION_NAMES.map((one) => ({ weight: OPERATIONS[one], arbitrary: fc.constant(one) })))
  const alone = fc.record({ do: name, session }).map((one) => [one])
  const story = fc.tuple(fc.constantFrom(...STORIES), session).map(([names, any]) => {
    const ofStory = names.includes("run the schedule") ? 3 : any
    return [...CLEARED, ...names].map((one): Operation => ({ do: one, session: ofStory }))
  })
  const part = fc.oneof({ weight: 8, arbitrary: alone }, { weight: 1, arbitrary: story })
  await fc.assert(
    fc.asyncProperty(fc.array(part, { minLength: 15, maxLength: 35, size: "max" }), async (parts) => {
      const deps = await newSetup(workspace)
      for (const one of parts.flat()) {
        await deps.do(one)
        await deps.check()
      }
    }),
    { numRuns: runs(0.4), endOnFailure: true },
  )
})
