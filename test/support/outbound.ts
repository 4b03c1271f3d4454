import http from "node:http"
import { type WebSocket, WebSocketServer } from "ws"

/** One chunk of a response: text to send, `null` to stall forever, "!" to break the connection. */
type Piece = string | null

/**
 * The provider that CUSTOM_PROVIDERS of the suite calls `played`: a real HTTP server, which sends the lines in the `play`
 * field of the request. The gateway forwards unknown fields, so a request contains its provider's response.
 */
export async function startScriptedProvider(): Promise<number> {
  const server = http.createServer((request, response) => {
    let body = ""
    request.on("data", (chunk: Buffer) => (body += chunk.toString()))
    request.on("end", () => {
      const { play = [] } = JSON.parse(body || "{}") as { play?: Piece[] }
      response.writeHead(200, { "content-type": "text/event-stream" })
      void perform(response, play)
    })
  })
  serveSessions(server)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  server.unref()
  return (server.address() as { port: number }).port
}

async function perform(response: http.ServerResponse, play: readonly Piece[]): Promise<void> {
  for (const piece of play) {
    if (piece === null) return
    if (piece === "!") {
      // The written bytes must be sent before the connection breaks.
      await new Promise((resolve) => setTimeout(resolve, 20))
      response.destroy()
      return
    }
    if (!response.write(piece)) await new Promise((resolve) => response.once("drain", resolve))
  }
  response.end()
}

/** One step of a scripted session: an event or text to send, bytes, a close, or a broken connection. */
export type SessionStep = {
  send?: object
  raw?: string
  bytes?: number
  close?: number
  destroy?: true
  headers?: true
}

/**
 * Realtime sessions: the provider does what the text of an item created by the client contains, as JSON steps. Other
 * events are returned as `received`.
 */
function serveSessions(server: http.Server): void {
  const sessions = new WebSocketServer({ noServer: true })
  server.on("upgrade", (request, socket, head) => {
    sessions.handleUpgrade(request, socket, head, (session) => {
      session.send(JSON.stringify({ type: "session.created", session: { model: "live" } }))
      session.on("message", (data: Buffer) => onSessionEvent(session, data.toString(), request))
    })
  })
}

type SentEvent = { type: string; item?: { content?: { text?: string }[] } }

function onSessionEvent(session: WebSocket, text: string, request: http.IncomingMessage): void {
  const { type, item } = JSON.parse(text) as SentEvent
  if (type !== "conversation.item.create") return session.send(JSON.stringify({ type: "received", event: text }))
  const steps = JSON.parse(item?.content?.[0]?.text ?? "[]") as SessionStep[]
  for (const { send, raw, bytes, close, destroy, headers } of steps) {
    if (send) session.send(JSON.stringify(send))
    if (raw !== undefined) session.send(raw)
    if (bytes !== undefined) session.send(Buffer.alloc(bytes))
    if (headers) session.send(JSON.stringify({ type: "headers", url: request.url, headers: request.headers }))
    if (close !== undefined) session.close(close)
    if (destroy) session.terminate()
  }
}
