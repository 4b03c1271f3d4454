import { DurableObject } from "cloudflare:workers"
import { GatewayError } from "../../src/errors/errors.ts"
import { configOf } from "../../src/config/config.ts"
import type { Env } from "../../src/config/env.ts"
import * as rpc from "../../src/interns/hosts/rpc.ts"
import { internError } from "../../src/interns/reasons.ts"
import { type AcpMessage, replyToUnknownRequest, parseAcp } from "../../src/interns/run/acp.ts"
import * as machine from "../../src/interns/run/advance.ts"
import { spellingOf } from "../../src/interns/run/chunks.ts"
import { LIMITS, nextDeadline, type Run, type Step } from "../../src/interns/run/run.ts"
import { realTimer, type Timer } from "../../src/support/time.ts"
import { Alarm } from "./alarm.ts"
import { InternClients } from "./clients.ts"
import * as guards from "./turn-guards.ts"
import { perform, type EffectDeps } from "./effects.ts"
import { daemonOf, isDaemonAttached, openHost } from "./hosts.ts"
import { InternLifecycle } from "./lifecycle.ts"
import { listQuestions } from "./question-list.ts"
import { RunStore } from "./run-store.ts"
import { InternStream } from "./stream.ts"

const PRUNE_EVERY = 64

type Host = ReturnType<typeof openHost>

/**
 * Durable Object of one intern: its runs, their questions and deadlines, and the host of its agent. The pure functions
 * in src/interns/run decide what happens to a run; the object saves the run, then performs the effects. Open response
 * streams are only in memory, since they end with the isolate.
 */
