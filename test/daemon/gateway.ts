import { once } from "node:events"
import http, { type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import type { AnyMessage, AnyNotification, AnyRequest, AnyResponse } from "@agentclientprotocol/sdk"
import { type WebSocket, WebSocketServer } from "ws"
import type { DaemonConfig, Hello } from "../../src/interns/hosts/daemon-protocol.ts"
import type { ReleasedSecret } from "../../src/vault/secret.ts"
import { eventually } from "../support/eventually.ts"
import { answerEgress } from "./egress.ts"

export const JOIN_TOKEN = "join-token-of-the-daemon-tests"
export const API_KEY = "sk-gw-v1-intern-own-key"
export const INTERN = "01a1fed6-f156-71f0-9e2f-d3a472f3d414"

type Text = { update: { sessionUpdate: string; content: { text: string } } }

/** The gateway's side of the socket, scripted: it numbers, keeps and acknowledges frames. */
export class FakeGateway {
  readonly hellos: Hello[] = []
  readonly received: AnyMessage[] = []
  readonly closes: number[] = []
  /** Number of responses to reads of the secrets. */
  secretReads = 0
  secrets: ReleasedSecret[] = []
  /** The initial files of the intern, one a page. `content` is base64url. */
  files: { path: string; content: string; mode: number }[] = []
  fileReads = 0
  more: Partial<DaemonConfig> = {}
  /** Responds for bound hosts. */
  internet: typeof fetch = () => Promise.reject(new Error("There is no internet."))
  /** State of the intern. */
  intern: "running" | "provisioning" | "stopped" = "running"
  status = 101
  /** Whether received frames are acknowledged. */
  isAcking = true
  /** Fields of the next welcome. */
  welcome: Record<string, unknown> = {}
  #server = http.createServer((request, response) => this.#answer(request, response))
  #sockets = new WebSocketServer({ noServer: true, maxPayload: 1_048_576 })
  #socket: WebSocket | undefined
  #epoch = ""
  #wanted = 1
  #next = 1
  #kept: { seq: number; msg: unknown }[] = []
  #lastId = 0

  async open(port = 0): Promise<this> {
    this.#server.on("upgrade", (request: IncomingMessage, socket, head) => {
      if (this.#refusal(request) !== 101) return socket.end(`HTTP/1.1 ${this.#refusal(request)} No\r\n\r\n`)
      this.#sockets.handleUpgrade(request, socket, head, (opened) => this.#attach(opened))
    })
    this.#server.listen(port, "127.0.0.1")
    await once(this.#server, "listening")
    return this
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Drops the socket and closes the port, as a killed process does; the records stay. */
  async close(): Promise<void> {
    this.#socket?.terminate()
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, "close")
  }

  /** The same records in a new process, on the same port. */
  async restart(): Promise<void> {
    const { port } = this
    await this.close()
    this.#server = http.createServer((request, response) => this.#answer(request, response))
    await this.open(port)
  }

  sever(code?: number): void {
    if (code === undefined) this.#socket?.terminate()
    else this.#socket?.close(code)
  }

  raw(frame: object): void {
    this.#socket?.send(JSON.stringify(frame))
  }

  send(msg: unknown): number {
    const frame = { seq: this.#next++, msg }
    this.#kept.push(frame)
    if (this.#socket?.readyState === 1) this.raw(frame)
    return frame.seq
  }

  notify(method: string, params: unknown): void {
    this.send({ jsonrpc: "2.0", method, params })
  }

  /** Sends a request and returns a function that waits for its response. */
  request(method: string, params: unknown = {}): () => Promise<AnyResponse> {
    const id = `gw-${++this.#lastId}`
    this.send({ jsonrpc: "2.0", id, method, params })
    return () =>
      this.find((message): message is AnyResponse => !("method" in message) && message.id === id, `${method} ${id}`)
  }

  async result(method: string, params: unknown = {}): Promise<Record<string, unknown>> {
    const answer = await this.request(method, params)()
    if ("error" in answer) throw new Error(`${method} failed: ${JSON.stringify(answer.error)}`)
    return answer.result as Record<string, unknown>
  }

  prompt(sessionId: string, text: string): () => Promise<AnyResponse> {
    return this.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] })
  }

  notified(method: string, index = 0): Promise<AnyNotification> {
    return this.nth((message): message is AnyNotification => isOf(message, method) && !("id" in message), method, index)
  }

  question(method: string, index = 0): Promise<AnyRequest> {
    return this.nth((message): message is AnyRequest => isOf(message, method) && "id" in message, method, index)
  }

  find<T extends AnyMessage>(is: (message: AnyMessage) => message is T, what: string): Promise<T> {
    return this.nth(is, what, 0)
  }

  nth<T extends AnyMessage>(is: (message: AnyMessage) => message is T, what: string, index: number): Promise<T> {
    return eventually(() => {
      const found = this.received.filter(is)[index]
      if (!found) throw new Error(`No ${what} yet: ${JSON.stringify(this.received).slice(-2_000)}`)
      return found
    })
  }

  /** The complete text of the agent so far. */
  text(kind = "agent_message_chunk"): string {
    return this.received
      .filter((message): message is AnyNotification => isOf(message, "session/update"))
      .map(({ params }) => (params as Text).update)
      .filter(({ sessionUpdate }) => sessionUpdate === kind)
      .map(({ content }) => content.text)
      .join("")
  }

  #refusal(request: IncomingMessage): number {
    if (request.headers.authorization !== `Bearer ${JOIN_TOKEN}`) return 401
    return this.status
  }

  #answer(request: IncomingMessage, response: http.ServerResponse): void {
    const refusal = this.#refusal(request)
    if (refusal === 101 && request.url?.endsWith("/daemon/secrets")) {
      response.writeHead(this.intern === "stopped" ? 409 : 200, { "content-type": "application/json" })
      response.end(
        JSON.stringify({
          status: this.intern,
          data: this.secrets.map(({ name, hosts, placeholder }) => ({ name, hosts, placeholder })),
        }),
      )
      this.secretReads += 1
      return
    }
    if (refusal === 101 && request.url?.includes("/daemon/files")) {
      const after = new URL(request.url, "http://gateway").searchParams.get("after")
      const at = this.files.findIndex(({ path }) => path === after) + 1
      const next = at + 1 < this.files.length ? (this.files[at]?.path ?? null) : null
      response.writeHead(200, { "content-type": "application/json" })
      response.end(JSON.stringify({ data: this.files.slice(at, at + 1), next }))
      this.fileReads += 1
      return
    }
    if (refusal === 101 && request.url?.endsWith("/daemon/egress")) {
      const host = { secrets: () => this.secrets, fetch: this.internet }
      void answerEgress(request, response, host).catch(() => response.destroy())
      return
    }
    response.writeHead(refusal === 101 ? 426 : refusal)
    response.end()
  }

  #attach(socket: WebSocket): void {
    this.#socket = socket
    socket.on("close", (code) => this.closes.push(code))
    socket.on("message", (data: Buffer) => {
      const frame = JSON.parse(data.toString()) as {
        hello?: Hello
        seq?: number
        msg?: AnyMessage
        ack?: number
        ping?: 1
      }
      if (frame.ping) socket.send(JSON.stringify({ pong: 1 }))
      if (frame.ack !== undefined) this.#kept = this.#kept.filter(({ seq }) => seq > (frame.ack ?? 0))
      if (frame.hello) this.#hello(socket, frame.hello)
      if (frame.seq !== undefined && frame.msg) this.#take(frame.seq, frame.msg)
    })
  }

  #hello(socket: WebSocket, hello: Hello): void {
    this.hellos.push(hello)
    if (hello.epoch !== this.#epoch) {
      // Messages before the first connection wait for it.
      if (this.#epoch !== "") [this.#next, this.#kept] = [1, []]
      this.#epoch = hello.epoch
      this.#wanted = 1
    }
    const base = `http://127.0.0.1:${this.port}/api/v1`
    const config: DaemonConfig = {
      intern_id: INTERN,
      name: "ada",
      model: "sim/echo",
      instructions: "Be brief.",
      api_base: base,
      api_key: API_KEY,
      ...(this.files.length > 0 && { files_url: `${base}/interns/${INTERN}/daemon/files` }),
      secrets_url: `${base}/interns/${INTERN}/daemon/secrets`,
      egress_url: `${base}/interns/${INTERN}/daemon/egress`,
      ...this.more,
    }
    const oldest = this.#kept[0]?.seq ?? this.#next
    const welcome = { epoch: hello.epoch, from: this.#wanted, next: this.#next, oldest, config, ...this.welcome }
    this.welcome = {}
    socket.send(JSON.stringify({ welcome }))
    for (const frame of this.#kept.filter(({ seq }) => seq >= hello.from)) socket.send(JSON.stringify(frame))
  }

  #take(seq: number, msg: AnyMessage): void {
    if (seq < this.#wanted) return
    if (seq > this.#wanted) return this.#socket?.close(4001)
    this.#wanted += 1
    this.received.push(msg)
    if (this.isAcking) this.raw({ ack: seq })
  }
}

function isOf(message: AnyMessage, method: string): message is AnyNotification | AnyRequest {
  return "method" in message && message.method === method
}
