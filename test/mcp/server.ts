import { expect } from "vitest"
import { newReceiver, type Received } from "../observability/receiver.ts"
import { expectJson, newKey, newWorkspace, type TestClient, type Workspace } from "../support/world.ts"

/** A scripted MCP server behind the gateway. */

export type Message = {
  jsonrpc: "2.0"
  id?: string | number
  method?: string
  params?: { name?: string; arguments?: Record<string, unknown>; [field: string]: unknown }
  result?: Record<string, unknown>
  error?: { code: number; message: string; data?: { code?: number; reason?: string } }
}

export const messageOf = (received: Received) => JSON.parse(received.body) as Message
export const result = (id: unknown, value: unknown) => ({ jsonrpc: "2.0", id, result: value })
export const text = (value: string) => ({ content: [{ type: "text", text: value }] })

export function events(...messages: readonly (object | string)[]): Response {
  const frames = messages.map((one) =>
    typeof one === "string" ? one : `event: message\ndata: ${JSON.stringify(one)}\n\n`,
  )
  return new Response(frames.join(""), { headers: { "content-type": "text/event-stream" } })
}

const TOOLS = ["query", "delete", "Query"].map((name) => ({ name, inputSchema: { type: "object" } }))

/** A server with some tools, each of which returns its arguments. */
export function wellBehaved(received: Received): Response {
  if (received.body === "") return new Response(null, { status: 204 })
  const { id, method, params } = messageOf(received)
  if (id === undefined) return new Response(null, { status: 202 })
  if (method === "initialize") {
    const about = { protocolVersion: params?.["protocolVersion"], capabilities: { tools: {}, tasks: {} } }
    const answer = result(id, { ...about, serverInfo: { name: "scripted", version: "1" } })
    return Response.json(answer, { headers: { "mcp-session-id": "upstream-session-1" } })
  }
  if (method === "tools/list") return Response.json(result(id, { tools: TOOLS }))
  if (method === "tools/call") return Response.json(result(id, text(JSON.stringify(params?.arguments ?? {}))))
  return Response.json(result(id, {}))
}

export type Setup = {
  workspace: Workspace
  receiver: ReturnType<typeof newReceiver>
  /** A key that may call every tool. */
  as: TestClient
  hash: string
  key: string
}

/** A workspace with the server `search`, which responds with `answer`. `path` of the server: the end of its URL. */
export async function newSetup(
  answer: Parameters<typeof newReceiver>[0] = wellBehaved,
  server: Record<string, unknown> = {},
  key: Record<string, unknown> = {},
): Promise<Setup> {
  const workspace = await newWorkspace()
  const receiver = newReceiver(answer)
  const { path = "", ...others } = server
  const input = {
    slug: "search",
    name: "Search",
    url: `${receiver.url}${String(path)}`,
    headers: { Authorization: "Bearer of-the-server" },
  }
  await expectJson(201, workspace.manage.post("/mcp-servers", { ...input, ...others }))
  const made = await newKey(workspace, { mcp_tools: ["search/*"], ...key })
  return { workspace, receiver, ...made }
}

const ACCEPT = { accept: "application/json, text/event-stream" }

export function send(as: TestClient, message: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return as.post("/mcp/search", message, { ...ACCEPT, ...headers })
}

export const callOf = (name: string, args: Record<string, unknown> = {}, more: object = {}): Message => ({
  jsonrpc: "2.0",
  id: 7,
  method: "tools/call",
  params: { name, arguments: args, ...more },
})

/** The response to a call, from JSON or events, and the id of its generation. */
export async function call(
  as: TestClient,
  name: string,
  args: Record<string, unknown> = {},
): Promise<Message & { generation: string | null }> {
  const response = await send(as, callOf(name, args))
  const raw = await response.text()
  expect(response.status, raw).toBe(200)
  const last = raw.startsWith("{") ? raw : (raw.trimEnd().split("data: ").at(-1) ?? "")
  const message = JSON.parse(last) as Message
  expect(message.id).toBe(7)
  return { ...message, generation: response.headers.get("x-generation-id") }
}
