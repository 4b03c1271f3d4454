import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { mockReceivers } from "../observability/receiver.ts"
import { eventually } from "../support/eventually.ts"
import {
  client,
  expectJson,
  newKey,
  newWorkspace,
  openHolds,
  readStream,
  receiptOf,
  type TestClient,
} from "../support/world.ts"
import { useShortHeartbeats } from "../support/variable.ts"
import { call, callOf, events, type Message, messageOf, newSetup, result, send, text, wellBehaved } from "./server.ts"

beforeAll(mockReceivers)
afterAll(() => vi.restoreAllMocks())

const initialize = (protocolVersion: string) => ({
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion, capabilities: {}, clientInfo: { name: "test", version: "1" } },
})

describe("a session", () => {
  test.each(["2025-11-25", "2025-06-18", "2025-03-26"])("uses revision %s", async (version) => {
    const { as, receiver } = await newSetup()
    const opened = await send(as, initialize(version))
    const { result: about } = await expectJson<Message>(200, opened)
    expect(about).toMatchObject({ protocolVersion: version, capabilities: { tools: {} } })
    expect(about?.["capabilities"]).not.toHaveProperty("tasks")
    const session = opened.headers.get("mcp-session-id") ?? ""
    expect(session).not.toContain("upstream-session")
    const headers = { "mcp-session-id": session, "mcp-protocol-version": version }
    const accepted = await send(as, { jsonrpc: "2.0", method: "notifications/initialized" }, headers)
    expect(accepted.status).toBe(202)
    expect(await accepted.text()).toBe("")
    const [, second] = receiver.got
    expect(second?.headers.get("mcp-session-id")).toBe("upstream-session-1")
    expect(second?.headers.get("mcp-protocol-version")).toBe(version)
    expect(second?.headers.get("authorization")).toBe("Bearer of-the-server")
    const ended = await as.call("DELETE", "/mcp/search", undefined, headers)
    expect(ended.status).toBe(204)
    expect(receiver.got.at(-1)?.headers.get("mcp-session-id")).toBe("upstream-session-1")
  })

  test("announces only capabilities that the key may use", async () => {
    const all = { tools: {}, logging: {}, resources: { subscribe: true }, prompts: {}, completions: {} }
    const { as, workspace } = await newSetup((received) => {
      const about = { protocolVersion: "2025-11-25", serverInfo: { name: "scripted", version: "1" } }
      return Response.json(result(messageOf(received).id, { ...about, capabilities: { ...all, tasks: {} } }))
    })
    const capabilitiesOf = async (key: TestClient) =>
      (await expectJson<Message>(200, send(key, initialize("2025-11-25")))).result?.["capabilities"]
    expect(await capabilitiesOf(as)).toEqual(all)
    const some = await newKey(workspace, { mcp_tools: ["search/query"] })
    expect(await capabilitiesOf(some.as)).toEqual({ tools: {}, logging: {} })
  })

  test("is bound to its key and to the server's configuration", async () => {
    const { as, workspace, receiver } = await newSetup()
    const opened = await send(as, initialize("2025-06-18"))
    const headers = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" }
    const other = await newKey(workspace, { mcp_tools: ["search/*"] })
    const ping = { jsonrpc: "2.0", id: 2, method: "ping" }
    const before = receiver.got.length
    await expectJson(404, send(other.as, ping, headers))
    await expectJson(404, send(as, ping, { "mcp-session-id": "upstream-session-1" }))
    expect(receiver.got).toHaveLength(before)
    await expectJson(200, send(as, ping, headers))
    await expectJson(200, workspace.manage.patch("/mcp-servers/search", { headers: { "X-Other": "b" } }))
    await expectJson(404, send(as, ping, headers))
  })

  test("ended by the server returns 404, so that the client opens another", async () => {
    const { as, receiver, workspace } = await newSetup()
    const opened = await send(as, initialize("2025-06-18"))
    const headers = { "mcp-session-id": opened.headers.get("mcp-session-id") ?? "" }
    receiver.turn(() => new Response("no", { status: 404 }))
    await expectJson(404, send(as, callOf("query"), headers))
    expect(await openHolds(workspace)).toEqual([])
  })

  test("accepts only the revisions of the gateway", async () => {
    const { as, receiver } = await newSetup()
    const ping = { jsonrpc: "2.0", id: 2, method: "ping" }
    await expectJson(400, send(as, ping, { "mcp-protocol-version": "2024-11-05" }))
    await expectJson(200, send(as, initialize("1999-01-01")))
    expect(messageOf(receiver.got[0]!).params?.["protocolVersion"]).toBe("2025-11-25")
    receiver.turn(({ body }) => {
      const { id } = JSON.parse(body) as Message
      return Response.json(result(id, { protocolVersion: "2024-11-05", capabilities: {} }))
    })
    const { error } = await expectJson<Message>(200, send(as, initialize("2025-06-18")))
    expect(error?.message).toContain("does not support")
  })

  test("returns 405 for GET", async () => {
    const { as } = await newSetup()
    const refused = await as.get("/mcp/search", { accept: "text/event-stream" })
    expect(refused.status).toBe(405)
    expect(refused.headers.get("allow")).toContain("POST")
  })

  test("returns 403 for Origin: null", async () => {
    const { as } = await newSetup()
    const ping = { jsonrpc: "2.0", id: 2, method: "ping" }
    await expectJson(403, send(as, ping, { origin: "null" }))
    await expectJson(200, send(as, ping, { origin: "https://inspector.example" }))
  })

  test("accepts batches in revision 2025-03-26 only", async () => {
    const { as } = await newSetup()
    const ping = (id: number) => ({ jsonrpc: "2.0", id, method: "ping" })
    const batch = [ping(1), { jsonrpc: "2.0", method: "notifications/initialized" }, ping(2)]
    expect(await expectJson(200, send(as, batch))).toEqual([result(1, {}), result(2, {})])
    await expectJson(400, send(as, batch, { "mcp-protocol-version": "2025-06-18" }))
    const oneWay = await send(as, [{ jsonrpc: "2.0", method: "notifications/initialized" }])
    expect(oneWay.status).toBe(202)
  })
})

