import { once } from "node:events"
import http from "node:http"
import type { AddressInfo } from "node:net"
import { Readable } from "node:stream"
import { text } from "node:stream/consumers"
import { Client, StreamableHTTPClientTransport, type ClientOptions } from "@modelcontextprotocol/client"
import { createMcpHandler, inputRequired, McpServer } from "@modelcontextprotocol/server"
import { McpServer as SessionServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import * as z from "zod"
import { eventually } from "../support/eventually.ts"
import { gatewayUrl, newKey, newOrganization, openai, type Organization } from "./world.ts"

/** The official SDK of revision 2026-07-28 on both sides, and servers of an earlier one. */

const VERSION = "2026-07-28"
const PRICE = 0.001
let cancelled = 0
let organization: Organization

const textOf = (value: string) => ({ content: [{ type: "text" as const, text: value }] })
const ADD = { inputSchema: z.object({ a: z.number(), b: z.number() }) }
const HELLO = { role: "user" as const, content: { type: "text" as const, text: "Hello" } }

function newServer(): McpServer {
  const server = new McpServer({ name: "tools", version: "1.0.0" })
  server.registerTool("add", ADD, ({ a, b }) => textOf(String(a + b)))
  server.registerTool("slow", {}, async ({ mcpReq: { notify, _meta: about } }) => {
    for (const progress of [1, 2, 3]) {
      const progressToken = about?.progressToken ?? 0
      await notify({ method: "notifications/progress", params: { progressToken, progress, total: 3 } })
    }
    return textOf("done")
  })
  server.registerTool("hang", {}, () => new Promise(() => {}))
  server.registerTool("startMessage", {}, ({ mcpReq: { inputResponses } }) => {
    if (inputResponses?.["name"] !== undefined) return textOf(JSON.stringify(inputResponses["name"]))
    const requestedSchema = { type: "object" as const, properties: { name: { type: "string" as const } } }
    const name = inputRequired.elicit({ message: "Your name?", requestedSchema })
    return inputRequired({ inputRequests: { name } })
  })
  const place = z.string().meta({ "x-mcp-header": "Place" })
  server.registerTool("place", { inputSchema: z.object({ place }) }, ({ place: at }) => textOf(at))
  server.registerResource("readme", "file:///readme", {}, (uri) => ({
    contents: [{ uri: uri.href, text: "Read me." }],
  }))
  server.registerPrompt("hello", {}, () => ({ messages: [HELLO] }))
  return server
}

function newSessionServer(): SessionServer {
  const server = new SessionServer({ name: "tools", version: "1.0.0" })
  server.registerTool("add", { inputSchema: ADD.inputSchema.shape }, ({ a, b }) => textOf(String(a + b)))
  server.registerTool("slow", {}, async ({ sendNotification, _meta: about }) => {
    for (const progress of [1, 2, 3]) {
      const progressToken = about?.progressToken ?? 0
      await sendNotification({ method: "notifications/progress", params: { progressToken, progress, total: 3 } })
    }
    return textOf("done")
  })
  server.registerTool("hang", {}, () => new Promise(() => {}))
  server.registerResource("readme", "file:///readme", {}, (uri) => ({
    contents: [{ uri: uri.href, text: "Read me." }],
  }))
  server.registerPrompt("hello", {}, () => ({ messages: [HELLO] }))
  return server
}

const stateless = createMcpHandler(newServer, { legacy: "reject" })
const sessions = new Map<string, StreamableHTTPServerTransport>()

const upstream = http.createServer((request, response) => {
  response.on("close", () => {
    if (!response.writableEnded) cancelled++
  })
  void (request.url === "/sessions" ? inSession(request, response) : answer(request, response))
})

async function answer(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
  const left = new AbortController()
  response.on("close", () => left.abort())
  const headers = new Headers(request.headers as Record<string, string>)
  const body = request.method === "POST" ? await text(request) : null
  const sent = new Request("http://127.0.0.1/mcp", {
    method: request.method ?? "GET",
    headers,
    body,
    signal: left.signal,
  })
  const answered = await stateless.fetch(sent)
  response.writeHead(answered.status, Object.fromEntries(answered.headers))
  if (!answered.body) return void response.end()
  Readable.fromWeb(answered.body as Parameters<typeof Readable.fromWeb>[0])
    .on("error", () => response.destroy())
    .pipe(response)
}

async function inSession(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
  const session = request.headers["mcp-session-id"]
  let transport = typeof session === "string" ? sessions.get(session) : undefined
  if (!transport) {
    const opened = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, opened),
      onsessionclosed: (id) => void sessions.delete(id),
    })
    transport = opened
    await newSessionServer().connect(opened)
  }
  await transport.handleRequest(request, response)
}

beforeAll(async () => {
  upstream.listen(0, "127.0.0.1")
  await once(upstream, "listening")
  const { port } = upstream.address() as AddressInfo
  organization = await newOrganization()
  for (const slug of ["stateless", "sessions"]) {
    const input = { slug, name: slug, url: `http://127.0.0.1:${port}/${slug}`, price_per_call_usd: PRICE }
    const registered = await fetch(`${gatewayUrl}/mcp-servers`, {
      method: "POST",
      headers: { authorization: `Bearer ${organization.managementKey}`, "content-type": "application/json" },
      body: JSON.stringify(input),
    })
    expect(registered.status, await registered.text()).toBe(201)
  }
})

