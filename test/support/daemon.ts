import { exports } from "cloudflare:workers"
import { expect } from "vitest"
import type { AcpMessage } from "../../src/interns/run/acp/acp.ts"
import { type TestClient, expectJson, newWorkspace, type Workspace } from "./world.ts"
import { eventually } from "./eventually.ts"
import { internChat } from "./intern-chat.ts"
import { internObject } from "./intern-object.ts"

/** An intern whose agent is a daemon controlled by the test. */
export type DaemonIntern = { id: string; token: string; as: TestClient }

let count = 0
const AGAIN = 5

/** Created through the API; it waits for its daemon. */
export async function newDaemonIntern(workspace: Workspace, more: Record<string, unknown> = {}): Promise<DaemonIntern> {
  const input = { name: `d${count++}`, host: "daemon", provision: true, ...more }
  const { id } = await expectJson<{ id: string }>(201, workspace.as.post("/interns", input))
  const { token } = await expectJson<{ token: string }>(201, workspace.as.post(`/interns/${id}/daemon/token`, {}))
  return { id, token, as: workspace.as }
}

type Welcome = { epoch: string; from: number; next: number; oldest: number; config: Record<string, unknown> }

/**
 * A daemon by the wire protocol, controlled by the test: it numbers its frames, resends unacknowledged ones, and responds
 * to the gateway as configured.
 */
export class MockDaemon {
  readonly intern: DaemonIntern
  epoch = crypto.randomUUID()
  welcome: Welcome | undefined
  /** Messages of the gateway, each frame once. */
  readonly received: AcpMessage[] = []
  closedWith: number | undefined
  /** Whether it responds to a request for a new session. */
  opensSessions = true
  /** Whether it accepts a message that steers a turn. */
  takesSteers = true
  #socket: WebSocket | undefined
  #sent: { seq: number; msg: AcpMessage }[] = []
  #latest: { seq: number; msg: AcpMessage }[] = []
  #next = 1
  #received = 0
  #acknowledged = 0
  #sessions = 0

  constructor(intern: DaemonIntern) {
    this.intern = intern
  }