describe("access of a key to MCP servers", () => {
  test("is denied by default", async () => {
    const { workspace, receiver } = await newSetup()
    const { as } = await newKey(workspace)
    const { error } = await expectJson<{ error: { message: string } }>(403, send(as, callOf("query")))
    expect(error.message).toContain("mcp_tools")
    await expectJson(403, send(workspace.manage, callOf("query")))
    expect(receiver.got).toEqual([])
  })

  test("covers the tools in mcp_tools, with their letter case", async () => {
    const { as, receiver, workspace, hash } = await newSetup(wellBehaved, {}, { mcp_tools: ["search/query", "x/*"] })
    const list = { jsonrpc: "2.0", id: 3, method: "tools/list" }
    const listed = await expectJson<{ result: { tools: { name: string }[] } }>(200, send(as, list))
    expect(listed.result.tools.map(({ name }) => name)).toEqual(["query"])
    expect((await call(as, "query", { q: "x" })).result).toEqual(text('{"q":"x"}'))
    const before = receiver.got.length
    for (const tool of ["delete", "Query"]) {
      const { error, generation } = await call(as, tool)
      expect(error).toMatchObject({ code: -32_010, data: { code: 403, reason: "mcp_tool_denied" } })
      expect(generation).toBeNull()
    }
    const other = { jsonrpc: "2.0", id: 4, method: "resources/list" }
    expect(await expectJson(200, send(as, other))).toMatchObject({ error: { data: { reason: "mcp_tool_denied" } } })
    expect(receiver.got).toHaveLength(before)
    const calls = await eventually(async () => {
      const { data } = await expectJson<{ data: { model: string; status: number }[] }>(
        200,
        workspace.manage.get(`/calls?key=${hash}&status=403`),
      )
      expect(data).toHaveLength(2)
      return data
    })
    expect(calls.map(({ model }) => model).toSorted()).toEqual(["mcp/search/Query", "mcp/search/delete"])
  })

  test("is narrowed by each guardrail and by the server", async () => {
    const { as, hash, workspace } = await newSetup(wellBehaved, { allowed_tools: ["query", "delete"] })
    const { manage } = workspace
    const guard = async (tools: string[]) => {
      const input = { name: "Tools", allowed_mcp_tools: tools }
      const { data } = await expectJson<{ data: { id: string } }>(201, manage.post("/guardrails", input))
      await expectJson(200, manage.post(`/guardrails/${data.id}/assignments/keys`, { key_hashes: [hash] }))
    }
    expect((await call(as, "Query")).error).toBeDefined()
    expect((await call(as, "delete")).error).toBeUndefined()
    await guard(["search/query"])
    expect((await call(as, "delete")).error?.data?.reason).toBe("mcp_tool_denied")
    expect((await call(as, "query")).error).toBeUndefined()
  })

  test("returns 404 for a server of another workspace and for a disabled one", async () => {
    const { as, workspace } = await newSetup()
    const other = await newWorkspace()
    const foreign = await newKey(other, { mcp_tools: ["search/*"] })
    await expectJson(404, send(foreign.as, callOf("query")))
    await expectJson(200, workspace.manage.patch("/mcp-servers/search", { enabled: false }))
    await expectJson(404, send(as, callOf("query")))
    await expectJson(401, send(client("sk-gw-v1-nobody"), callOf("query")))
  })
})

