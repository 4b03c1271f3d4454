import { exports } from "cloudflare:workers"
import { expect } from "vitest"
import { eventually } from "./eventually.ts"

export type Event = { type: string } & Record<string, unknown>

/** One realtime session of a client, with everything that it received. */
export class TestSession {
  readonly events: Event[] = []
  closed: { code: number; reason: string } | undefined
  readonly #socket: WebSocket
  readonly sessionId: string

  constructor(socket: WebSocket, sessionId: string) {
    this.#socket = socket
    this.sessionId = sessionId
    socket.addEventListener("message", ({ data }) => {
      if (typeof data === "string") this.events.push(JSON.parse(data) as Event)
    })
    socket.addEventListener("close", ({ code, reason }) => {
      this.closed = { code, reason }
    })
    socket.accept()
  }

  send(event: Record<string, unknown>): void {
    this.#socket.send(JSON.stringify(event))
  }

  sendRaw(data: string | ArrayBuffer): void {
    this.#socket.send(data)
  }

  close(): void {
    this.#socket.close(1000, "done")
  }

  /** The last event of a type, once `count` of them have arrived. */
  async next(type: string, count = 1): Promise<Event> {
    const found = () => this.events.filter((event) => event.type === type)
    await eventually(() => {
      const types = this.events.map((event) => event.type)
      expect(found().length, `${types.join(", ")} ${JSON.stringify(this.closed)}`).toBeGreaterThanOrEqual(count)
    })
    const event = found()[count - 1]
    if (!event) throw new Error(`no ${type}`)
    return event
  }

  async whenClosed(): Promise<{ code: number; reason: string }> {
    await eventually(() => expect(this.closed, JSON.stringify(this.events.at(-1))).toBeDefined())
    return this.closed ?? { code: 0, reason: "" }
  }

  /** One response to a text. */
  async prompt(text: string, options: Record<string, unknown> = { output_modalities: ["text"] }): Promise<Event> {
    const before = this.events.filter(({ type }) => type === "response.done").length
    const content = [{ type: "input_text", text }]
    this.send({ type: "conversation.item.create", item: { type: "message", role: "user", content } })
    this.send({ type: "response.create", response: options })
    return this.next("response.done", before + 1)
  }
}

const front = () => (exports as unknown as { default: Fetcher }).default

export async function requestSession(
  key: string | undefined,
  model: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  return front().fetch(`http://gateway.test/api/v1/realtime?model=${encodeURIComponent(model)}`, {
    headers: { upgrade: "websocket", ...(key !== undefined && { authorization: `Bearer ${key}` }), ...headers },
  })
}

export async function openSession(key: string, model = "sim/realtime", headers?: Record<string, string>) {
  const response = await requestSession(key, model, headers)
  const { webSocket } = response
  if (!webSocket) throw new Error(`${response.status} ${await response.text()}`)
  return new TestSession(webSocket, response.headers.get("x-session-id") ?? "")
}
