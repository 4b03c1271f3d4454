import { exports } from "cloudflare:workers"
import { expect } from "vitest"
import type { AcpMessage } from "../../src/interns/run/acp/acp.ts"
import { type TestClient, expectJson } from "./world.ts"

export type Site = { origin: string; token: string }

/** The address of an intern's daemon as returned by the API. */
export function siteOf(as: TestClient, id: string): Promise<Site> {
  return expectJson<Site>(200, as.get(`/interns/${id}/daemon`))
}

/** A request to the hostname of an intern. */
export function requestSite(
  { origin, token }: Site,
  path: string,
  { headers = {}, method = "GET" }: { headers?: Record<string, string>; method?: string } = {},
): Promise<Response> {
  const url = origin + path
  const sent = { authorization: `Bearer ${token}`, ...headers }
  return (exports as unknown as { default: Fetcher }).default.fetch(url, { method, headers: sent })
}

export type Question = AcpMessage & { id: number }

/** An ACP client controlled by the test, over its own socket. */
export class AcpClient {
  /** All received messages, in order. */
  readonly received: AcpMessage[] = []
  closedWith: number | undefined
  protocol = ""
  readonly #socket: WebSocket
  readonly #answersReads: boolean
  readonly #waiting: (() => void)[] = []
  #ids = 0

  private constructor(socket: WebSocket, answersReads: boolean) {
    this.#socket = socket
    this.#answersReads = answersReads
    socket.addEventListener("message", ({ data }) => this.#read(String(data)))
    socket.addEventListener("close", ({ code }) => {
      this.closedWith = code
      this.#notify()
    })
    socket.accept()
  }

  static async connect(site: Site, more: { answersReads?: boolean } = {}): Promise<AcpClient> {
    const response = await requestSite(site, "/acp", { headers: { upgrade: "websocket" } })
    return AcpClient.over(response, more)
  }

  static over({ status, webSocket, headers }: Response, { answersReads = true } = {}): AcpClient {
    expect(status).toBe(101)
    if (!webSocket) throw new Error("no socket")
    const client = new AcpClient(webSocket, answersReads)
    client.protocol = headers.get("sec-websocket-protocol") ?? ""
    return client
  }

  #read(text: string): void {
    const message = JSON.parse(text) as AcpMessage
    if (message.method !== "_intern/read") {
      this.received.push(message)
      this.#notify()
    } else if (this.#answersReads) this.send({ id: message.id ?? 0, error: { code: -32_601, message: "unknown" } })
  }

  #notify(): void {
    for (const notify of this.#waiting.splice(0)) notify()
  }

  /** The result of `find` once a received message gives one. */
  async until<T>(find: () => T | undefined): Promise<T> {
    for (;;) {
      const found = find()
      if (found !== undefined) return found
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
  }

  send(message: Omit<AcpMessage, "jsonrpc">): void {
    this.sendRaw(JSON.stringify({ jsonrpc: "2.0", ...message }))
  }

  sendRaw(data: string | ArrayBuffer): void {
    this.#socket.send(data)
  }

  /** Sends a request without waiting for the response; returns its id. */
  start(method: string, params: unknown = {}): number {
    const id = this.#ids++
    this.send({ id, method, params })
    return id
  }

  answerTo(id: AcpMessage["id"] | null): Promise<AcpMessage> {
    return this.until(() => this.received.find((message) => message.method === undefined && message.id === id))
  }

  async request(method: string, params: unknown = {}): Promise<AcpMessage> {
    return this.answerTo(this.start(method, params))
  }

  /** The result; an error fails with its message. */
  async get<T = Record<string, unknown>>(method: string, params: unknown = {}): Promise<T> {
    const { result, error } = await this.request(method, params)
    expect(error).toBeUndefined()
    return result as T
  }

  async newSession(): Promise<string> {
    const { sessionId } = await this.get<{ sessionId: string }>("session/new", { cwd: "/", mcpServers: [] })
    return sessionId
  }

  prompt(sessionId: string, text: string): number {
    return this.start("session/prompt", { sessionId, prompt: [{ type: "text", text }] })
  }

  /** The nth question of the agent with this method. */
  nextQuestion(method = "session/request_permission", nth = 0): Promise<Question> {
    return this.until(
      () => this.received.filter((one): one is Question => one.method === method && one.id !== undefined)[nth],
    )
  }

  choose(question: Question, optionId: string): void {
    this.send({ id: question.id, result: { outcome: { outcome: "selected", optionId } } })
  }

  /** The agent's text of this kind in a session. */
  textOf(sessionId: string, kind = "agent_message_chunk"): string {
    type Update = { sessionId: string; update: { sessionUpdate: string; content?: { text?: string } } }
    const updates = this.received
      .filter(({ method }) => method === "session/update")
      .map(({ params }) => params as Update)
    const matching = updates.filter(({ sessionId: of, update }) => of === sessionId && update.sessionUpdate === kind)
    return matching.map(({ update }) => update.content?.text ?? "").join("")
  }

  closed(): Promise<number> {
    return this.until(() => this.closedWith)
  }

  close(): void {
    this.#socket.close(1000, "done")
  }
}
