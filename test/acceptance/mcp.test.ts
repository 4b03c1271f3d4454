import { once } from "node:events"
import { mkdtempSync } from "node:fs"
import http from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import path from "node:path"
import { Client as SecondClient, StreamableHTTPClientTransport as SecondTransport } from "@modelcontextprotocol/client"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest"
import * as z from "zod"
import { eventually } from "../support/eventually.ts"
import { installInspector } from "../support/install-package.ts"
import { run } from "./command.ts"
import { gatewayUrl, newKey, newOrganization, openai, type Organization } from "./world.ts"
import { removeFolder } from "../support/remove-folder.ts"

/** The official SDK on both sides of the gateway: its client, and a server made with it. And the official inspector. */

const TOKEN = "Bearer token-of-the-server-0123456789"
const transports = new Map<string, StreamableHTTPServerTransport>()
/** Session ids that the server received, and the signals of its running calls. */
const seen: { session: string | undefined; authorization: string | undefined; method: string | undefined }[] = []
let cancelled = 0

function newServer(): McpServer {
  const server = new McpServer({ name: "tools", version: "1.0.0" })
  server.registerTool("add", { inputSchema: { a: z.number(), b: z.number() } }, ({ a, b }) => ({
    content: [{ type: "text", text: String(a + b) }],
  }))
  server.registerTool("slow", {}, async ({ sendNotification, _meta: about }) => {
    for (const progress of [1, 2, 3]) {
      const progressToken = about?.progressToken ?? 0
      await sendNotification({ method: "notifications/progress", params: { progressToken, progress, total: 3 } })
    }
    return { content: [{ type: "text", text: "done" }] }
  })
  server.registerTool("hang", {}, () => new Promise(() => {}))
  server.registerTool("secret", {}, () => ({ content: [{ type: "text", text: "hidden" }] }))
  server.registerResource("readme", "file:///readme", {}, (uri) => ({
    contents: [{ uri: uri.href, text: "Read me." }],
  }))
  server.registerPrompt("hello", {}, () => ({ messages: [{ role: "user", content: { type: "text", text: "Hello" } }] }))
  return server
}

const upstream = http.createServer((request, response) => {
  const session = request.headers["mcp-session-id"]
  const id = typeof session === "string" ? session : undefined
  seen.push({ session: id, authorization: request.headers.authorization, method: request.method })
  response.on("close", () => {
    if (!response.writableEnded) cancelled++
  })
  void handle(id, request, response)
})

async function handle(id: string | undefined, request: http.IncomingMessage, response: http.ServerResponse) {
  let transport = id === undefined ? undefined : transports.get(id)
  if (!transport) {
    const opened = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (session) => void transports.set(session, opened),
    })
    transport = opened
    await newServer().connect(opened)
  }
  await transport.handleRequest(request, response)
}

let organization: Organization
let inspectorCommands: string

beforeAll(async () => {
  inspectorCommands = await installInspector()
  upstream.listen(0, "127.0.0.1")
  await once(upstream, "listening")
  const { port } = upstream.address() as AddressInfo
  organization = await newOrganization()
  const input = {
    slug: "tools",
    name: "Tools",
    url: `http://127.0.0.1:${port}/mcp`,
    headers: { Authorization: TOKEN },
    price_per_call_usd: 0.001,
    tool_prices_usd: { slow: 0.000000007 },
  }
  const registered = await fetch(`${gatewayUrl}/mcp-servers`, {
    method: "POST",
    headers: { authorization: `Bearer ${organization.managementKey}`, "content-type": "application/json" },
    body: JSON.stringify(input),
  })
  expect(registered.status, await registered.text()).toBe(201)
}, 240_000)

afterAll(() => {
  upstream.closeAllConnections()
  upstream.close()
})

async function connected(tools: readonly string[]) {
  const apiKey = await newKey(organization, { mcp_tools: tools })
  const transport = new StreamableHTTPClientTransport(new URL(`${gatewayUrl}/mcp/tools`), {
    requestInit: { headers: { authorization: `Bearer ${apiKey}` } },
  })
  const client = new Client({ name: "test", version: "1.0.0" })
  await client.connect(transport)
  return { client, transport, apiKey }
}

