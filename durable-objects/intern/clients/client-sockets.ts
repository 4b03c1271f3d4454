import { CLIENT_CLOSE, CLIENT_LIMITS, readQuestion, type RpcError } from "../../../src/interns/hosts/client-frames.ts"
import { internError } from "../../../src/interns/lifecycle/reasons.ts"
import type { AcpMessage, RpcId } from "../../../src/interns/run/acp/acp.ts"

const TAG = "client"

/** Attachment of a client socket, which survives an eviction of the object. `name`: name of the intern. */
export type Client = { id: string; name: string; showsForms: boolean }

/** Character counts: sent, confirmed as read, and sent by the time of the last read request. */
type Traffic = { sent: number; read: number; requestedAt: number }

type ToClient = AcpMessage | { jsonrpc: "2.0"; id: RpcId | null; error: RpcError }

/** The connections of ACP clients. They hibernate with the object. */
export class ClientSockets {
  readonly #ctx: DurableObjectState
  readonly #onSlow: (client: string) => void
  readonly #traffic = new Map<string, Traffic>()

  constructor(ctx: DurableObjectState, onSlow: (client: string) => void) {
    this.#ctx = ctx
    this.#onSlow = onSlow
  }

  accept(name: string): Response {
    if (this.#open(TAG).length >= CLIENT_LIMITS.clients) {
      const message = `${CLIENT_LIMITS.clients} clients are connected to this intern, which is the maximum. Close one of them.`
      throw internError("busy", message, { "retry-after": "5" })
    }
    const { 0: clientSocket, 1: serverSocket } = new WebSocketPair()
    const id = crypto.randomUUID()
    serverSocket.serializeAttachment({ id, name, showsForms: false } satisfies Client)
    this.#ctx.acceptWebSocket(serverSocket, [TAG, id])
    return new Response(null, { status: 101, webSocket: clientSocket })
  }

  has(socket: WebSocket): boolean {
    return this.#ctx.getTags(socket).includes(TAG)
  }

  isConnected(client: string): boolean {
    return this.#open(client).length > 0
  }

  find(client: string): Client | undefined {
    const [socket] = this.#open(client)
    return socket && clientOf(socket)
  }

  /** Messages to a client that is disconnected are dropped. */
  send(client: string, message: ToClient): void {
    const [socket] = this.#open(client)
    if (!socket) return
    const text = JSON.stringify(message)
    const traffic = this.#traffic.get(client) ?? { sent: 0, read: 0, requestedAt: 0 }
    traffic.sent += text.length
    this.#traffic.set(client, traffic)
    if (traffic.sent - traffic.read > CLIENT_LIMITS.unreadBytes) {
      this.#close(socket, CLIENT_CLOSE.slow, "reads too slowly")
      return this.#onSlow(client)
    }
    socket.send(text)
    if (traffic.sent - traffic.requestedAt < CLIENT_LIMITS.readRequestBytes) return
    traffic.requestedAt = traffic.sent
    // The platform does not expose the send buffer of a socket. Every peer responds to a request, at least with an
    // error.
    socket.send(JSON.stringify({ jsonrpc: "2.0", id: readQuestion(traffic.sent), method: "_intern/read", params: {} }))
  }

  hasRead(client: string, upTo: number): void {
    const traffic = this.#traffic.get(client)
    if (traffic && upTo <= traffic.sent) traffic.read = Math.max(traffic.read, upTo)
  }

  closed(client: string): void {
    this.#traffic.delete(client)
  }

  close(client: string, code: number, rule: string): void {
    for (const socket of this.#open(client)) this.#close(socket, code, rule)
  }

  closeAll(code: number, rule: string): string[] {
    const sockets = this.#open(TAG)
    for (const socket of sockets) this.#close(socket, code, rule)
    return sockets.map((socket) => clientOf(socket).id)
  }

  #close(socket: WebSocket, code: number, rule: string): void {
    this.#traffic.delete(clientOf(socket).id)
    socket.close(code, rule)
  }

  #open(tag: string): WebSocket[] {
    return this.#ctx.getWebSockets(tag).filter(({ readyState }) => readyState === WebSocket.OPEN)
  }
}

export function clientOf(socket: WebSocket): Client {
  return socket.deserializeAttachment() as Client
}
