import { DurableObject } from "cloudflare:workers"
import { GatewayError } from "../../src/errors/errors.ts"
import type { Env } from "../../src/config/env.ts"
import {
  type ChatCall,
  CLIENT_HEADER,
  type InternRpc,
  type Place,
  PLACE_HEADER,
  toRefusal,
} from "../../src/interns/hosts/rpc.ts"
import { internError } from "../../src/interns/reasons.ts"
import { type AcpMessage, answerToStray, hear } from "../../src/interns/run/acp.ts"
import {
  answered,
  begin,
  cancel,
  heard,
  hostBack,
  hostLost,
  severed,
  steer,
  tick,
} from "../../src/interns/run/advance.ts"
import { dialectOf } from "../../src/interns/run/chunks.ts"
import { LIMITS, nextDeadline, type Run, type Step } from "../../src/interns/run/run.ts"
import { realTimer, type Timer } from "../../src/support/time.ts"
import { Alarm } from "./alarm.ts"
import { InternClients } from "./clients.ts"
import { Arrival, busyClient, busySession, countTurn, findPending, requireRoom, unreachable } from "./turn-guards.ts"
import { perform, type Reach } from "./effects.ts"
import { daemonOf, isDaemonAttached, openHost } from "./hosts.ts"
import { InternLife } from "./lifecycle.ts"
import { RunBook } from "./run-store.ts"
import { InternStream, keepaliveMsOf } from "./stream.ts"

/** One prompt in so many tidies up. */
const PRUNE_EVERY = 64

type Host = ReturnType<typeof openHost>

/**
 * One per intern: its runs, their questions and deadlines, and the host of its agent.
 *
 * It is a shell: what happens to a run is decided in src/interns/run, on rows that are loaded, and is saved before it is
 * done. Whatever a client reads along with is in memory alone, since it ends with the isolate.
 */