async function spentBy(apiKey: string): Promise<number> {
  const response = await fetch(`${gatewayUrl}/key`, { headers: { authorization: `Bearer ${apiKey}` } })
  return ((await response.json()) as { data: { usage: number } }).data.usage
}

test("the MCP client lists and calls tools, each at its price, and ends its session", async () => {
  const { client, transport, apiKey } = await connected(["tools/*"])
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["add", "slow", "hang", "secret"])
  const sum = await client.callTool({ name: "add", arguments: { a: 2, b: 3 } })
  expect(sum.content).toEqual([{ type: "text", text: "5" }])
  const progress: number[] = []
  const slow = await client.callTool({ name: "slow" }, undefined, {
    onprogress: ({ progress: at }) => void progress.push(at),
  })
  expect(slow.content).toEqual([{ type: "text", text: "done" }])
  expect(progress).toEqual([1, 2, 3])
  await eventually(async () => expect(await spentBy(apiKey)).toBe(0.001000007))
  expect((await client.readResource({ uri: "file:///readme" })).contents).toMatchObject([{ text: "Read me." }])
  expect((await client.getPrompt({ name: "hello" })).messages).toHaveLength(1)
  await client.ping()
  const { sessionId } = transport
  expect(seen.every(({ session }) => session !== sessionId)).toBe(true)
  expect(seen.every(({ authorization }) => authorization === TOKEN)).toBe(true)
  await transport.terminateSession()
  expect(seen.at(-1)).toMatchObject({ method: "DELETE", session: expect.stringMatching(/^[0-9a-f-]{36}$/) })
  await client.close()
})

/** Version 2 of the SDK, which the inspector uses. `auto` tries newer revisions first. */
async function connectedBySecond(apiKey: string, mode: "legacy" | "auto") {
  const client = new SecondClient({ name: "test", version: "1.0.0" }, { versionNegotiation: { mode } })
  const requestInit = { headers: { authorization: `Bearer ${apiKey}` } }
  await client.connect(new SecondTransport(new URL(`${gatewayUrl}/mcp/tools`), { requestInit }))
  return client
}

test.each(["legacy", "auto"] as const)("version 2 of the MCP client has all features of a server, %s", async (mode) => {
  const apiKey = await newKey(organization, { mcp_tools: ["tools/*"] })
  const client = await connectedBySecond(apiKey, mode)
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["add", "slow", "hang", "secret"])
  const sum = await client.callTool({ name: "add", arguments: { a: 2, b: 3 } })
  expect(sum.content).toEqual([{ type: "text", text: "5" }])
  const refused = await client.callTool({ name: "add", arguments: { a: "two" } })
  expect(refused.isError).toBe(true)
  expect((await client.listResources()).resources).toMatchObject([{ uri: "file:///readme" }])
  expect((await client.listResourceTemplates()).resourceTemplates).toEqual([])
  expect((await client.readResource({ uri: "file:///readme" })).contents).toMatchObject([{ text: "Read me." }])
  expect((await client.listPrompts()).prompts).toMatchObject([{ name: "hello" }])
  expect((await client.getPrompt({ name: "hello" })).messages).toHaveLength(1)
  await eventually(async () => expect(await spentBy(apiKey)).toBe(0.002))
  await client.close()
})

test("version 2 of the MCP client sees only what its key may use, and nothing with a wrong key", async () => {
  const apiKey = await newKey(organization, { mcp_tools: ["tools/add"] })
  const client = await connectedBySecond(apiKey, "auto")
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["add"])
  expect(client.getServerCapabilities()).not.toHaveProperty("resources")
  await expect(client.callTool({ name: "secret" })).rejects.toThrow(/may not call the tool secret/)
  await client.close()
  await expect(connectedBySecond(`${apiKey}x`, "legacy")).rejects.toThrow(/This API key is not valid/)
})

test("the MCP client sees only the tools of its key", async () => {
  const { client, apiKey } = await connected(["tools/add"])
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["add"])
  await expect(client.callTool({ name: "secret" })).rejects.toThrow(/may not call the tool secret/)
  await expect(client.listResources()).rejects.toThrow(/tools\/\*/)
  expect(await spentBy(apiKey)).toBe(0)
  await client.close()
})

