import { configOf } from "../../../src/config/config.ts"
import type { Env } from "../../../src/config/env.ts"
import type { InternHost } from "../../../src/interns/hosts/host.ts"
import type { ChatCall } from "../../../src/interns/hosts/rpc.ts"
import type { AcpEvent, AcpMessage, RpcId } from "../../../src/interns/run/acp/acp.ts"
import * as machine from "../../../src/interns/run/advance.ts"
import { steer } from "../../../src/interns/run/steering.ts"
import { spellingOf } from "../../../src/interns/run/chunks.ts"
import { type Finish, isDetached, LIMITS, nextDeadline, type Run, type Step } from "../../../src/interns/run/run.ts"
import { ToolCallChanges } from "../../../src/interns/run/tool-calls.ts"
import type { RaceTimer } from "../../../src/support/time/time.ts"
import { ClientTurns } from "../clients/client-turns.ts"
import type { InternClients } from "../clients/clients.ts"
import { type EffectDeps, perform } from "../effects.ts"
import type { InternLifecycle } from "../lifecycle.ts"
import type { RunStore } from "../run-store.ts"
import type { SessionLog } from "../sessions/session-log.ts"
import type { SessionPermissions } from "../sessions/session-permissions.ts"
import { InternStream } from "../sessions/stream.ts"
import * as guards from "./turn-guards.ts"

const CHECK_EVERY_MS = 30_000

/** Ended runs past their retention are deleted once per this number of request ids. */
const PRUNE_EVERY = 64

type KnownRow = { id: string; acp: string; epoch: string }

type TurnsDeps = {
  env: Env
  runs: RunStore
  log: SessionLog
  standing: SessionPermissions
  lifecycle: InternLifecycle
  clients: InternClients
  host: () => InternHost
  now: () => number
  timer: () => RaceTimer
  openRuns: () => number
  /** Sends to the agent. */
  send: (message: Omit<AcpMessage, "jsonrpc">) => void
  onEnd: EffectDeps["onEnd"]
  measure: EffectDeps["measure"]
  waitUntil: EffectDeps["waitUntil"]
  /** Sets the alarm to the earliest deadline. */
  schedule: () => void
}

/**
 * The runs of an intern and their client responses. The pure functions in src/interns/run decide the next state of a
 * run; it is saved, then the effects are performed. Open responses are only in memory and end with the isolate.
 */
export class InternTurns {
  readonly #deps: TurnsDeps
  readonly #streams = new Map<string, InternStream>()
  readonly #effectDeps: EffectDeps
  readonly #hostConnected = new guards.HostEvent()
  readonly ofClients: ClientTurns
  readonly #toolCalls = new ToolCallChanges()
  #checkAt = 0
  /** The agent's message in progress. */
  #message: AcpMessage | undefined