  /** Connects and becomes ready. */
  async dial(): Promise<this> {
    await this.connect()
    if (this.#next === 1) this.send({ method: "_intern/ready", params: { loadSession: true, steering: true } })
    await this.settled()
    return this
  }

  /** `beforeHello`: runs after the upgrade. */
  async connect(token = this.intern.token, beforeHello?: () => Promise<unknown>): Promise<void> {
    const url = `http://gateway.test/api/v1/interns/${this.intern.id}/daemon/attach`
    const headers = { upgrade: "websocket", authorization: `Bearer ${token}` }
    const response = await (exports as unknown as { default: Fetcher }).default.fetch(url, { headers })
    expect(response.status).toBe(101)
    const socket = response.webSocket
    if (!socket) throw new Error("no socket")
    this.#socket = socket
    this.welcome = undefined
    this.closedWith = undefined
    socket.addEventListener("message", ({ data }) => this.#read(socket, String(data)))
    socket.addEventListener("close", ({ code }) => {
      if (this.#socket === socket) this.closedWith = code
    })
    socket.accept()
    await beforeHello?.()
    const oldest = this.#sent[0]?.seq ?? this.#next
    const hello = { version: 1, epoch: this.epoch, next: this.#next, oldest, from: this.#received + 1 }
    socket.send(JSON.stringify({ hello }))
    await eventually(() => expect(this.welcome ?? this.closedWith).toBeDefined())
  }

  /** A new process, without state of the previous one. */
  restart(): void {
    this.epoch = crypto.randomUUID()
    this.#sent = []
    this.#latest = []
    this.#next = 1
    this.#received = 0
    this.#acknowledged = 0
  }

  cut(): void {
    this.#socket?.close(1000, "cut")
    this.#socket = undefined
  }

  #read(socket: WebSocket, text: string): void {
    const frame = JSON.parse(text) as { welcome?: Welcome; ack?: number; seq?: number; msg?: AcpMessage }
    if (frame.welcome) {
      this.welcome = frame.welcome
      for (const sent of this.#sent) if (sent.seq >= frame.welcome.from) socket.send(JSON.stringify(sent))
    }
    if (frame.ack !== undefined) {
      this.#acknowledged = frame.ack
      this.#sent = this.#sent.filter(({ seq }) => seq > this.#acknowledged)
    }
    if (frame.seq === undefined || frame.msg === undefined) return
    if (frame.seq === this.#received + 1) {
      this.#received = frame.seq
      this.received.push(frame.msg)
      this.#serve(frame.msg)
    }
    socket.send(JSON.stringify({ ack: this.#received }))
  }

  /** Sessions are opened automatically; the test does everything else. */
  #serve({ id, method }: AcpMessage): void {
    if (id === undefined) return
    if (method === "session/new" && this.opensSessions)
      this.send({ id, result: { sessionId: `acp-${this.#sessions++}` } })
    if (method === "session/load") this.send({ id, result: {} })
    if (method === "_intern/steer" && this.takesSteers) this.send({ id, result: { outcome: "injected" } })
    if (method === "_intern/shutdown") this.send({ id, result: {} })
  }

  send(message: Omit<AcpMessage, "jsonrpc">): void {
    const frame = { seq: this.#next++, msg: { jsonrpc: "2.0" as const, ...message } }
    this.#sent.push(frame)
    this.#latest = [...this.#latest, frame].slice(-AGAIN)
    this.#socket?.send(JSON.stringify(frame))
  }

  /** Sends the latest frames again, as if a connection broke before their acknowledgement arrived. */
  resend(): void {
    for (const frame of this.#latest) this.#socket?.send(JSON.stringify(frame))
  }

  /** Skips a sequence number. */
  skip(): void {
    this.#next++
  }

  text(acp: string, text: string): void {
    const update = { sessionUpdate: "agent_message_chunk", content: { type: "text", text } }
    this.send({ method: "session/update", params: { sessionId: acp, update } })
  }

  requestPermission(
    acp: string,
    id: string,
    kinds: readonly string[] = ["allow_once", "allow_always", "reject_once"],
  ): void {
    const options = kinds.map((kind, index) => ({ optionId: `${kind}-${index}`, name: kind, kind }))
    const params = { sessionId: acp, toolCall: { toolCallId: id, title: "shell" }, options }
    this.send({ id, method: "session/request_permission", params })
  }

  end(prompt: AcpMessage, stopReason = "end_turn", usage?: Record<string, number>): void {
    this.send({ id: prompt.id ?? 0, result: { stopReason, ...(usage && { usage }) } })
  }

  /** The gateway acknowledged everything sent. */
  async settled(): Promise<void> {
    await eventually(() => expect(this.#acknowledged).toBe(this.#next - 1))
  }

  /** The nth message of the gateway with this method, once it has arrived. */
  async receives(method: string, nth = 0): Promise<AcpMessage> {
    return eventually(() => {
      const message = this.received.filter((one) => one.method === method)[nth]
      expect(message, `${method} ${nth}`).toBeDefined()
      return message as AcpMessage
    })
  }

  /** The gateway's response to a request of the agent. */
  async answerTo(id: string): Promise<unknown> {
    return eventually(() => {
      const message = this.received.find((one) => one.id === id && one.method === undefined)
      expect(message, `answer to ${id}`).toBeDefined()
      return message?.result
    })
  }

  answersTo(id: string): AcpMessage[] {
    return this.received.filter((one) => one.id === id && one.method === undefined)
  }
}

export type Params = { sessionId: string; prompt: { text: string }[] }
export const paramsOf = (message: AcpMessage) => message.params as Params

/** An intern in its own workspace, running because its daemon has connected. */
export async function newConnectedIntern() {
  const workspace = await newWorkspace()
  const intern = await newDaemonIntern(workspace)
  const daemon = await new MockDaemon(intern).dial()
  await eventually(async () => {
    const { status } = await expectJson<{ status: string }>(200, workspace.as.get(`/interns/${intern.id}`))
    expect(status).toBe("running")
  })
  return { workspace, intern, daemon, chat: internChat(workspace.key, intern.id), object: internObject(intern.id) }
}
