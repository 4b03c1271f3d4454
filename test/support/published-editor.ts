import { client, type ClientConnection, methods, type SessionNotification } from "@agentclientprotocol/sdk"
import { createWebSocketStream, type WebSocketConstructor } from "@agentclientprotocol/sdk/experimental/ws-client"
import { WebSocket } from "ws"

export type Access = { origin: string; token: string }

/** All .localhost names are loopback, but not every resolver supports that. */
class LocalWebSocket extends WebSocket {
  constructor(url: string, protocols?: string | string[], options: object = {}) {
    super(url, protocols, {
      ...options,
      lookup: (_: string, { all }: { all?: boolean }, found: (...args: unknown[]) => void) =>
        all === true ? found(null, [{ address: "127.0.0.1", family: 4 }]) : found(null, "127.0.0.1", 4),
    } as object)
  }
}

const opened: ClientConnection[] = []

export function closeEditors(): void {
  for (const connection of opened.splice(0)) connection.close()
}

/** The published client as in an editor, with a user who allows everything once, or who does not answer. */
export function connectEditor({ origin, token }: Access, { isAway = false } = {}) {
  const updates: SessionNotification[] = []
  const questions: string[] = []
  const stream = createWebSocketStream(`${origin.replace("http", "ws")}/acp`, {
    headers: { authorization: `Bearer ${token}` },
    WebSocket: LocalWebSocket as unknown as WebSocketConstructor,
  })
  const connection = client({ name: "editor" })
    .onRequest(methods.client.session.requestPermission, async ({ params }) => {
      questions.push(params.toolCall.toolCallId)
      if (isAway) await new Promise(() => {})
      const option = params.options.find(({ kind }) => kind === "allow_once")
      return { outcome: { outcome: "selected", optionId: option?.optionId ?? "" } }
    })
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params))
    .connect(stream)
  opened.push(connection)
  const said = (kind = "agent_message_chunk") =>
    updates
      .map(({ update }) => update)
      .filter(({ sessionUpdate }) => sessionUpdate === kind)
      .map((update) => ("content" in update && !Array.isArray(update.content) ? update.content : undefined))
      .map((content) => (content?.type === "text" ? content.text : ""))
      .join("")
  const begin = () =>
    connection.agent.request(methods.agent.initialize, {
      protocolVersion: 1,
      clientCapabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true },
    })
  const prompt = (sessionId: string, text: string) =>
    connection.agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] })
  return { connection, updates, questions, said, begin, prompt }
}