  constructor(deps: TurnsDeps) {
    this.#deps = deps
    const { runs, log, send, now, onEnd, measure, waitUntil } = deps
    const streams = this.#streams
    const epoch = () => deps.host().epoch
    const model = () => deps.lifecycle.model
    const onRespond = (rpc: RpcId) => deps.clients.questionClosed(rpc)
    const onFinish = (run: Run, finish: Finish) => deps.clients.finished(run, finish, this.#message)
    const common = { runs, log, streams, send, onEnd, epoch, model, now, measure, waitUntil }
    this.#effectDeps = { ...common, onRespond, onFinish }
    const apply = (step: Step) => this.#apply(step)
    this.ofClients = new ClientTurns({
      log,
      standing: deps.standing,
      now,
      apply,
      nextRpc: () => this.#nextRpc(),
      admit: () => this.admit(),
    })
  }

  /** Runs with an attached client. */
  get attached(): string[] {
    return [...this.#streams.keys()]
  }

  /** Deadlines of the runs. */
  get deadlines(): number[] {
    const { runs, now } = this.#deps
    const deadlines = runs.open.map(nextDeadline).filter((at) => at !== null)
    const isWorking = runs.open.some((run) => run.state === "streaming" && isDetached(run))
    if (!isWorking) return deadlines
    // Wakes the object if its isolate ends during a turn without a response.
    if (this.#checkAt <= now()) this.#checkAt = now() + CHECK_EVERY_MS
    return [...deadlines, this.#checkAt]
  }

  /**
   * Called after an eviction: open client responses ended with the isolate, and so do their runs. Background runs
   * continue, and so do those of ACP clients, whose sockets hibernate with the object.
   */
  recover(): void {
    const { now, host, runs } = this.#deps
    this.forAll((run) => {
      if (run.state !== "streaming") return { run, effects: [] }
      if (!isDetached(run)) return machine.cancel(run, "client_closed_request", now())
      return host().isUp ? { run, effects: [] } : machine.onHostLost(run, now())
    })
    if (runs.open.length > 0 && host().isUp) host().resume?.()
  }

  forAll(move: (run: Run) => Step): void {
    for (const run of this.#deps.runs.open) this.#apply(move(run))
  }

  hostIsUp(): void {
    this.forAll(machine.onHostBack)
    this.#hostConnected.notify()
  }

  /** Continues with prompts that waited for the intern. */
  isReady(): void {
    this.#hostConnected.notify()
  }

  /** Answers a question that has a standing answer. Returns whether it had one. */
  answerAgain(news: AcpEvent): boolean {
    const run = this.#deps.runs.runOf(news)
    const step = run && this.#deps.standing.step(run, news)
    if (step) this.#apply(step)
    return step !== undefined
  }

  /** Returns whether the event belongs to a run. `message`: the source of the event. */
  onAgentEvent(news: AcpEvent, message: AcpMessage): boolean {
    const { runs, now } = this.#deps
    const run = runs.runOf(news)
    if (!run) return false
    if (news.is === "tool") {
      const entry = this.#toolCalls.entry(news)
      if (entry) this.#deps.log.add(run.session, entry)
      return true
    }
    const mayPrompt = news.is === "result" || news.is === "failure"
    this.#message = message
    try {
      this.#apply(machine.onAcpEvent(run, news, now(), mayPrompt ? runs.nextRpc() : 0))
    } finally {
      this.#message = undefined
    }
    return true
  }

  admit(): void {
    const { runs, clients, now, openRuns } = this.#deps
    guards.rateLimitTurn(runs, now())
    guards.requireCapacity(runs.open.length + clients.opening, openRuns())
  }

  async chat(call: ChatCall, signal: AbortSignal): Promise<Response> {
    const { runs, log, clients, lifecycle } = this.#deps
    if (call.is === "prompt") await this.#waitForHost()
    const existing = call.session === null ? undefined : runs.find(call.session)
    const session = existing?.id ?? call.session
    if (call.is === "answer") return this.#answer({ ...call, session }, signal)
    const open = session === null ? undefined : runs.ofSession(session)
    lifecycle.requireRunning()
    const now = this.#deps.now()
    if (open?.client) throw guards.clientBusyError(open, runs.fact("identity"))
    if (open && open.state !== "streaming") throw guards.sessionBusyError(open, now)
    if (open) {
      guards.requireSteerRoom(open, call.text)
      guards.rateLimitTurn(runs, now)
      log.add(open.session, { kind: "prompt", text: call.text })
      this.#apply(steer(open, call.text, runs.nextRpc()))
      return Response.json({ session_id: open.session, status: "steered" }, { status: 202 })
    }
    if (existing && clients.isLoading(existing.acp)) throw guards.loadingError()
    this.admit()
    if (existing) clients.release(existing.acp)
    return this.#start({ ...call, session: session ?? crypto.randomUUID() }, existing, signal)
  }

  #start(
    call: ChatCall & { is: "prompt"; session: string },
    existing: KnownRow | undefined,
    signal: AbortSignal,
  ): Response {
    const { log, host, now } = this.#deps
    const rpc = this.#nextRpc()
    const id = crypto.randomUUID()
    const { session, mode, text: prompt, isBackground = false, origin = "chat", schedule } = call
    const opening = { id, session, mode, prompt, isBackground, ...(schedule && { schedule }) }
    const stream = isBackground ? undefined : this.#attach(id, signal)
    const isLive = existing?.epoch === host().epoch
    log.prompt(session, prompt, origin)
    this.#apply(machine.startRun(opening, existing && { ...existing, isLive }, now(), rpc))
    return stream?.response ?? Response.json({ session_id: session, status: "started" }, { status: 202 })
  }

  async #answer(call: ChatCall & { is: "answer" }, signal: AbortSignal): Promise<Response> {
    const { session, question: id, content, isBackground } = call
    const { runs, log, standing, now } = this.#deps
    const late = (run: Run) => this.#apply(machine.cancel(run, "deadline", now()))
    const find = () => guards.findPending(runs, { session, id, content }, now(), late)
    find()
    await this.#waitForHost()
    const { run, reply } = find()
    if (run.client && !isBackground) throw guards.clientBusyError(run, runs.fact("identity"))
    const stream = isBackground ? undefined : this.#attach(run.id, signal)
    log.add(run.session, { kind: "answer", question_id: id, content })
    const answer = run.question ? standing.ofChat(run.session, run.question, reply) : reply
    this.#apply(machine.onAnswer(run, answer, now(), isBackground || undefined))
    return stream?.response ?? Response.json({ session_id: run.session, status: "resumed" }, { status: 202 })
  }

  #attach(run: string, signal: AbortSignal): InternStream {
    const { env, timer } = this.#deps
    const stream = new InternStream(`intern-${crypto.randomUUID()}`, {
      spelling: spellingOf(configOf(env).CLIENT_DIALECT),
      keepaliveMs: configOf(env).INTERN_KEEPALIVE_MS,
      timer: timer(),
      signal,
      onGone: () => this.#left(run, stream),
    })
    this.#streams.set(run, stream)
    return stream
  }

  #left(id: string, stream: InternStream): void {
    const { runs, now, schedule } = this.#deps
    if (this.#streams.get(id) !== stream) return
    this.#streams.delete(id)
    const run = runs.get(id)
    const isAlone = run?.state === "streaming" && !run.isBackground
    if (isAlone) this.#apply(machine.cancel(run, "client_closed_request", now()))
    schedule()
  }

  /** Cancels the turn of a session. Returns whether one was running. */
  stop(session: string): boolean {
    const { runs, now } = this.#deps
    const run = runs.ofSession(session)
    if (run) this.#apply(machine.cancel(run, "stopped", now()))
    return run !== undefined
  }

  #nextRpc(): number {
    const { runs, now } = this.#deps
    const rpc = runs.nextRpc()
    if (rpc % PRUNE_EVERY === 0) runs.prune(now())
    return rpc
  }

  async #waitForHost(): Promise<void> {
    const { lifecycle, host, timer } = this.#deps
    if (lifecycle.isBooting) await this.#hostConnected.within(LIMITS.graceMs, timer())
    lifecycle.requireRunning()
    if (host().isUp) return
    await this.#hostConnected.within(LIMITS.graceMs, timer())
    if (!host().isUp) throw guards.unreachable()
  }

  #apply({ run, effects }: Step): void {
    this.#deps.runs.save(run, this.#deps.now())
    for (const effect of effects) perform(run, effect, this.#effectDeps)
  }
}
