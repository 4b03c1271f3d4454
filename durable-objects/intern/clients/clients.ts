import { GatewayError } from "../../../src/errors/errors.ts"
import {
  CLIENT_CLOSE,
  CLIENT_LIMITS,
  type ClientFrame,
  initializeResult,
  readClientFrame,
  RPC_ERRORS,
  showsForms,
} from "../../../src/interns/hosts/client-frames.ts"
import { isConversation } from "../../../src/interns/hosts/client-sessions.ts"
import type { InternHost } from "../../../src/interns/hosts/host.ts"
import { internError } from "../../../src/interns/lifecycle/reasons.ts"
import type { AcpMessage, RpcId } from "../../../src/interns/run/acp/acp.ts"
import { record } from "../../../src/interns/run/acp/acp-values.ts"
import type { Finish, Run } from "../../../src/interns/run/run.ts"
import { ClientSessionAccess, type LoadableSession, type Rejection } from "./client-session-access.ts"
import { ClientQuestions } from "./client-questions.ts"
import { type ClientRequest, ClientStore } from "./client-store.ts"
import { type Client, clientOf, ClientSockets } from "./client-sockets.ts"
import type { ClientTurns } from "./client-turns.ts"
import type { RunStore } from "../run-store.ts"
import type { SessionLog } from "../sessions/session-log.ts"

type TurnDeps = { host: () => InternHost; now: () => number; turns: () => ClientTurns }

type Request = ClientFrame & { is: "request" }
type Notice = ClientFrame & { is: "notice" }

/**
 * Routes ACP between clients and the host of an agent. Sessions are shared with chats; a session belongs to the client
 * that opened or loaded it last, until a chat or another client uses it.
 */
export class InternClients {
  readonly #runs: RunStore
  readonly #store: ClientStore
  readonly #sessionAccess: ClientSessionAccess
  readonly #questions: ClientQuestions
  readonly #sockets: ClientSockets
  readonly #around: TurnDeps
  /** Loads whose session the agent has not replayed yet. In memory, because the replay follows at once. */
  readonly #silentLoads = new Set<string>()
  /** Incremented when all clients are disconnected: a client that was admitted before is then rejected. */
  #round = 0

