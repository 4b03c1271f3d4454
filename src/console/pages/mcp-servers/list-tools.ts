import { ApiError, call } from "../../api/client.ts"

export type Tool = {
  name: string
  title?: string
  description?: string
  annotations?: { title?: string; readOnlyHint?: boolean; destructiveHint?: boolean }
}
export type ToolList = { tools: readonly Tool[]; protocol: string; server: string }

type Response<T> = { result?: T; error?: { code: number; message: string } }
type Initialized = { protocolVersion: string; serverInfo?: { name?: string; version?: string } }
type Page = { tools?: Tool[]; nextCursor?: string }

const NEWEST_VERSION = "2025-11-25"
const MAX_PAGES = 50

/** Requests the server's tools as a client of the gateway, with the rights of the session's key. */
export async function listTools(slug: string): Promise<ToolList> {
  const path = `/mcp/${slug}`
  const headers: Record<string, string> = { accept: "application/json, text/event-stream" }
  const request = async <T>(id: number, method: string, params: object): Promise<T> => {
    const response = await call(path, { method: "POST", headers, body: { jsonrpc: "2.0", id, method, params } })
    const session = response.headers.get("mcp-session-id")
    if (session !== null) headers["mcp-session-id"] = session
    return resultOf<T>(response, id)
  }
  const clientInfo = { name: "gateway-console", version: "1" }
  const about = await request<Initialized>(1, "initialize", {
    protocolVersion: NEWEST_VERSION,
    capabilities: {},
    clientInfo,
  })
  headers["mcp-protocol-version"] = about.protocolVersion
  await call(path, { method: "POST", headers, body: { jsonrpc: "2.0", method: "notifications/initialized" } })
  const tools: Tool[] = []
  let cursor: string | undefined
  for (let page = 0; page < MAX_PAGES; page++) {
    const listed: Page = await request<Page>(page + 2, "tools/list", cursor === undefined ? {} : { cursor })
    tools.push(...(listed.tools ?? []))
    cursor = listed.nextCursor
    if (cursor === undefined) break
  }
  // Ends the session; a failure has no effect here.
  if (headers["mcp-session-id"] !== undefined) await call(path, { method: "DELETE", headers }).catch(() => {})
  const { name = "", version = "" } = about.serverInfo ?? {}
  return { tools, protocol: about.protocolVersion, server: `${name} ${version}`.trim() }
}

/** The response to a request: the JSON body, or the event with its id. */
async function resultOf<T>(response: globalThis.Response, id: number): Promise<T> {
  const text = await response.text()
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream")
  const documents = isStream
    ? text.split("\n").flatMap((line) => (line.startsWith("data:") ? [line.slice(5)] : []))
    : [text]
  const messages = documents.map((each) => JSON.parse(each) as Response<T> & { id?: number })
  const received = messages.find((message) => message.id === id)
  if (received?.result !== undefined) return received.result
  const facts = { status: 0, requestId: response.headers.get("x-request-id") }
  throw new ApiError(received?.error?.message ?? "The server did not respond to the request.", facts)
}