export class Intern extends DurableObject<Env> implements Omit<rpc.InternRpc, keyof Rpc.DurableObjectBranded> {
  /** Tests put others in their place. Epoch milliseconds. */
  static clock: () => number = Date.now
  static timer: Timer = realTimer
  static openRuns: number = LIMITS.openRuns
  readonly #runs: RunStore
  readonly #lifecycle: InternLifecycle
  readonly #clients: InternClients
  readonly #streams = new Map<string, InternStream>()
  readonly #effectDeps: EffectDeps
  readonly #hostConnected = new guards.HostEvent()
  #host: Host | undefined
  readonly #alarm: Alarm

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.#alarm = new Alarm(ctx.storage)
    this.#runs = new RunStore(ctx.storage.sql, listQuestions(ctx, env))
    const around = { host: () => this.#currentHost(), now: () => Intern.clock() }
    this.#lifecycle = new InternLifecycle(this.#runs, env, {
      ...around,
      stopRuns: () => {
        this.#clients.closeAll()
        this.#forAll((run) => machine.cancel(run, "stopped", Intern.clock()))
      },
      clear: () => this.#clear(),
    })
    this.#clients = new InternClients(ctx, this.#runs, { ...around, admit: () => this.#admit() })
    this.#effectDeps = {
      runs: this.#runs,
      streams: this.#streams,
      send: (message) => this.#send(message),
      epoch: () => this.#currentHost().epoch,
      model: () => this.#lifecycle.model,
      now: around.now,
    }
    void ctx.blockConcurrencyWhile(async () => {
      await this.#alarm.load()
      // The responses that they were read along in ended with the isolate.
      this.#forAll((run) =>
        run.state === "streaming" ? machine.cancel(run, "client_closed_request", Intern.clock()) : { run, effects: [] },
      )
      this.#clients.recover()
      if (this.#runs.open.length > 0 && this.#currentHost().isUp) this.#forAll(machine.onHostBack)
    })
  }

  override async fetch(request: Request): Promise<Response> {
    try {
      const { pathname } = new URL(request.url)
      if (pathname === "/chat") return await this.#chat(await request.json<rpc.ChatCall>(), request.signal)
      const grant = request.headers.get(rpc.CLIENT_HEADER) ?? ""
      if (pathname === "/client") return await this.#clients.attach(() => this.#lifecycle.requireGrant(grant))
      const host = this.#hostOf(JSON.parse(request.headers.get(rpc.PLACE_HEADER) ?? "") as rpc.InternIdentity)
      if (!("attach" in host)) throw internError("intern_rejected", "This intern's agent runs inside the gateway.")
      return host.attach()
    } catch (thrown) {
      if (thrown instanceof GatewayError) return rpc.toRejection(thrown)
      throw thrown
    } finally {
      this.#schedule()
    }
  }

  /** Starts the agent, or applies changes to a running one. Returns at once; the row in D1 shows the progress. */
  provision(identity: rpc.InternIdentity): void {
    this.#lifecycle.setIdentity(identity)
    this.#clients.closeAll()
    this.ctx.waitUntil(this.#lifecycle.provision().finally(() => this.#schedule()))
    this.#schedule()
  }

  /** Stops the agent and cancels its runs. Keeps the disk. */
  async suspend(): Promise<void> {
    await this.#lifecycle.suspend()
    this.#schedule()
  }

  /** Deletes everything of the intern. Returns at once. */
  destroy(identity: rpc.InternIdentity, isLossAcknowledged: boolean): void {
    this.#lifecycle.setIdentity(identity)
    this.ctx.waitUntil(this.#lifecycle.destroy(isLossAcknowledged).finally(() => this.#schedule()))
    this.#schedule()
  }

  isDaemonAttached(identity: rpc.InternIdentity): boolean {
    return isDaemonAttached(this.#hostOf(identity))
  }

  /** The join token was changed: who joined with the former one is sent away. */
  revoke(identity: rpc.InternIdentity): void {
    daemonOf(this.#hostOf(identity))?.revoke()
  }

  /** Hosts that hold secrets in memory read them again. */
  vaultChanged(): void {
    if (this.#currentHost().isUp) this.#send({ method: "_intern/vault_changed", params: {} })
  }

  /** For tests: open runs, and those with an attached client. */
  peek(): { open: Run[]; attached: string[]; isHostUp: boolean } {
    return { open: this.#runs.open, attached: [...this.#streams.keys()], isHostUp: this.#currentHost().isUp }
  }

  override async alarm(): Promise<void> {
    this.#alarm.rang()
    this.#forAll((run) => machine.tick(run, Intern.clock()))
    await this.#lifecycle.wake()
    this.#schedule()
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    this.#endOf(socket)?.frame(socket, message)
    this.#schedule()
  }

  override webSocketClose(socket: WebSocket): void {
    this.#endOf(socket)?.closed(socket)
    this.#schedule()
  }

  override webSocketError(socket: WebSocket): void {
    this.webSocketClose(socket)
  }

  #endOf(socket: WebSocket) {
    return this.#clients.has(socket) ? this.#clients : daemonOf(this.#currentHost())
  }

  #admit(): void {
    guards.rateLimitTurn(this.#runs, Intern.clock())
    guards.requireCapacity(this.#runs.open.length + this.#clients.openRequests.length, Intern.openRuns)
  }

  async #chat(call: rpc.ChatCall, signal: AbortSignal): Promise<Response> {
    if (call.is === "prompt") await this.#waitForHost()
    const open = call.session === null ? undefined : this.#runs.ofSession(call.session)
    if (call.is === "answer") return this.#answer(call, signal)
    this.#lifecycle.requireRunning()
    const now = Intern.clock()
    if (open && open.state !== "streaming") throw guards.sessionBusyError(open, now)
    if (open) {
      guards.rateLimitTurn(this.#runs, now)
      this.#apply(machine.steer(open, call.text, this.#runs.nextRpc()))
      return Response.json({ session_id: open.session, status: "steered" }, { status: 202 })
    }
    const known = call.session === null ? undefined : this.#runs.session(call.session)
    if (known && this.#clients.isBusy(known.acp)) throw guards.clientBusyError()
    this.#admit()
    const rpc = this.#runs.nextRpc()
    if (rpc % PRUNE_EVERY === 0) this.#runs.prune(now)
    const id = crypto.randomUUID()
    const session = call.session ?? crypto.randomUUID()
    const stream = this.#attach(id, signal)
    const isLive = known?.epoch === this.#currentHost().epoch
    this.#apply(
      machine.startRun({ id, session, mode: call.mode, prompt: call.text }, known && { ...known, isLive }, now, rpc),
    )
    return stream.response
  }

  async #answer(
    { session, question: id, content }: rpc.ChatCall & { is: "answer" },
    signal: AbortSignal,
  ): Promise<Response> {
    const late = (run: Run) => this.#apply(machine.cancel(run, "deadline", Intern.clock()))
    const find = () => guards.findPending(this.#runs, { session, id, content }, Intern.clock(), late)
    find()
    await this.#waitForHost()
    const { run, reply } = find()
    const stream = this.#attach(run.id, signal)
    this.#apply(machine.onAnswer(run, reply, Intern.clock()))
    return stream.response
  }

  #attach(run: string, signal: AbortSignal): InternStream {
    const stream = new InternStream(`intern-${crypto.randomUUID()}`, {
      spelling: spellingOf(configOf(this.env).CLIENT_DIALECT),
      keepaliveMs: configOf(this.env).INTERN_KEEPALIVE_MS,
      timer: Intern.timer,
      signal,
      onGone: () => this.#left(run, stream),
    })
    this.#streams.set(run, stream)
    return stream
  }

  #left(id: string, stream: InternStream): void {
    if (this.#streams.get(id) !== stream) return
    this.#streams.delete(id)
    const run = this.#runs.get(id)
    if (run?.state === "streaming") this.#apply(machine.cancel(run, "client_closed_request", Intern.clock()))
    this.#schedule()
  }

  async #waitForHost(): Promise<void> {
    this.#lifecycle.requireRunning()
    if (this.#currentHost().isUp) return
    await this.#hostConnected.within(LIMITS.graceMs, Intern.timer)
    if (!this.#currentHost().isUp) throw guards.unreachable()
  }

  #hostOf(identity: rpc.InternIdentity): Host {
    this.#lifecycle.setIdentity(identity)
    return this.#currentHost()
  }

  #currentHost(): Host {
    const deps = { ctx: this.ctx, env: this.env, runs: this.#runs }
    this.#host ??= openHost(this.#lifecycle.identity, deps, {
      message: (message) => this.#onAgentMessage(message),
      up: () => this.#hostIsUp(),
      gone: () => {
        this.#forAll(machine.severed)
        this.#clients.gone()
      },
      down: () => {
        this.#forAll((run) => machine.onHostLost(run, Intern.clock()))
        this.#schedule()
      },
    })
    return this.#host
  }

  #hostIsUp(): void {
    this.#forAll(machine.onHostBack)
    this.#hostConnected.notify()
    this.ctx.waitUntil(this.#lifecycle.hostIsUp().finally(() => this.#schedule()))
  }

  #onAgentMessage(message: AcpMessage): void {
    const news = parseAcp(message)
    const run = this.#runs.runOf(news)
    const mayAsk = news.is === "result" || news.is === "failure"
    if (run) this.#apply(machine.onAcpEvent(run, news, Intern.clock(), mayAsk ? this.#runs.nextRpc() : 0))
    else if (!this.#clients.onAgentMessage(message)) {
      const answer = replyToUnknownRequest(news)
      if (answer) this.#send(answer)
    }
    this.#schedule()
  }

  #send(message: Omit<AcpMessage, "jsonrpc">): void {
    this.#currentHost().send({ jsonrpc: "2.0", ...message })
  }

  #forAll(move: (run: Run) => Step): void {
    for (const run of this.#runs.open) this.#apply(move(run))
  }

  #apply({ run, effects }: Step): void {
    this.#runs.save(run, Intern.clock())
    for (const effect of effects) perform(run, effect, this.#effectDeps)
  }

  #schedule(): void {
    const due = [...this.#runs.open.map(nextDeadline), this.#lifecycle.wakeAt].filter((at) => at !== null)
    this.#alarm.set(due.length === 0 ? null : Math.min(...due))
  }

  async #clear(): Promise<void> {
    this.#forAll(machine.severed)
    this.#alarm.set(null)
    this.#host = undefined
    await this.ctx.storage.deleteAll()
    this.#runs.reset()
    this.#clients.reset()
  }
}
