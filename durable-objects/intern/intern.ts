import { GatewayError } from "../../src/errors/errors.ts"
import type { Env } from "../../src/config/env.ts"
import { requireActive } from "../../src/interns/access/access.ts"
import { findIntern } from "../../src/interns/store.ts"
import * as rpc from "../../src/interns/hosts/rpc.ts"
import { internError } from "../../src/interns/lifecycle/reasons.ts"
import { type AcpMessage, replyToUnknownRequest, parseAcp } from "../../src/interns/run/acp/acp.ts"
import * as machine from "../../src/interns/run/advance.ts"
import { isDetached, LIMITS, type Run } from "../../src/interns/run/run.ts"
import { ToolCalls } from "../../src/interns/run/tool-calls.ts"
import { realTimer, type RaceTimer } from "../../src/support/time/time.ts"
import { Alarm } from "./alarm.ts"
import { InternClients } from "./clients/clients.ts"
import { daemonOf, isDaemonAttached, openHost } from "./hosts.ts"
import { InternLifecycle } from "./lifecycle.ts"
import { InternRecords } from "./records.ts"
import { InternTurns } from "./turns/turns.ts"

type Host = ReturnType<typeof openHost>

/**
 * Durable Object of one intern: its lifecycle, the host of its agent, and the sockets of the daemon and of ACP clients.
 * Its runs are in turns.ts.
 */