  constructor(ctx: DurableObjectState, runs: RunStore, log: SessionLog, deps: TurnDeps) {
    this.#runs = runs
    this.#store = new ClientStore(ctx.storage.sql)
    this.#sessionAccess = new ClientSessionAccess(runs, this.#store, log)
    this.#sockets = new ClientSockets(ctx, (client) => this.#left(client))
    this.#around = deps
    this.#questions = new ClientQuestions({
      runs,
      store: this.#store,
      sockets: this.#sockets,
      send: (message) => this.#send(message),
      answer: (run, rpc, result) => deps.turns().answer(run, rpc, result),
    })
  }

  /** Called after the storage was emptied. */
  reset(): void {
    this.#store.reset()
  }

  /** After an eviction: clients whose socket closed meanwhile are handled as disconnected. */
  recover(): void {
    const prompting = this.#runs.open.flatMap(({ client }) => (client ? [client.id] : []))
    for (const client of new Set([...this.#store.clients(), ...prompting])) {
      if (!this.#sockets.isConnected(client)) this.#left(client)
    }
  }

  /** Connects a client. `check` throws if that is not allowed, and resolves to the name of the intern. */
  async attach(check: () => Promise<string>): Promise<Response> {
    const round = this.#round
    const name = await check()
    if (round !== this.#round) {
      const message = "The intern was just stopped or provisioned. Request its token again."
      throw internError("intern_not_running", message)
    }
    return this.#sockets.accept(name)
  }

  /** Whether a socket belongs to a client, not to a daemon. */
  has(socket: WebSocket): boolean {
    return this.#sockets.has(socket)
  }

  /** Number of sessions that are being opened. */
  get opening(): number {
    return this.#store.requestCount
  }

  isLoading(acp: string): boolean {
    return this.#store.isLoading(acp)
  }

  /** Called when a chat uses the session: the client that had it open must load it again to see the changes. */
  release(acp: string): void {
    this.#store.clearOwner(acp)
  }

  frame(socket: WebSocket, data: string | ArrayBuffer): void {
    const client = clientOf(socket)
    if (socket.readyState !== WebSocket.OPEN) return
    if (typeof data !== "string") return this.#dismiss(client, CLIENT_CLOSE.binary, "send text frames")
    if (data.length > CLIENT_LIMITS.frameBytes) return this.#dismiss(client, CLIENT_CLOSE.tooLarge, "at most 1 MiB")
    const frame = readClientFrame(data)
    switch (frame.is) {
      case "malformed":
        return this.#sockets.send(client.id, { jsonrpc: "2.0", id: frame.id, error: frame.error })
      case "read":
        return this.#sockets.hasRead(client.id, frame.upTo)
      case "answer":
        return this.#questions.answered(client, frame)
      case "notice":
        return this.#onNotification(client, frame)
      case "request":
        return this.#onRequest(socket, client, frame)
    }
  }

  closed(socket: WebSocket): void {
    const { id } = clientOf(socket)
    this.#sockets.closed(id)
    this.#left(id)
  }

  /** Forwards a message of the agent to its client. Returns whether a client received it. */
  onAgentMessage(message: AcpMessage): boolean {
    const { id, method } = message
    if (method === undefined) return id !== undefined && this.#result(id, message)
    const params = record(message.params)
    const { sessionId: acp } = params
    const run = typeof acp === "string" ? this.#runs.ofAcp(acp) : undefined
    if (typeof acp !== "string" || (run && !run.client)) return false
    const owner = this.#store.ownerOf(acp)
    const client = owner && this.#sockets.find(owner.client)
    if (!owner || !client) return false
    const clientParams = { ...params, sessionId: owner.name }
    if (id !== undefined) return run?.state !== "cancelling" && this.#questions.put(client, message, acp, clientParams)
    if (method !== "session/update") return true
    if (isConversation(record(params["update"]))) this.#silentLoads.delete(acp)
    this.#sockets.send(client.id, { jsonrpc: "2.0", method, params: clientParams })
    return true
  }

  /** Called when a turn of a client ended. `response`: of the agent; undefined if the gateway ended the turn. */
  finished({ client, acp }: Run, finish: Finish, response: AcpMessage | undefined): void {
    if (!client || finish.reason === "tool_calls") return
    if (acp !== null) this.#questions.cancel(this.#store.takeQuestionsIn(acp))
    if (response?.error) return this.#reject(client.id, client.request, response.error)
    if (response) return this.#reply(client.id, client.request, response.result)
    const { message, reason } = finish.reason === "error" ? finish.error : { message: "", reason: undefined }
    this.#reject(client.id, client.request, { code: RPC_ERRORS.away, message, data: { reason, retryable: true } })
  }

  /** Called when a question was answered elsewhere than at the client that shows it. */
  questionClosed(rpc: RpcId): void {
    this.#questions.closed(rpc)
  }

  /** Called when the agent ended: fails pending requests. Clients must load their sessions again. */
  gone(): void {
    const error = { code: RPC_ERRORS.away, message: "The agent was restarted. Load the session again." }
    for (const { client, id } of this.#store.takeRequests()) this.#reject(client, id, error)
    this.#store.deleteSessions()
  }

  /** Disconnects all clients, because their token is no longer valid. */
  closeAll(): void {
    this.#round += 1
    for (const client of this.#sockets.closeAll(CLIENT_CLOSE.revoked, "the intern was stopped or provisioned again")) {
      this.#left(client)
    }
  }

  #onRequest(socket: WebSocket, client: Client, request: Request): void {
    const { id, method, params } = request
    switch (method) {
      case "initialize":
        socket.serializeAttachment({ ...client, showsForms: showsForms(params) } satisfies Client)
        return this.#reply(client.id, id, initializeResult(client.name))
      case "session/list":
        return this.#respond(client, id, this.#sessionAccess.list(params))
      case "session/new":
        return this.#open(client, request, null)
      case "session/load":
        return this.#open(client, request, this.#sessionAccess.toLoad(params))
      case "session/prompt":
        return this.#prompt(client, request)
      default:
        return this.#reject(client.id, id, { code: RPC_ERRORS.unknownMethod, message: `${method} is not served here.` })
    }
  }

  #prompt({ id: client }: Client, { id: request, params }: Request): void {
    const found = this.#sessionAccess.toPrompt(client, params)
    if ("code" in found) return this.#reject(client, request, found)
    const rejection = this.#admission()
    if (rejection) return this.#reject(client, request, rejection)
    this.#around.turns().start({ ...found, client: { id: client, request } })
  }

  /** Forwards a request to the agent with an id of the gateway. The host sets folder and servers of the session. */
  #open({ id: client }: Client, { id, method }: Request, loadable: Rejection | LoadableSession | null): void {
    if (loadable && "code" in loadable) return this.#reject(client, id, loadable)
    const rejection = this.#admission()
    if (rejection) return this.#reject(client, id, rejection)
    const rpc = this.#runs.nextRpc()
    if (loadable) {
      // The agent replays the session before it responds to session/load, so the owner is set first.
      this.#store.setOwner(loadable.acp, { client, name: loadable.name })
      this.#silentLoads.add(loadable.acp)
    }
    this.#store.saveRequest({ rpc, client, id, method, acp: loadable?.acp ?? null })
    this.#send({ id: rpc, method, params: loadable ? { sessionId: loadable.acp } : {} })
  }

  #admission(): Rejection | undefined {
    if (!this.#around.host().isUp) {
      const message = "The intern's agent cannot be reached. Start its daemon, or retry soon."
      return { code: RPC_ERRORS.away, message, data: { reason: "intern_unreachable", retryable: true } }
    }
    try {
      this.#around.turns().admit()
      return undefined
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown
      const { message, metadata } = thrown
      return { code: RPC_ERRORS.busy, message, data: { reason: metadata?.reason, retryable: true } }
    }
  }

  #onNotification({ id: client }: Client, { method, params }: Notice): void {
    const run = method === "session/cancel" ? this.#sessionAccess.promptOf(client, params["sessionId"]) : undefined
    if (run) this.#around.turns().stop(run)
  }

  #result(rpc: RpcId, { result, error }: AcpMessage): boolean {
    const request = this.#store.takeRequest(rpc)
    if (!request) return false
    const { client, id, method, acp } = request
    if (error !== undefined) {
      if (acp !== null && method === "session/load") this.#store.clearOwner(acp)
      this.#reject(client, id, error)
    } else this.#reply(client, id, this.#opened(request, result))
    return true
  }

  /** Result of session/new or session/load for the client. Modes and options of the agent are not supported. */
  #opened({ client, acp: loaded }: ClientRequest, result: unknown): Record<string, unknown> {
    const { sessionId } = record(result)
    const acp = loaded ?? (typeof sessionId === "string" ? sessionId : null)
    if (acp === null) return {}
    if (loaded === null) this.#store.setOwner(acp, { client, name: acp })
    const name = this.#store.ownerOf(acp)?.name ?? acp
    this.#runs.bind(this.#runs.find(acp)?.id ?? name, acp, this.#around.host().epoch, this.#around.now())
    if (loaded === null) return { sessionId: acp }
    if (!this.#silentLoads.delete(acp)) return {}
    for (const update of this.#sessionAccess.replay(acp)) {
      this.#sockets.send(client, { jsonrpc: "2.0", method: "session/update", params: { sessionId: name, update } })
    }
    return {}
  }

  #dismiss({ id }: Client, code: number, text: string): void {
    this.#sockets.close(id, code, text)
    this.#left(id)
  }

  /** Handles a disconnect: cancels the client's turns and answers the agent's questions. Idempotent. */
  #left(client: string): void {
    const outside = this.#questions.withoutRun(this.#store.removeClient(client))
    for (const run of this.#runs.open) if (run.client?.id === client) this.#around.turns().left(run)
    this.#questions.cancel(outside)
  }

  #respond({ id: client }: Client, id: RpcId, outcome: Rejection | { result: unknown }): void {
    if ("code" in outcome) this.#reject(client, id, outcome)
    else this.#reply(client, id, outcome.result)
  }

  #reply(client: string, id: RpcId, result: unknown): void {
    this.#sockets.send(client, { jsonrpc: "2.0", id, result })
  }

  #reject(client: string, id: RpcId, error: Rejection): void {
    this.#sockets.send(client, { jsonrpc: "2.0", id, error })
  }

  #send(message: Omit<AcpMessage, "jsonrpc">): void {
    this.#around.host().send({ jsonrpc: "2.0", ...message })
  }
}