afterAll(async () => {
  await stateless.close()
  upstream.closeAllConnections()
  upstream.close()
})

type Mode = NonNullable<NonNullable<ClientOptions["versionNegotiation"]>["mode"]>
const PINNED: Mode = { pin: VERSION }

async function connected(server: string, mode: Mode, tools: readonly string[]) {
  const apiKey = await newKey(organization, { mcp_tools: tools })
  const capabilities = { elicitation: { form: {} } }
  const client = new Client({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode }, capabilities })
  client.setRequestHandler("elicitation/create", () => ({ action: "accept", content: { name: "Ada" } }))
  const requestInit = { headers: { authorization: `Bearer ${apiKey}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${gatewayUrl}/mcp/${server}`), { requestInit }))
  return { client, apiKey }
}

async function spentBy(apiKey: string): Promise<number> {
  const response = await fetch(`${gatewayUrl}/key`, { headers: { authorization: `Bearer ${apiKey}` } })
  return ((await response.json()) as { data: { usage: number } }).data.usage
}

const MODES: readonly (readonly [string, Mode])[] = [
  ["pinned to the revision", PINNED],
  ["that discovers the revision", "auto"],
]

describe.each(["stateless", "sessions"])("the MCP client with a server that is %s", (server) => {
  test.each([...MODES, ["of an earlier revision", "legacy"] as const])("%s has all features", async (_, mode) => {
    const { client, apiKey } = await connected(server, mode, [`${server}/*`])
    expect(client.getNegotiatedProtocolVersion()).toBe(mode === "legacy" ? "2025-11-25" : VERSION)
    expect(client.getServerVersion()).toMatchObject({ name: "tools" })
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(expect.arrayContaining(["add", "slow"]))
    expect((await client.callTool({ name: "add", arguments: { a: 2, b: 3 } })).content).toEqual(textOf("5").content)
    expect((await client.callTool({ name: "add", arguments: { a: "two" } })).isError).toBe(true)
    const progress: number[] = []
    const onprogress = ({ progress: at }: { progress: number }) => void progress.push(at)
    expect((await client.callTool({ name: "slow" }, { onprogress })).content).toEqual(textOf("done").content)
    expect(progress).toEqual([1, 2, 3])
    expect((await client.listResources()).resources).toMatchObject([{ uri: "file:///readme" }])
    expect((await client.readResource({ uri: "file:///readme" })).contents).toMatchObject([{ text: "Read me." }])
    expect((await client.listPrompts()).prompts).toMatchObject([{ name: "hello" }])
    expect((await client.getPrompt({ name: "hello" })).messages).toHaveLength(1)
    await eventually(async () => expect(await spentBy(apiKey)).toBe(0.003))
    await client.close()
  })

  test.each(MODES)("%s sees only what its key may use", async (_, mode) => {
    const { client, apiKey } = await connected(server, mode, [`${server}/add`])
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["add"])
    expect(client.getServerCapabilities()).not.toHaveProperty("resources")
    await expect(client.callTool({ name: "hang" })).rejects.toThrow(/may not call the tool hang/)
    expect(await spentBy(apiKey)).toBe(0)
    await client.close()
  })

  test("a call that the client aborts is cancelled at the server", async () => {
    const { client, apiKey } = await connected(server, PINNED, [`${server}/*`])
    const before = cancelled
    await expect(client.callTool({ name: "hang" }, { timeout: 500 })).rejects.toThrow(/timed out/)
    await client.close()
    await eventually(async () => expect(cancelled).toBeGreaterThan(before))
    await eventually(async () => expect(await spentBy(apiKey)).toBe(PRICE))
  })

  test("the openai client gets its tools called", async () => {
    const apiKey = await newKey(organization, { mcp_tools: [`${server}/add`] })
    const response = await openai(apiKey).responses.create({
      model: "sim/tool-call",
      input: "Add something.",
      tools: [{ type: "mcp" as const, server_label: server, require_approval: "never" as const }],
    })
    const call = response.output.find(({ type }) => type === "mcp_call")
    expect(call).toMatchObject({ name: "add", error: null, output: expect.stringMatching(/^-?\d/) })
  })
})

test("a tool requests input from the client, and both rounds cost one price", async () => {
  const { client, apiKey } = await connected("stateless", PINNED, ["stateless/*"])
  const { content } = await client.callTool({ name: "startMessage" })
  expect(JSON.stringify(content)).toContain("Ada")
  await eventually(async () => expect(await spentBy(apiKey)).toBe(PRICE))
  await client.close()
})

test("a server gets arguments in headers", async () => {
  const { client } = await connected("stateless", PINNED, ["stateless/*"])
  await client.listTools()
  const { content } = await client.callTool({ name: "place", arguments: { place: "Łódź" } })
  expect(content).toEqual(textOf("Łódź").content)
  await client.close()
})