describe("a tool call", () => {
  useShortHeartbeats()

  test("is charged its price and recorded", async () => {
    const prices = { price_per_call_usd: 0.002, tool_prices_usd: { delete: 0.000000001 } }
    const { as, workspace } = await newSetup(wellBehaved, prices)
    for (const [tool, price] of [
      ["query", 0.002],
      ["delete", 0.000000001],
    ] as const) {
      const response = await send(as, callOf(tool))
      await response.text()
      const receipt = await receiptOf({ ...workspace, as }, response)
      expect(receipt).toMatchObject({ total_cost: price, status: 200, model: `mcp/search/${tool}` })
    }
    expect((await workspace.ledger.balance()).spentNano).toBe(2_000_001)
    expect(await openHolds(workspace)).toEqual([])
  })

  test("relays progress as it arrives", async () => {
    const progress = { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: 1, progress: 50 } }
    const foreign = result("another", text("not yours"))
    const { as } = await newSetup((received) => events(progress, foreign, result(messageOf(received).id, text("done"))))
    const { chunks } = await readStream(send(as, callOf("query")))
    expect(chunks).toEqual([progress, result(7, text("done"))])
    const complete = await expectJson(200, send(as, callOf("query"), { accept: "application/json" }))
    expect(complete).toEqual(result(7, text("done")))
  })

  test("returns limits as JSON-RPC errors with 402 and 429", async () => {
    const { workspace } = await newSetup(wellBehaved, { price_per_call_usd: 1 })
    const limited = await newKey(workspace, { mcp_tools: ["search/*"], limit: 1.5 })
    expect((await call(limited.as, "query")).error).toBeUndefined()
    const spent = (await call(limited.as, "query")).error
    expect(spent).toMatchObject({ data: { code: 402, reason: "key_limit" } })
    expect(JSON.stringify(spent)).not.toContain("max_tokens")
    const slow = await newKey(workspace, { mcp_tools: ["search/*"], requests_per_minute: 1 })
    const errors = [await call(slow.as, "query"), await call(slow.as, "query"), await call(slow.as, "query")]
    const last = errors.at(-1)?.error
    expect(last).toMatchObject({ code: -32_010, data: { code: 429, reason: "key_rate_limit" } })
    expect(last?.data).toHaveProperty("retry_after_seconds")
  })

  test.each<[string, () => Response | Promise<Response>, RegExp]>([
    ["is not JSON", () => new Response("<html>", { headers: { "content-type": "text/html" } }), /neither JSON nor/],
    ["is not JSON-RPC", () => Response.json({ ok: true }), /JSON-RPC/],
    ["has another id", () => Response.json(result("other", {})), /no response has its id/],
    ["has the id as text", () => Response.json(result("7", {})), /no response has its id/],
    ["is too large", () => Response.json(result(7, text("x".repeat(5_000_000)))), /too large/],
    ["is nested too deep", () => new Response(deep(), { headers: { "content-type": "application/json" } }), /too deep/],
    ["ends early", () => events({ jsonrpc: "2.0", method: "notifications/message", params: {} }), /ended before/],
    ["refuses the headers", () => new Response("secret-of-server", { status: 401 }), /rejects the headers/],
    ["fails", () => new Response("secret-of-server", { status: 500 }), /status 500/],
    ["redirects to a private address", () => redirect("https://10.0.0.5/mcp"), /cannot be reached/],
    ["redirects to metadata", () => redirect("http://169.254.169.254/latest"), /cannot be reached/],
    ["breaks", () => Promise.reject(new Error("connect ECONNREFUSED 10.1.2.3")), /connection to the server failed/],
  ])("costs nothing when the server's response %s", async (_, answer, message) => {
    const { as, workspace } = await newSetup(answer, { price_per_call_usd: 1 })
    const response = await send(as, callOf("query"))
    const raw = await response.text()
    const { error } = JSON.parse(raw.startsWith("data: ") ? (raw.split("data: ").at(-1) ?? "") : raw) as Message
    expect(error?.message).toMatch(message)
    expect(raw).not.toMatch(/secret-of-server|10\.1\.2\.3|of-the-server/)
    expect(error?.code).toBe(-32_011)
    expect(await receiptOf({ ...workspace, as }, response)).toMatchObject({
      total_cost: 0,
      ending: "error",
      status: 502,
    })
    expect((await workspace.ledger.balance()).spentNano).toBe(0)
    expect(await openHolds(workspace)).toEqual([])
  })

  test("costs nothing when the server times out", async () => {
    const { as, workspace, receiver } = await newSetup(wellBehaved, { price_per_call_usd: 1, timeout_seconds: 1 })
    receiver.turn(() => new Promise(() => {}))
    // The response began with heartbeats before the timeout.
    const { chunks, response } = await readStream(send(as, callOf("query")))
    expect(await receiptOf({ ...workspace, as }, response)).toMatchObject({ ending: "timeout", total_cost: 0 })
    expect(chunks).toMatchObject([{ error: { code: -32_011, data: { code: 524 } } }])
    expect((await workspace.ledger.balance()).spentNano).toBe(0)
    expect(await openHolds(workspace)).toEqual([])
  })

  test("costs nothing for a JSON-RPC error, and its price when the tool failed", async () => {
    const { as, workspace, receiver } = await newSetup(
      () => Response.json({ jsonrpc: "2.0", id: 7, error: { code: -32_602, message: "no such tool" } }),
      { price_per_call_usd: 1 },
    )
    expect((await call(as, "query")).error).toEqual({ code: -32_602, message: "no such tool" })
    expect((await workspace.ledger.balance()).spentNano).toBe(0)
    receiver.turn(() => Response.json(result(7, { ...text("failed"), isError: true })))
    expect((await call(as, "query")).result).toMatchObject({ isError: true })
    expect((await workspace.ledger.balance()).spentNano).toBe(1_000_000_000)
  })
})