test.each(["whole", "streamed"])("the openai client gets the tools of a server called, %s", async (form) => {
  const apiKey = await newKey(organization, { mcp_tools: ["tools/add"] })
  const request = {
    model: "sim/tool-call",
    input: "Add something.",
    tools: [{ type: "mcp" as const, server_label: "tools", require_approval: "never" as const }],
  }
  const client = openai(apiKey)
  const response =
    form === "whole" ? await client.responses.create(request) : await client.responses.stream(request).finalResponse()
  const call = response.output.find(({ type }) => type === "mcp_call")
  expect(call).toMatchObject({
    server_label: "tools",
    name: "add",
    error: null,
    output: expect.stringMatching(/^-?\d/),
  })
  expect(response.output_text).toContain("The tool answered:")
  await eventually(async () => expect(await spentBy(apiKey)).toBeGreaterThan(0.001))
})

test("a call that the MCP client aborts is cancelled at the server", async () => {
  const { client, apiKey } = await connected(["tools/*"])
  const before = cancelled
  const call = client.callTool({ name: "hang" }, undefined, { timeout: 500 })
  await expect(call).rejects.toThrow(/timed out/)
  await client.close()
  await eventually(async () => expect(cancelled).toBeGreaterThan(before))
  await eventually(async () => expect(await spentBy(apiKey)).toBe(0.001))
})

/** The official inspector on the command line, in a separate home. */
async function inspect(apiKey: string, era: string, ...request: string[]) {
  const home = mkdtempSync(path.join(tmpdir(), "gateway-inspector-"))
  onTestFinished(() => removeFolder(home))
  const target = ["--cli", `${gatewayUrl}/mcp/tools`, "--transport", "http", "--protocol-era", era]
  const header = ["--header", `Authorization: Bearer ${apiKey}`, "--stored-auth-only"]
  const env = { HOME: home, PATH: `${path.dirname(process.execPath)}${path.delimiter}${process.env["PATH"]}` }
  return run(path.join(inspectorCommands, "inspector"), [...target, ...header, ...request], { env, cwd: home })
}

type Calls = { data: { model: string; status: number; outcome: string; cost: number }[] }

async function callsOf(apiKey: string): Promise<Calls["data"]> {
  const response = await fetch(`${gatewayUrl}/calls`, { headers: { authorization: `Bearer ${apiKey}` } })
  return ((await response.json()) as Calls).data
}

test.each(["legacy", "modern"])("the inspector lists and calls the tools of its key, era %s", async (era) => {
  const apiKey = await newKey(organization, { mcp_tools: ["tools/add"] })
  const listed = await inspect(apiKey, era, "--method", "tools/list", "--strict")
  expect(listed.code, listed.errors).toBe(0)
  const { tools } = JSON.parse(listed.out) as { tools: { name: string }[] }
  expect(tools.map(({ name }) => name)).toEqual(["add"])

  const call = ["--method", "tools/call", "--tool-name"]
  const sum = await inspect(apiKey, era, ...call, "add", "--tool-arg", "a=2", "b=3")
  expect(sum.code, sum.errors).toBe(0)
  expect(JSON.parse(sum.out)).toMatchObject({ content: [{ type: "text", text: "5" }] })
  await eventually(async () => {
    expect(await callsOf(apiKey)).toMatchObject([{ model: "mcp/tools/add", status: 200, outcome: "ok", cost: 0.001 }])
  })

  // The tool is not in the inspector's list; a resource is requested from the gateway.
  const denied = await inspect(apiKey, era, ...call, "secret")
  expect([denied.code, denied.errors]).toEqual([5, expect.stringContaining("Tool 'secret' not found")])
  const resource = await inspect(apiKey, era, "--method", "resources/read", "--uri", "file:///readme")
  expect([resource.code, resource.errors]).toEqual([1, expect.stringContaining("needs mcp_tools with tools/*")])
  expect(await spentBy(apiKey)).toBe(0.001)
})

test("the inspector reports an invalid key", async () => {
  const refused = await inspect("sk-gw-v1-wrong", "legacy", "--method", "tools/list")
  expect([refused.code, refused.errors]).toEqual([3, expect.stringContaining("This API key is not valid")])
})