export class Intern extends InternRecords implements Omit<rpc.InternRpc, keyof Rpc.DurableObjectBranded> {
  /** Replaced in tests. Epoch milliseconds. */
  static clock: () => number = Date.now
  static timer: RaceTimer = realTimer
  static openRuns: number = LIMITS.openRuns
  readonly #lifecycle: InternLifecycle
  readonly #clients: InternClients
  readonly #turns: InternTurns
  readonly #toolCalls = new ToolCalls()
  #host: Host | undefined
  readonly #alarm: Alarm

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.#alarm = new Alarm(ctx.storage)
    const shared = { host: () => this.#currentHost(), now: () => Intern.clock() }
    this.#lifecycle = new InternLifecycle(this.runs, env, {
      ...shared,
      stopRuns: () => {
        this.#clients.closeAll()
        this.#turns.forAll((run) => machine.cancel(run, "stopped", Intern.clock()))
      },
      onRunning: () => this.#turns.isReady(),
      clear: () => this.#clear(),
    })
    this.#clients = new InternClients(ctx, this.runs, this.log, { ...shared, turns: () => this.#turns.ofClients })
    this.#turns = new InternTurns({
      env,
      runs: this.runs,
      log: this.log,
      standing: this.standing,
      lifecycle: this.#lifecycle,
      clients: this.#clients,
      ...shared,
      timer: () => Intern.timer,
      openRuns: () => Intern.openRuns,
      send: (message) => this.#send(message),
      schedule: () => this.schedule(),
      onEnd: (run, error, isCounted) => this.turnEnded(run, error, isCounted),
      measure: (run) => this.meter.measure(run),
      waitUntil: (work) => ctx.waitUntil(work),
    })
    void ctx.blockConcurrencyWhile(async () => {
      await this.#alarm.load()
      this.#turns.recover()
      this.#clients.recover()
      this.recoverRecords()
      if (this.runs.open.length > 0 && this.#currentHost().isUp) this.#turns.forAll(machine.onHostBack)
    })
  }

  override async fetch(request: Request): Promise<Response> {
    try {
      const { pathname } = new URL(request.url)
      if (pathname === "/chat") return await this.#turns.chat(await request.json<rpc.ChatCall>(), request.signal)
      const grant = request.headers.get(rpc.CLIENT_HEADER) ?? ""
      if (pathname === "/client") return await this.#clients.attach(() => this.#lifecycle.requireGrant(grant))
      const identity = JSON.parse(request.headers.get(rpc.IDENTITY_HEADER) ?? "") as rpc.InternIdentity
      const host = this.#hostOf(identity)
      if (!("attach" in host)) throw internError("intern_rejected", "This intern's agent runs inside the gateway.")
      return host.attach(identity.apiBase)
    } catch (thrown) {
      if (thrown instanceof GatewayError) return rpc.toRejection(thrown)
      throw thrown
    } finally {
      this.schedule()
    }
  }

  /** Starts the agent, or applies changes to a running one. Returns at once; the row in D1 shows the progress. */
  provision(identity: rpc.InternIdentity): void {
    this.#lifecycle.setIdentity(identity)
    this.#clients.closeAll()
    this.ctx.waitUntil(this.#lifecycle.provision().finally(() => this.schedule()))
    this.schedule()
  }

  /** Stops the agent and cancels its runs. Keeps the disk. */
  async suspend(): Promise<void> {
    await this.#lifecycle.suspend()
    this.schedule()
  }

  /** Deletes all data of the intern. Returns at once. */
  destroy(identity: rpc.InternIdentity, isLossAcknowledged: boolean): void {
    this.#lifecycle.setIdentity(identity)
    this.ctx.waitUntil(this.#lifecycle.destroy(isLossAcknowledged).finally(() => this.schedule()))
    this.schedule()
  }

  isDaemonAttached(identity: rpc.InternIdentity): boolean {
    return isDaemonAttached(this.#hostOf(identity))
  }

  /** Called when the join token changed: disconnects daemons that used the previous one. */
  revoke(identity: rpc.InternIdentity): void {
    daemonOf(this.#hostOf(identity))?.revoke()
  }

  /** Called when the agent's container exited by itself. */
  async containerEnded(exitCode: number): Promise<void> {
    await this.#lifecycle.hostEnded(`The container exited by itself with code ${exitCode}. Read its log.`)
    this.schedule()
  }

  /** Hosts that hold secrets in memory read them again. */
  vaultChanged(): void {
    if (this.#currentHost().isUp) this.#send({ method: "_intern/vault_changed", params: {} })
  }

  /** For tests: open runs, and those with an attached client. */
  peek(): { open: Run[]; attached: string[]; isHostUp: boolean } {
    return { open: this.runs.open, attached: this.#turns.attached, isHostUp: this.#currentHost().isUp }
  }

  override async alarm(): Promise<void> {
    this.#alarm.fired()
    this.#turns.forAll((run) => machine.tick(run, Intern.clock()))
    await this.#lifecycle.wake()
    await this.runRecords()
    this.schedule()
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void {
    this.#endOf(socket)?.frame(socket, message)
    this.schedule()
  }

  override webSocketClose(socket: WebSocket): void {
    this.#endOf(socket)?.closed(socket)
    this.schedule()
  }

  override webSocketError(socket: WebSocket): void {
    this.webSocketClose(socket)
  }

  #endOf(socket: WebSocket) {
    return this.#clients.has(socket) ? this.#clients : daemonOf(this.#currentHost())
  }

  protected now(): number {
    return Intern.clock()
  }

  protected async startTurn(call: rpc.ChatCall): Promise<Response> {
    const { identity } = this.#lifecycle
    const row = identity && (await findIntern(this.env.DB, identity, identity.id))
    if (!row) throw internError("not_found", "The intern no longer exists.")
    await requireActive(this.env, row)
    return this.#turns.chat(call, new AbortController().signal)
  }

  protected stopTurn(session: string): boolean {
    return this.#turns.stop(session)
  }

  #hostOf(identity: rpc.InternIdentity): Host {
    this.#lifecycle.setIdentity(identity)
    return this.#currentHost()
  }

  #currentHost(): Host {
    const contextOf = (acp: string) => this.contextOfSession(acp)
    const deps = { ctx: this.ctx, env: this.env, runs: this.runs, contextOf }
    this.#host ??= openHost(this.#lifecycle.identity, deps, {
      message: (message) => this.#onAgentMessage(message),
      up: () => this.#hostIsUp(),
      failed: (text) => this.ctx.waitUntil(this.#lifecycle.agentFailed(text)),
      gone: () => {
        this.#turns.forAll(machine.connectionLost)
        this.#clients.gone()
      },
      down: () => {
        this.#turns.forAll((run) => machine.onHostLost(run, Intern.clock()))
        this.schedule()
      },
    })
    return this.#host
  }

  #hostIsUp(): void {
    this.#turns.hostIsUp()
    this.ctx.waitUntil(this.#lifecycle.hostIsUp().finally(() => this.schedule()))
  }

  #onAgentMessage(received: AcpMessage): void {
    const message = this.#toolCalls.complete(received)
    const news = parseAcp(message)
    if (this.#turns.answerAgain(news)) return this.schedule()
    // A client must receive the messages of its turn before the end of the turn.
    const isShown = this.#clients.onAgentMessage(message)
    const isForm = news.is === "elicitation" && this.runs.runOf(news)?.client
    // A form that the client of a turn cannot show is not answered.
    const isOfRun = !(isForm && !isShown) && this.#turns.onAgentEvent(news, message)
    if (!isOfRun && !isShown) {
      const response = replyToUnknownRequest(news)
      if (response) this.#send(response)
    }
    // An embedded agent repeats unfinished steps, and an open response keeps the object awake.
    if (daemonOf(this.#currentHost()) && this.runs.open.some(isDetached)) this.log.store()
    this.schedule()
  }

  #send(message: Omit<AcpMessage, "jsonrpc">): void {
    this.#currentHost().send({ jsonrpc: "2.0", ...message })
  }

  protected schedule(): void {
    const { deadlines } = this.#turns
    const dueTimes = [...deadlines, this.#lifecycle.wakeAt, ...this.recordsDue].filter((at) => at !== null)
    this.#alarm.set(dueTimes.length === 0 ? null : Math.min(...dueTimes))
  }

  async #clear(): Promise<void> {
    this.#turns.forAll(machine.connectionLost)
    this.#alarm.set(null)
    this.#host = undefined
    await this.ctx.storage.deleteAll()
    this.runs.reset()
    this.resetRecords()
    this.#clients.reset()
  }
}