describe("content filters", () => {
  const guarded = async (action: string, answer = wellBehaved) => {
    const setup = await newSetup(answer, { price_per_call_usd: 1 })
    const { manage } = setup.workspace
    const input = { name: "Addresses", content_filter_builtins: [{ slug: "email", action }] }
    const { data } = await expectJson<{ data: { id: string } }>(201, manage.post("/guardrails", input))
    await expectJson(200, manage.post(`/guardrails/${data.id}/assignments/keys`, { key_hashes: [setup.hash] }))
    return setup
  }
  const leaking = (received: Parameters<typeof messageOf>[0]) => {
    const { id } = messageOf(received)
    const value = { ...text("Write to ada@example.com"), structuredContent: { "bob@example.com": 1 } }
    return Response.json(result(id, value))
  }

  test("block arguments before they reach the server, at no cost", async () => {
    const { as, workspace, receiver } = await guarded("block")
    const { error } = await call(as, "query", { to: ["ada@example.com"] })
    expect(error).toMatchObject({ code: -32_010, data: { code: 403, reason: "guardrail_blocked" } })
    expect(error?.message).toContain('"Addresses"')
    expect(receiver.got).toEqual([])
    expect((await workspace.ledger.balance()).spentNano).toBe(0)
  })

  test("redact arguments and results", async () => {
    const { as, receiver } = await guarded("redact")
    const answered = await call(as, "query", { to: ["ada@example.com"], text: "hello" })
    const sent = messageOf(receiver.got[0]!).params?.arguments
    expect(sent).toEqual({ to: ["[EMAIL]"], text: "hello" })
    expect(JSON.stringify(answered.result)).not.toContain("ada@")
    receiver.turn(leaking)
    expect((await call(as, "query")).result).toEqual({
      ...text("Write to [EMAIL]"),
      structuredContent: { "[EMAIL]": 1 },
    })
  })

  test("block a result, and the call is charged", async () => {
    const { as, workspace } = await guarded("block", leaking)
    const { error, generation } = await call(as, "query")
    expect(error).toMatchObject({ code: -32_010, data: { code: 403, reason: "guardrail_blocked" } })
    expect((await workspace.ledger.balance()).spentNano).toBe(1_000_000_000)
    const { data } = await expectJson<{ data: unknown }>(200, workspace.as.get(`/generation?id=${generation}`))
    expect(data).toMatchObject({ status: 403, total_cost: 1 })
  })

  test("drop a progress message, and block the result after it", async () => {
    const progress = { jsonrpc: "2.0", method: "notifications/message", params: { data: "ada@example.com" } }
    const { as } = await guarded("block", (received) => events(progress, result(messageOf(received).id, text("fine"))))
    const { error } = await expectJson<Message>(200, send(as, callOf("query")))
    expect(error?.data?.reason).toBe("guardrail_blocked")
  })
})

function redirect(location: string): Response {
  return new Response(null, { status: 307, headers: { location } })
}

function deep(): string {
  return `{"jsonrpc":"2.0","id":7,"result":${"[".repeat(100_000)}${"]".repeat(100_000)}}`
}
