import { invalid, unknownModel } from "../statuses.ts"
import { realtimeModels } from "./models.ts"
import { ScriptedSession } from "./session.ts"

const CLOSED_BY_FAULT = 1011

/** `GET /v1/realtime?model=`: a WebSocket with the events of the OpenAI Realtime API. */
export function serveRealtime(request: Request): Response {
  const slug = new URL(request.url).searchParams.get("model") ?? ""
  const model = realtimeModels.find((one) => one.slug === slug)
  if (!model) return unknownModel(slug)
  if (request.headers.get("upgrade") !== "websocket") {
    return invalid(400, "Open this path as a WebSocket.", null, "upgrade_required")
  }
  if (model.fault === "refuse") return invalid(429, "Too many sessions.", null, "rate_limit_exceeded")
  const { 0: webSocket, 1: serverSocket } = new WebSocketPair()
  const key = request.headers.get("authorization") ?? ""
  const session = new ScriptedSession(model, {
    key,
    send: (event) => serverSocket.send(JSON.stringify(event)),
    close: () => serverSocket.close(CLOSED_BY_FAULT, "broken"),
  })
  serverSocket.addEventListener("message", ({ data }) => {
    if (typeof data === "string") session.receive(data)
  })
  serverSocket.addEventListener("close", () => session.stop())
  serverSocket.accept()
  session.open()
  return new Response(null, { status: 101, webSocket })
}