export class Intern extends DurableObject<Env> implements Omit<InternRpc, keyof Rpc.DurableObjectBranded> {
  /** Tests put others in their place. Epoch milliseconds. */
  static clock: () => number = Date.now
  static timer: Timer = realTimer
  static openRuns: number = LIMITS.openRuns
  readonly #book: RunBook
  readonly #life: InternLife
  readonly #clients: InternClients
  readonly #streams = new Map<string, InternStream>()
  readonly #reach: Reach
  readonly #hostArrival = new Arrival()
  #host: Host | undefined
  readonly #alarm: Alarm

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.#alarm = new Alarm(ctx.storage)
    this.#book = new RunBook(ctx.storage.sql)
    const around = { host: () => this.#hostOfLife(), now: () => Intern.clock() }
    this.#life = new InternLife(this.#book, env, {
      ...around,
      stopRuns: () => {
        this.#clients.closeAll()
        this.#forAll((run) => cancel(run, "stopped", Intern.clock()))
      },
      clear: () => this.#clear(),
    })
    this.#clients = new InternClients(ctx, this.#book, { ...around, admit: () => this.#admit() })
    this.#reach = {
      book: this.#book,
      streams: this.#streams,
      send: (message) => this.#send(message),
      epoch: () => this.#hostOfLife().epoch,
      model: () => this.#life.model,
      now: around.now,
    }
    void ctx.blockConcurrencyWhile(async () => {
      await this.#alarm.load()
      // The responses that they were read along in ended with the isolate.
      this.#forAll((run) =>
        run.state === "streaming" ? cancel(run, "client_closed_request", Intern.clock()) : { run, effects: [] },
      )
      this.#clients.recover()
      if (this.#book.open.length > 0 && this.#hostOfLife().isUp) this.#forAll(hostBack)
    })
  }

  override async fetch(request: Request): Promise<Response> {
    try {
      const { pathname } = new URL(request.url)
      if (pathname === "/chat") return await this.#chat(await request.json<ChatCall>(), request.signal)
      const grant = request.headers.get(CLIENT_HEADER) ?? ""
      if (pathname === "/client") return await this.#clients.attach(() => this.#life.requireGrant(grant))
      const host = this.#hostOf(JSON.parse(request.headers.get(PLACE_HEADER) ?? "") as Place)
      if (!("attach" in host)) throw internError("intern_rejected", "This intern's agent runs inside the gateway.")
      return host.attach()
    } catch (thrown) {
      if (thrown instanceof GatewayError) return toRefusal(thrown)
      throw thrown
    } finally {
      this.#schedule()
    }
  }

  /** Starts the agent, or applies what was changed to one that runs. Returns at once; the record tells how it goes. */
  provision(place: Place): void {
    this.#life.adopt(place)
    this.#clients.closeAll()
    this.ctx.waitUntil(this.#life.provision().finally(() => this.#schedule()))
    this.#schedule()
  }

  /** Stops the agent and cancels its runs; the disk stays. */
  async suspend(): Promise<void> {
    await this.#life.suspend()
    this.#schedule()
  }

  /** Deletes everything of the intern. Returns at once. */
  destroy(place: Place, isLossAcknowledged: boolean): void {
    this.#life.adopt(place)
    this.ctx.waitUntil(this.#life.destroy(isLossAcknowledged).finally(() => this.#schedule()))
    this.#schedule()
  }

  isDaemonAttached(place: Place): boolean {
    return isDaemonAttached(this.#hostOf(place))
  }

  /** The join token was changed: who joined with the former one is sent away. */
  revoke(place: Place): void {
    daemonOf(this.#hostOf(place))?.revoke()
  }

  /** Whatever holds secrets in memory reads them again. */
  vaultChanged(): void {
    if (this.#hostOfLife().isUp) this.#send({ method: "_intern/vault_changed", params: {} })
  }

  /** For tests: what is open, and what of it a client reads along with. */
  peek(): { open: Run[]; attached: string[]; isHostUp: boolean } {
    return { open: this.#book.open, attached: [...this.#streams.keys()], isHostUp: this.#hostOfLife().isUp }
  }

  override async alarm(): Promise<void> {
    this.#alarm.rang()
    this.#forAll((run) => tick(run, Intern.clock()))
    await this.#life.wake()
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

  /** Who has the other end of a socket. */
  #endOf(socket: WebSocket) {
    return this.#clients.has(socket) ? this.#clients : daemonOf(this.#hostOfLife())
  }

  /** One more turn, whoever asks for it. */
  #admit(): void {
    countTurn(this.#book, Intern.clock())
    requireRoom(this.#book.open.length + this.#clients.openRequests.length, Intern.openRuns)
  }

  async #chat(call: ChatCall, signal: AbortSignal): Promise<Response> {
    if (call.is === "prompt") await this.#hostUp()
    const open = call.session === null ? undefined : this.#book.ofSession(call.session)
    if (call.is === "answer") return this.#answer(call, signal)
    this.#life.requireRunning()
    const now = Intern.clock()
    if (open && open.state !== "streaming") throw busySession(open, now)
    if (open) {
      countTurn(this.#book, now)
      this.#apply(steer(open, call.text, this.#book.nextRpc()))
      return Response.json({ session_id: open.session, status: "steered" }, { status: 202 })
    }
    const known = call.session === null ? undefined : this.#book.session(call.session)
    if (known && this.#clients.isBusy(known.acp)) throw busyClient()
    this.#admit()
    const rpc = this.#book.nextRpc()
    if (rpc % PRUNE_EVERY === 0) this.#book.prune(now)
    const id = crypto.randomUUID()
    const session = call.session ?? crypto.randomUUID()
    const stream = this.#attach(id, signal)
    const isLive = known?.epoch === this.#hostOfLife().epoch
    this.#apply(begin({ id, session, mode: call.mode, prompt: call.text }, known && { ...known, isLive }, now, rpc))
    return stream.response
  }

  async #answer(
    { session, question: id, content }: ChatCall & { is: "answer" },
    signal: AbortSignal,
  ): Promise<Response> {
    const late = (run: Run) => this.#apply(cancel(run, "deadline", Intern.clock()))
    const find = () => findPending(this.#book, { session, id, content }, Intern.clock(), late)
    find()
    await this.#hostUp()
    const { run, reply } = find()
    const stream = this.#attach(run.id, signal)
    this.#apply(answered(run, reply, Intern.clock()))
    return stream.response
  }

  #attach(run: string, signal: AbortSignal): InternStream {
    const stream = new InternStream(`intern-${crypto.randomUUID()}`, {
      dialect: dialectOf(this.env.CLIENT_DIALECT),
      keepaliveMs: keepaliveMsOf(this.env.INTERN_KEEPALIVE_MS),
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
    const run = this.#book.get(id)
    if (run?.state === "streaming") this.#apply(cancel(run, "client_closed_request", Intern.clock()))
    this.#schedule()
  }

  /** Waits a little for a host that is away. */
  async #hostUp(): Promise<void> {
    this.#life.requireRunning()
    if (this.#hostOfLife().isUp) return
    await this.#hostArrival.within(LIMITS.graceMs, Intern.timer)
    if (!this.#hostOfLife().isUp) throw unreachable()
  }

  #hostOf(place: Place): Host {
    this.#life.adopt(place)
    return this.#hostOfLife()
  }

  #hostOfLife(): Host {
    this.#host ??= openHost(this.#life.place, this.ctx, this.env, this.#book, {
      message: (message) => this.#heard(message),
      up: () => this.#hostIsUp(),
      gone: () => {
        this.#forAll(severed)
        this.#clients.gone()
      },
      down: () => {
        this.#forAll((run) => hostLost(run, Intern.clock()))
        this.#schedule()
      },
    })
    return this.#host
  }

  #hostIsUp(): void {
    this.#forAll(hostBack)
    this.#hostArrival.tell()
    this.ctx.waitUntil(this.#life.hostIsUp().finally(() => this.#schedule()))
  }

  #heard(message: AcpMessage): void {
    const news = hear(message)
    const run = this.#book.hearing(news)
    const mayAsk = news.is === "result" || news.is === "failure"
    if (run) this.#apply(heard(run, news, Intern.clock(), mayAsk ? this.#book.nextRpc() : 0))
    else if (!this.#clients.heard(message)) {
      const answer = answerToStray(news)
      if (answer) this.#send(answer)
    }
    this.#schedule()
  }

  #send(message: Omit<AcpMessage, "jsonrpc">): void {
    this.#hostOfLife().send({ jsonrpc: "2.0", ...message })
  }

  #forAll(move: (run: Run) => Step): void {
    for (const run of this.#book.open) this.#apply(move(run))
  }

  #apply({ run, effects }: Step): void {
    this.#book.save(run, Intern.clock())
    for (const effect of effects) perform(run, effect, this.#reach)
  }

  #schedule(): void {
    const due = [...this.#book.open.map(nextDeadline), this.#life.wakeAt].filter((at) => at !== null)
    this.#alarm.set(due.length === 0 ? null : Math.min(...due))
  }

  async #clear(): Promise<void> {
    this.#forAll(severed)
    this.#alarm.set(null)
    this.#host = undefined
    await this.ctx.storage.deleteAll()
    this.#book.reset()
    this.#clients.reset()
  }
}
