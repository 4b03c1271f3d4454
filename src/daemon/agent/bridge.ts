import type { AnyMessage, AnyNotification, AnyRequest } from "@agentclientprotocol/sdk"
import { type Agent, type RpcError, RpcFailure } from "./agent-process.ts"
import { type AgentTraits, ClientRequests } from "./client-requests.ts"
import { openSession, type SessionSettings } from "./sessions.ts"
import { toFrames } from "./to-frames.ts"
import type { TargetState } from "../host.ts"
import { promptOf, runPrompts, sessionOf, steer, type Prompt, type Run } from "../run.ts"

export type BridgeDeps = AgentTraits &
  SessionSettings & {
    toGateway: (message: AnyMessage) => void
    startAgent: (handlers: {
      onMessage: (message: AnyMessage) => void
      onExit: (code: number | null) => void
    }) => Promise<Agent>
    /** Moves the agent's folder to the archive, or deletes it. */
    destroy: () => Promise<void>
    onVaultChanged: () => Promise<void>
    /** Ends the epoch: open requests of the agent are lost. */
    renew: () => Promise<void>
    log: (text: string) => void
  }

const INITIAL_DELAY_MS = 1_000
const MAX_DELAY_MS = 60_000
/** An agent that exits after this time did not fail to start. */
const STEADY_MS = 60_000
const NO_SUCH_METHOD = -32_601
const FAILED = -32_603
const NO_RUN = -32_001

/** Methods that the agent may send to the client. Files and terminals are the agent's own. */
const REQUESTS_TO_CLIENT = new Set(["session/request_permission", "elicitation/create"])
const NOTIFICATIONS_TO_CLIENT = new Set(["session/update", "elicitation/complete", "$/cancel_request"])
const OF_SESSIONS = new Set(["session/new", "session/load", "session/resume"])

/** Connects gateway and agent: forwards ACP messages and handles the `_intern/` requests to the daemon. */
export class Bridge {
  readonly #deps: BridgeDeps
  readonly #runs = new Map<string, Run>()
  readonly #requests: ClientRequests
  /** Counts epochs: a request of an earlier epoch gets no response in a later one. */
  #epoch = 0
  #agent: Promise<Agent> | undefined
  #ready: Agent | undefined
  /** Whether this epoch already had an agent. */
  #isSpent = false
  /** Consecutive failed starts and exits. */
  #failures = 0
  #restart: ReturnType<typeof setTimeout> | undefined
  #order: Promise<void> = Promise.resolve()

  constructor(deps: BridgeDeps) {
    this.#deps = deps
    this.#requests = new ClientRequests(deps, (request) => this.#send(request))
  }

  /**
   * Handles messages one at a time, in order: a prompt waits for the agent, and a cancellation for the prompt.
   */
  fromGateway(message: AnyMessage): void {
    this.#order = this.#order.then(() => this.#take(message)).catch((thrown) => this.#deps.log(String(thrown)))
  }

  /** Called after a welcome: starts, stops or restarts the agent as requested by the gateway. */
  async settle(target: TargetState): Promise<void> {
    if (target === "stopped") return this.stopAgent()
    if (this.#agent && target === "running") return this.#ready && this.#sendReady(this.#ready)
    await this.stopAgent()
    // Another agent needs another epoch, whose welcome calls this method again.
    if (this.#isSpent) return this.#renew()
    this.#startSoon()
  }

  async stopAgent(): Promise<void> {
    clearTimeout(this.#restart)
    this.#requests.drop()
    const stopping = this.#agent
    this.#agent = undefined
    if (this.#ready) this.#isSpent = true
    this.#ready = undefined
    await stopping?.then((agent) => agent.stop()).catch(() => {})
  }

  /** The gateway has lost the state of this epoch, so the agent is stopped as well. */
  async lost(): Promise<void> {
    this.#epoch += 1
    this.#runs.clear()
    const stopped = this.stopAgent()
    this.#isSpent = false
    await stopped
  }

  /** The agent of this epoch; starts it if there is none. */
  #running(): Promise<Agent> {
    if (this.#isSpent) return Promise.reject(failure(FAILED, "The agent was stopped."))
    clearTimeout(this.#restart)
    this.#agent ??= this.#start()
    return this.#agent
  }

  /** Starts the agent: at once the first time, then with exponential backoff. */
  #startSoon(): void {
    const delay = this.#failures < 2 ? 0 : Math.min(MAX_DELAY_MS, INITIAL_DELAY_MS * 2 ** (this.#failures - 2))
    clearTimeout(this.#restart)
    this.#restart = setTimeout(() => {
      this.#running().catch((thrown: unknown) => {
        this.#deps.log(errorOf(thrown).message)
        this.#startSoon()
      })
    }, delay)
  }

  async #start(): Promise<Agent> {
    const { startAgent } = this.#deps
    const startedAt = Date.now()
    const starting: Promise<Agent> = startAgent({
      onMessage: (message) => this.#fromAgent(message),
      onExit: (code) => this.#exited(code, startedAt),
    })
    try {
      const agent = await starting
      // The agent may have been stopped before its start completed.
      if (this.#isStarting()) {
        this.#ready = agent
        this.#sendReady(agent)
      }
      return agent
    } catch (thrown) {
      this.#failures += 1
      this.#agent = undefined
      this.#notify("_intern/agent_exited", { code: null, message: errorOf(thrown).message })
      throw thrown
    }
  }

