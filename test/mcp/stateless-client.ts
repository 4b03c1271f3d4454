import type { TestClient } from "../support/world.ts"
import { newReceiver, type Received } from "../observability/receiver.ts"
import { events, type Message, messageOf, result, send, text } from "./server.ts"

/** Clients and servers of revision 2026-07-28. */

export const VERSION = "2026-07-28"
const PREFIX = "io.modelcontextprotocol"
export const META = {
  [`${PREFIX}/protocolVersion`]: VERSION,
  [`${PREFIX}/clientInfo`]: { name: "test", version: "1" },
  [`${PREFIX}/clientCapabilities`]: { elicitation: {} },
}

export function request(method: string, params: Record<string, unknown> = {}, meta: object = {}): Message {
  return { jsonrpc: "2.0", id: 7, method, params: { ...params, _meta: { ...META, ...meta } } }
}

/** The headers that repeat fields of a request. */
export function headersOf({ method = "", params }: Message): Record<string, string> {
  const name = method === "resources/read" ? params?.["uri"] : params?.name
  return {
    "mcp-protocol-version": VERSION,
    "mcp-method": method,
    ...(typeof name === "string" && { "mcp-name": name }),
  }
}

/** Sends a request with its headers. `headers` adds or overrides some. */
export function sendMessage(as: TestClient, message: Message, headers: Record<string, string> = {}): Promise<Response> {
  return send(as, message, { ...headersOf(message), ...headers })
}

export const callTool = (as: TestClient, name: string, args: Record<string, unknown> = {}, more: object = {}) =>
  sendMessage(as, request("tools/call", { name, arguments: args, ...more }))

export const error = (id: unknown, code: number, data?: object) => ({
  jsonrpc: "2.0",
  id,
  error: { code, message: "refused by the server", ...(data && { data }) },
})

const TOOLS = ["query", "delete"].map((name) => ({ name, inputSchema: { type: "object" } }))
const CAPABILITIES = { tools: { listChanged: true }, resources: { subscribe: true, listChanged: true } }

/** A server of this revision only. */
export function statelessServer(received: Received): Response {
  const { id, method, params } = messageOf(received)
  if (received.headers.get("mcp-protocol-version") !== VERSION || received.headers.get("mcp-method") !== method) {
    return Response.json(error(id, -32_022, { supported: [VERSION], requested: "?" }), { status: 400 })
  }
  const complete = (value: object) => Response.json(result(id, { resultType: "complete", ...value }))
  if (method === "server/discover") {
    const about = { supportedVersions: [VERSION], capabilities: CAPABILITIES, instructions: "Ask." }
    const meta = { [`${PREFIX}/serverInfo`]: { name: "scripted", version: "1" } }
    return complete({ ...about, ttlMs: 5_000, cacheScope: "public", _meta: meta })
  }
  if (method === "tools/list") return complete({ tools: TOOLS, ttlMs: 5_000, cacheScope: "public" })
  if (method === "tools/call") return complete(text(JSON.stringify(params?.arguments ?? {})))
  return complete({})
}

/** A server with sessions, which supports only the earlier revisions. */
export function sessionServer(received: Received): Response {
  if (received.method === "DELETE") return new Response(null, { status: 204 })
  const { id, method, params } = messageOf(received)
  const session = received.headers.get("mcp-session-id")
  if (method === "initialize") {
    const about = { protocolVersion: "2025-11-25", capabilities: { ...CAPABILITIES, tasks: {} }, instructions: "Ask." }
    const answer = result(id, { ...about, serverInfo: { name: "scripted", version: "1" } })
    return Response.json(answer, { headers: { "mcp-session-id": "session-1" } })
  }
  if (session !== "session-1") return Response.json(error(null, -32_000), { status: 400 })
  if (id === undefined) return new Response(null, { status: 202 })
  if (method === "tools/list") {
    return Response.json(
      result(id, { tools: TOOLS.map((tool) => ({ ...tool, execution: { taskSupport: "optional" } })) }),
    )
  }
  if (method === "tools/call") return events(result(id, text(JSON.stringify(params?.arguments ?? {}))))
  if (method === "resources/read") return Response.json(error(id, -32_002, { code: 1 }))
  return Response.json(result(id, {}))
}

/** The methods that a server received. */
export const methodsOf = ({ got }: ReturnType<typeof newReceiver>) =>
  got.map((received) => (received.method === "DELETE" ? "DELETE" : messageOf(received).method))
