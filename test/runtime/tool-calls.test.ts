import { once } from "node:events"
import http from "node:http"
import type { AddressInfo } from "node:net"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import { afterAll, beforeAll, expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import type { Organization } from "./gateway.ts"
import { usageOf, useSetup } from "./setup.ts"

const setup = useSetup({ HOLD_TTL_MS: "1500", PRIVATE_HOSTS: "127.0.0.1" })

const PASSTHROUGH_NANO = 5_000_000
const TOOL_NANO = 3_000_000
const ROUNDS = 2
const COMPLETED = 3
const IN_FLIGHT = 10

let pending = 0
const never = () => {
  pending += 1
  return new Promise<never>(() => {})
}
/** A service at /jobs and an MCP server at /mcp. Both leave requests named `slow` without a response. */
const vendor = http.createServer((request, response) => {
  if (request.url?.startsWith("/mcp")) {
    const server = new McpServer({ name: "jobs", version: "1.0.0" })
    server.registerTool("slow", {}, never)
    server.registerTool("fast", {}, () => ({ content: [{ type: "text", text: "Done." }] }))
    const transport = new StreamableHTTPServerTransport({})
    return void server.connect(transport).then(() => transport.handleRequest(request, response))
  }
  if (request.url?.endsWith("/slow")) return void never()
  response.writeHead(200, { "content-type": "application/json" }).end("{}")
})

beforeAll(async () => {
  vendor.listen(0, "127.0.0.1")
  await once(vendor, "listening")
})
afterAll(() => {
  vendor.closeAllConnections()
  vendor.close()
})

async function newCaller(): Promise<{ organization: Organization; key: string }> {
  const organization = await setup.gateway.newOrganization()
  const base = `http://127.0.0.1:${(vendor.address() as AddressInfo).port}`
  const make = async (resource: string, input: object) => {
    const response = await setup.gateway.post(organization.managementKey, resource, input)
    const text = await response.text()
    expect(response.status, text).toBe(201)
    return JSON.parse(text) as { key?: string }
  }
  const rules = [{ path: "/jobs/*", price_usd: PASSTHROUGH_NANO / 1e9 }]
  await make("/passthrough-services", { slug: "jobs", name: "Jobs", base_url: base, rules })
  await make("/mcp-servers", { slug: "jobs", name: "Jobs", url: `${base}/mcp`, price_per_call_usd: TOOL_NANO / 1e9 })
  const { key = "" } = await make("/keys", { name: "agent", mcp_tools: ["jobs/*"] })
  return { organization, key }
}

const callTool = (name: string) => ({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: {} } })

/** One request to the service and one tool call; settles when both have a response or lost their connection. */
async function callBoth(key: string, name: "fast" | "slow"): Promise<void> {
  const { url } = setup.gateway
  const headers = {
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
  }
  const body = JSON.stringify(callTool(name))
  const responses = [
    fetch(`${url}/api/v1/passthrough/jobs/jobs/${name}`, { method: "POST", headers, body: "{}" }),
    fetch(`${url}/api/v1/mcp/jobs`, { method: "POST", headers, body }),
  ]
  await Promise.all(
    responses.map(async (response) => {
      try {
        await (await response).text()
      } catch {
        // The runtime was killed.
      }
    }),
  )
}

test("a runtime killed during passthrough requests and tool calls charges each its price once", async () => {
  const { gateway } = setup
  const { organization, key } = await newCaller()
  let made = 0
  for (let round = 0; round < ROUNDS; round++) {
    for (let at = 0; at < COMPLETED; at++) await callBoth(key, "fast")
    const reached = pending
    const calls = Array.from({ length: IN_FLIGHT }, () => callBoth(key, "slow"))
    await eventually(() => expect(pending).toBe(reached + 2 * IN_FLIGHT))
    // Calls of some duration have separate holds.
    await eventually(async () => expect(await gateway.holds(organization.id)).toHaveLength(2 * IN_FLIGHT))
    // As they go on, less is declared for calls that might start.
    await eventually(async () => expect(await gateway.declaredNano(organization.id)).toBeLessThan(4 * PASSTHROUGH_NANO))
    await gateway.killRuntime()
    await Promise.all(calls)
    made += COMPLETED + IN_FLIGHT

    const endings = await eventually(async () => {
      const found = Map.groupBy(await gateway.rows(organization.id), ({ ending }) => ending)
      const [complete = [], unsettled = []] = [found.get("complete"), found.get("unsettled")]
      expect(complete.length + unsettled.length).toBe(2 * made)
      expect(await gateway.holds(organization.id)).toEqual([])
      return found
    })
    expect(endings.get("complete")).toHaveLength(2 * COMPLETED * (round + 1))
    expect(endings.get("unsettled")).toHaveLength(2 * IN_FLIGHT * (round + 1))
    const costOf = (ending: string) => (endings.get(ending) ?? []).reduce((sum, row) => sum + row.cost_nano, 0)
    const attributed = costOf("complete") + costOf("unsettled")
    expect(attributed).toBe(made * (PASSTHROUGH_NANO + TOOL_NANO))
    // What the lost isolate had declared.
    const declared = costOf("unattributed")
    expect(declared).toBeLessThan(4 * (round + 1) * PASSTHROUGH_NANO)
    expect(await usageOf(setup, { ...organization, apiKey: key })).toEqual({
      key: attributed + declared,
      account: attributed + declared,
    })
  }
})
