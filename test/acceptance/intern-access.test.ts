import { client, type ClientConnection, methods, type SessionNotification } from "@agentclientprotocol/sdk"
import { createWebSocketStream, type WebSocketConstructor } from "@agentclientprotocol/sdk/experimental/ws-client"
import { afterAll, beforeAll, expect, test } from "vitest"
import { WebSocket } from "ws"
import { runDaemon } from "../daemon/run-daemon.ts"
import { eventually } from "../support/eventually.ts"
import { gatewayUrl, newOrganization, type Organization } from "./world.ts"

type Access = { origin: string; token: string }

let organization: Organization
const opened: ClientConnection[] = []

beforeAll(async () => {
  organization = await newOrganization()
})

afterAll(() => {
  for (const connection of opened) connection.close()
})

async function told<T>(method: string, resource: string, body?: object): Promise<T> {
  const answer = await fetch(gatewayUrl + resource, {
    method,
    headers: { authorization: `Bearer ${organization.apiKey}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  expect(answer.status, text).toBeLessThan(300)
  return JSON.parse(text) as T
}

const becomesRunning = (id: string) =>
  eventually(async () => expect(await told("GET", `/interns/${id}`)).toMatchObject({ status: "running" }))

/** Every .localhost name is this computer; not every resolver knows. */
class LocalWebSocket extends WebSocket {
  constructor(url: string, protocols?: string | string[], options: object = {}) {
    super(url, protocols, {
      ...options,
      lookup: (_: string, { all }: { all?: boolean }, found: (...args: unknown[]) => void) =>
        all === true ? found(null, [{ address: "127.0.0.1", family: 4 }]) : found(null, "127.0.0.1", 4),
    } as object)
  }
}

/** The published client, as an editor has it, with a person who allows everything once. */
function connect({ origin, token }: Access) {
  const updates: SessionNotification[] = []
  const stream = createWebSocketStream(`${origin.replace("http", "ws")}/acp`, {
    headers: { authorization: `Bearer ${token}` },
    WebSocket: LocalWebSocket as unknown as WebSocketConstructor,
  })
  const connection = client({ name: "editor" })
    .onRequest(methods.client.session.requestPermission, ({ params }) => {
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
  return { connection, updates, said, begin, prompt }
}

test("the published ACP client works with an intern's agent, leaves, and finds its session again", async () => {
  const made = { name: "ada", model: "sim/tool-call", provision: true }
  const { id } = await told<{ id: string }>("POST", "/interns", made)
  await becomesRunning(id)
  const access = await told<Access>("GET", `/interns/${id}/daemon`)
  const first = connect(access)
  expect(await first.begin()).toMatchObject({ protocolVersion: 1, agentCapabilities: { loadSession: true } })
  const { sessionId } = await first.connection.agent.request(methods.agent.session.new, { cwd: "/", mcpServers: [] })
  expect(await first.prompt(sessionId, "echo hello | tr a-z A-Z")).toMatchObject({ stopReason: "end_turn" })
  expect(first.said()).toContain("HELLO")
  first.connection.close()

  const second = connect(access)
  await second.begin()
  await second.connection.agent.request(methods.agent.session.load, { sessionId, cwd: "/", mcpServers: [] })
  expect(second.said("user_message_chunk")).toBe("echo hello | tr a-z A-Z")
  expect(await second.prompt(sessionId, "pwd")).toMatchObject({ stopReason: "end_turn" })

  await told("POST", `/interns/${id}/suspend`)
  await second.connection.closed
  await expect(connect(access).begin()).rejects.toThrow()
})

test("and with an agent of a daemon, which it stops in the middle of its work", async () => {
  const made = { name: "bob", host: "daemon", model: "sim/echo", provision: true }
  const { id } = await told<{ id: string }>("POST", "/interns", made)
  const { token } = await told<{ token: string }>("POST", `/interns/${id}/daemon/token`)
  const daemon = runDaemon(Number(new URL(gatewayUrl).port), { intern: id, token, args: [] })
  try {
    await becomesRunning(id)
    const editor = connect(await told<Access>("GET", `/interns/${id}/daemon`))
    await editor.begin()
    const { agent } = editor.connection
    const { sessionId } = await agent.request(methods.agent.session.new, { cwd: "/", mcpServers: [] })
    expect(await editor.prompt(sessionId, "say hello\nask rm")).toMatchObject({ stopReason: "end_turn" })
    expect(editor.said()).toBe("hello rm: allow_once")
    // More than a client may leave unread: that it reads is asked of it in between, and it answers.
    for (let round = 0; round < 4; round++) await editor.prompt(sessionId, `big ${3 * 1024 * 1024}`)
    expect(editor.said().length).toBeGreaterThan(12 * 1024 * 1024)
    const held = editor.prompt(sessionId, "say waiting\nhold")
    await eventually(() => expect(editor.said()).toContain("waiting"))
    await agent.notify(methods.agent.session.cancel, { sessionId })
    expect(await held).toMatchObject({ stopReason: "cancelled" })
  } finally {
    await daemon.stop()
  }
})