  #isStarting(): boolean {
    return this.#agent !== undefined && this.#ready === undefined
  }

  #sendReady({ name, version, loadSession, steering }: Agent): void {
    this.#notify("_intern/ready", { agent: { name, version }, loadSession, steering })
  }

  #exited(code: number | null, startedAt: number): void {
    this.#failures = Date.now() - startedAt < STEADY_MS ? this.#failures + 1 : 1
    this.#agent = undefined
    this.#ready = undefined
    this.#isSpent = true
    this.#requests.drop()
    // Runs after the failures of its pending requests, which settle when it has exited.
    setImmediate(() => {
      const message = `The agent exited with code ${code ?? "none: a signal ended it"}.`
      this.#notify("_intern/agent_exited", { code, message })
      void this.#renew()
    })
  }

  async #renew(): Promise<void> {
    await this.#deps.renew()
    this.#isSpent = false
  }

  async #take(message: AnyMessage): Promise<void> {
    if (!("method" in message)) {
      const agent = await this.#agent?.catch(() => undefined)
      return agent?.send(message)
    }
    if ("id" in message) return this.#onRequest(message)
    await this.#onNotification(message)
  }

  async #onNotification({ method, params }: AnyNotification): Promise<void> {
    if (method === "_intern/vault_changed") {
      // Not awaited: a cancellation may follow in the queue.
      return void this.#deps.onVaultChanged().catch((thrown: unknown) => this.#deps.log(String(thrown)))
    }
    if (method === "session/cancel") {
      const run = this.#runs.get(sessionOf(params))
      if (run) Object.assign(run, { isCancelled: true, queue: [] })
    }
    const agent = await this.#agent?.catch(() => undefined)
    agent?.send({ jsonrpc: "2.0", method, params })
  }

  /** Settles when the request has been forwarded, without waiting for its response. */
  async #onRequest(request: AnyRequest): Promise<void> {
    const { method } = request
    switch (method) {
      case "_intern/steer":
        return void this.#reply(request, this.#steer(request))
      case "_intern/shutdown":
        return this.#reply(
          request,
          this.stopAgent().then(() => ({})),
        )
      case "_intern/destroy":
        return this.#reply(request, this.#destroy())
    }
    if (!method.startsWith("session/")) return this.#reply(request, Promise.reject(unknownMethod(method)))
    let agent: Agent
    try {
      agent = await this.#running()
    } catch (thrown) {
      return this.#reply(request, Promise.reject(thrown))
    }
    void this.#reply(request, this.#requestAgent(agent, request))
  }

  async #requestAgent(agent: Agent, { method, params }: AnyRequest): Promise<unknown> {
    if (method === "session/prompt") return this.#prompt(agent, promptOf(params))
    return OF_SESSIONS.has(method) ? openSession(agent, { method, params }, this.#deps) : agent.request(method, params)
  }

  async #prompt(agent: Agent, prompt: Prompt): Promise<unknown> {
    const { sessionId } = prompt
    if (this.#runs.has(sessionId)) throw failure(FAILED, "A prompt of this session is running: steer it.")
    const run: Run = { queue: [], isCancelled: false }
    this.#runs.set(sessionId, run)
    try {
      return await runPrompts(agent, prompt, run)
    } finally {
      if (this.#runs.get(sessionId) === run) this.#runs.delete(sessionId)
    }
  }

  async #steer({ params }: AnyRequest): Promise<unknown> {
    const prompt = promptOf(params)
    const run = this.#runs.get(prompt.sessionId)
    const agent = await this.#agent
    const isRunning = () => this.#runs.get(prompt.sessionId) === run && run?.isCancelled === false
    const outcome = run && agent ? await steer(agent, prompt, run, isRunning) : undefined
    if (outcome === undefined) throw failure(NO_RUN, "No prompt of this session is running.")
    return { outcome }
  }

  /** Stops the agent and deletes its folder, archived first if the daemon has an archive. */
  async #destroy(): Promise<unknown> {
    await this.stopAgent()
    await this.#deps.destroy()
    return { archived: true }
  }

  #fromAgent(message: AnyMessage): void {
    if (!("method" in message)) return
    const { method } = message
    if (!("id" in message)) {
      if (NOTIFICATIONS_TO_CLIENT.has(method)) this.#send(message)
      return this.#requests.onUpdate(message)
    }
    if (REQUESTS_TO_CLIENT.has(method)) return this.#requests.pass(message)
    const error = unknownMethod(method).error
    void this.#agent?.then((agent) => agent.send({ jsonrpc: "2.0", id: message.id, error }))
  }

  async #reply({ id }: AnyRequest, response: Promise<unknown>): Promise<void> {
    const epoch = this.#epoch
    const outcome = await response.then(
      (result) => ({ result }),
      (thrown: unknown) => ({ error: errorOf(thrown) }),
    )
    if (epoch === this.#epoch) this.#send({ jsonrpc: "2.0", id, ...outcome })
  }

  #notify(method: string, params: unknown): void {
    this.#send({ jsonrpc: "2.0", method, params })
  }

  #send(message: AnyMessage): void {
    const { send, rejection } = toFrames(message)
    for (const each of send) this.#deps.toGateway(each)
    if (rejection) void this.#agent?.then((agent) => agent.send(rejection))
    if (send.length === 0) this.#deps.log("a message of the agent was too large for the gateway, and is lost")
  }
}

function failure(code: number, message: string): RpcFailure {
  return new RpcFailure({ code, message })
}

function unknownMethod(method: string): RpcFailure {
  return failure(NO_SUCH_METHOD, `Method not found: ${method}`)
}

function errorOf(thrown: unknown): RpcError {
  if (thrown instanceof RpcFailure) return thrown.error
  return { code: FAILED, message: thrown instanceof Error ? thrown.message : String(thrown) }
}
