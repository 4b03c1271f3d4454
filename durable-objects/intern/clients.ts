import { GatewayError } from "../../src/errors/errors.ts"
import {
  CLIENT_CLOSE,
  CLIENT_LIMITS,
  type ClientFrame,
  initialized,
  isClientQuestion,
  readClientFrame,
  RPC_ERRORS,
  type RpcError,
  showsForms,
  unanswered,
} from "../../src/interns/hosts/client-frames.ts"
import type { InternHost } from "../../src/interns/hosts/host.ts"
import { internError } from "../../src/interns/reasons.ts"
import type { AcpMessage, RpcId } from "../../src/interns/run/acp.ts"
import { record } from "../../src/interns/run/acp-values.ts"
import { LIMITS } from "../../src/interns/run/run.ts"
import { ClientStore, type ClientRequest, type PendingQuestion } from "./client-store.ts"
import { type Client, clientOf, ClientSockets } from "./client-sockets.ts"
import type { RunStore } from "./run-store.ts"

type Surroundings = {
  host: () => InternHost
  now: () => number
  /** Lets one more request through, or throws why not. */
  admit: () => void
}

type Request = ClientFrame & { is: "request" }
type Notice = ClientFrame & { is: "notice" }
type Answer = ClientFrame & { is: "answer" }

type Rejection = { code: number; message: string; reason?: string | undefined }

/** Routes ACP between clients and the host of an agent. The client that opened or loaded a session owns it. */
export class InternClients {
  readonly #runs: RunStore
  readonly #store: ClientStore
  readonly #sockets: ClientSockets
  readonly #around: Surroundings
  /** Counts how often all were sent away: who was let in before that is not connected after it. */
  #round = 0

  constructor(ctx: DurableObjectState, runs: RunStore, around: Surroundings) {
    this.#runs = runs
    this.#store = new ClientStore(ctx.storage.sql)
    this.#sockets = new ClientSockets(ctx, (client) => this.#left(client))
    this.#around = around
  }

  /** For a storage that was emptied. */
  reset(): void {
    this.#store.reset()
  }

  /** After an eviction: clients whose socket closed meanwhile are handled as disconnected. */
  recover(): void {
    const left = this.openRequests.filter(({ isLeft }) => isLeft)
    for (const client of this.#store.clients()) if (!this.#sockets.isConnected(client)) this.#left(client)
    // The cancellation may have been lost with the isolate that sent it, so it is sent again.
    this.#stop(left)
  }

  /** Connects a client. `check` throws if that is not allowed, and resolves to the name of the intern. */
  async attach(check: () => Promise<string>): Promise<Response> {
    const round = this.#round
    const name = await check()
    if (round !== this.#round) {
      throw internError(
        "intern_not_running",
        "The intern was stopped or provisioned just now. Ask for its token again.",
      )
    }
    return this.#sockets.accept(name)
  }

  /** Whether a socket is a client's, and not a daemon's. */
  has(socket: WebSocket): boolean {
    return this.#sockets.has(socket)
  }

  /** Requests that the agent has not answered; those of disconnected clients only for `graceMs`. */
  get openRequests(): ClientRequest[] {
    return this.#store.openSince(this.#around.now() - LIMITS.graceMs)
  }

  isBusy(acp: string): boolean {
    return this.openRequests.some((request) => request.acp === acp)
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
        return this.#answered(client, frame)
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

  /** Passes a message of the agent that belongs to no run to its client. Returns whether a client took it. */
  onAgentMessage(message: AcpMessage): boolean {
    const { id, method } = message
    if (method === undefined) return id !== undefined && this.#result(id, message)
    const { sessionId: acp } = record(message.params)
    if (typeof acp !== "string" || this.#runs.ofAcp(acp)) return false
    const owner = this.#store.ownerOf(acp)
    const client = owner === undefined ? undefined : this.#sockets.of(owner)
    if (!client) return false
    if (id !== undefined) return isClientQuestion(method) && this.#question(client, id, message, acp)
    if (method === "session/update") this.#sockets.send(client.id, { jsonrpc: "2.0", method, params: message.params })
    return true
  }

  /** The agent has ended: fails pending requests. Clients must load their sessions again. */
  gone(): void {
    const error = { code: RPC_ERRORS.away, message: "The agent was started anew. Load the session again." }
    for (const { client, id, isLeft } of this.#store.takeRequests()) {
      if (!isLeft) this.#sockets.send(client, { jsonrpc: "2.0", id, error })
    }
    this.#store.forgetSessions()
  }

  /** Sends everyone away: the token that they came with is not good any more. */
  closeAll(): void {
    this.#round += 1
    for (const client of this.#sockets.closeAll(CLIENT_CLOSE.revoked, "the intern was stopped or provisioned anew")) {
      this.#left(client)
    }
  }

  #onRequest(socket: WebSocket, client: Client, request: Request): void {
    const { id, method, params } = request
    switch (method) {
      case "initialize":
        socket.serializeAttachment({ ...client, showsForms: showsForms(params) } satisfies Client)
        return this.#reply(client.id, id, initialized(client.name))
      case "session/new":
        return this.#pass(client, request, null, {})
      case "session/load":
      case "session/prompt":
        return this.#ofSession(client, request)
      default:
        return this.#refuse(client.id, id, { code: RPC_ERRORS.unknownMethod, message: `${method} is not served here.` })
    }
  }

  #ofSession(client: Client, request: Request): void {
    const { id, method, params } = request
    const { sessionId, prompt } = params
    if (typeof sessionId !== "string" || sessionId === "" || sessionId.length > MAX_SESSION_CHARS) {
      return this.#refuse(client.id, id, {
        code: RPC_ERRORS.params,
        message: "sessionId: must be the id of a session.",
      })
    }
    if (method === "session/prompt" && !Array.isArray(prompt)) {
      return this.#refuse(client.id, id, {
        code: RPC_ERRORS.params,
        message: "prompt: must be an array of content blocks.",
      })
    }
    if (method === "session/prompt" && this.#store.ownerOf(sessionId) !== client.id) {
      return this.#refuse(client.id, id, {
        code: RPC_ERRORS.noSession,
        message: "This connection has not opened or loaded this session.",
      })
    }
    if (this.#runs.ofAcp(sessionId) || this.isBusy(sessionId)) {
      return this.#refuse(client.id, id, {
        code: RPC_ERRORS.busy,
        message: "A turn of this session runs. Wait for its end.",
        reason: "busy",
      })
    }
    this.#pass(client, request, sessionId, method === "session/prompt" ? { sessionId, prompt } : { sessionId })
  }

  /** To the agent, under a name of ours. Of a session's folder and servers the host knows by itself. */
  #pass({ id: client }: Client, { id, method }: Request, acp: string | null, params: Record<string, unknown>): void {
    if (!this.#around.host().isUp) {
      const text = "The intern's agent cannot be reached now. Start its daemon, or ask again soon."
      return this.#refuse(client, id, { code: RPC_ERRORS.away, message: text, reason: "intern_unreachable" })
    }
    try {
      this.#around.admit()
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown
      return this.#refuse(client, id, {
        code: RPC_ERRORS.busy,
        message: thrown.message,
        reason: thrown.metadata?.reason,
      })
    }
    const rpc = this.#runs.nextRpc()
    // The agent replays the session before it responds to session/load, so the owner is set first.
    if (method === "session/load" && acp !== null) this.#store.setOwner(acp, client)
    this.#store.ask({ rpc, client, id, method, acp })
    this.#send({ id: rpc, method, params })
  }

  #onNotification({ id: client }: Client, { method, params }: Notice): void {
    const { sessionId } = params
    if (method !== "session/cancel") return
    const prompts = this.openRequests.filter((open) => open.client === client && open.method === "session/prompt")
    if (prompts.some(({ acp, isLeft }) => acp === sessionId && !isLeft)) this.#send({ method, params: { sessionId } })
  }

  #answered({ id: client }: Client, { id, outcome }: Answer): void {
    const question = this.#store.takeQuestion(id, client)
    if (question) this.#send({ id: question.rpc, ...outcome })
  }

  #result(rpc: RpcId, { result, error }: AcpMessage): boolean {
    const request = this.#store.takeRequest(rpc)
    if (!request) return false
    const { client, id, method, acp, isLeft } = request
    if (acp !== null && method === "session/prompt") this.#cancel(this.#store.takeQuestionsOf(acp))
    if (isLeft) return true
    if (error !== undefined) {
      if (acp !== null && method === "session/load") this.#store.clearOwner(acp)
      this.#sockets.send(client, { jsonrpc: "2.0", id, error })
      return true
    }
    this.#reply(client, id, method === "session/prompt" ? result : this.#opened(client, method, result))
    return true
  }

  /** Result of session/new or session/load for the client. The gateway offers no modes and no options of the agent. */
  #opened(client: string, method: string, result: unknown): Record<string, unknown> {
    const { sessionId } = record(result)
    if (method === "session/load" || typeof sessionId !== "string") return {}
    this.#store.setOwner(sessionId, client)
    return { sessionId }
  }

  #question(client: Client, rpc: RpcId, { method, params }: AcpMessage, acp: string): boolean {
    if (method === undefined || !isClientQuestion(method)) return false
    // A form that the client cannot show is handled like a question without a client.
    if (method === "elicitation/create" && !client.showsForms) return false
    const id = this.#runs.nextRpc()
    this.#store.put({ id, client: client.id, rpc, acp, method })
    this.#sockets.send(client.id, { jsonrpc: "2.0", id, method, params })
    return true
  }

  #dismiss({ id }: Client, code: number, text: string): void {
    this.#sockets.close(id, code, text)
    this.#left(id)
  }

  /** Handles a disconnect: cancels the client's turns and answers the agent's questions. Idempotent. */
  #left(client: string): void {
    const { prompts, questions } = this.#store.leave(client, this.#around.now())
    this.#stop(prompts)
    this.#cancel(questions)
  }

  #stop(prompts: readonly ClientRequest[]): void {
    for (const { acp } of prompts) this.#send({ method: "session/cancel", params: { sessionId: acp } })
  }

  #cancel(questions: readonly PendingQuestion[]): void {
    for (const { rpc, method } of questions) this.#send({ id: rpc, result: unanswered(method) })
  }

  #reply(client: string, id: RpcId, result: unknown): void {
    this.#sockets.send(client, { jsonrpc: "2.0", id, result })
  }

  #refuse(client: string, id: RpcId, { code, message, reason }: Rejection): void {
    const error: RpcError = { code, message, ...(reason !== undefined && { data: { reason, retryable: true } }) }
    this.#sockets.send(client, { jsonrpc: "2.0", id, error })
  }

  #send(message: Omit<AcpMessage, "jsonrpc">): void {
    this.#around.host().send({ jsonrpc: "2.0", ...message })
  }
}

const MAX_SESSION_CHARS = 1_024
