import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { mockReceivers, type Received } from "../observability/receiver.ts"
import { eventually } from "../support/eventually.ts"
import { expectJson, newKey, openHolds, readStream, receiptOf } from "../support/world.ts"
import { useShortHeartbeats } from "../support/variable.ts"
import { callOf, events, type Message, messageOf, newSetup, result, send, text, type Setup } from "./server.ts"
import {
  sendMessage,
  callTool,
  error,
  headersOf,
  META,
  methodsOf,
  request,
  sessionServer,
  statelessServer,
  VERSION,
} from "./stateless-client.ts"

beforeAll(mockReceivers)
afterAll(() => vi.restoreAllMocks())

const SERVERS = [
  ["of this revision", statelessServer],
  ["with sessions", sessionServer],
] as const
const SERVER_INFO = { "io.modelcontextprotocol/serverInfo": { name: "scripted", version: "1" } }

/** The last message of a response, from JSON or events. */
async function lastOf(answer: Promise<Response> | Response): Promise<Message> {
  const raw = await (await answer).text()
  return JSON.parse(raw.startsWith("{") ? raw : (raw.trimEnd().split("data: ").at(-1) ?? "")) as Message
}

async function guard({ workspace, hash }: Setup, rules: Record<string, unknown>): Promise<void> {
  const { data } = await expectJson<{ data: { id: string } }>(
    201,
    workspace.manage.post("/guardrails", { name: "Addresses", ...rules }),
  )
  await expectJson(200, workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, { key_hashes: [hash] }))
}

describe.each(SERVERS)("revision 2026-07-28 with a server %s", (_, server) => {
  useShortHeartbeats()

  test("discovers only what the key may use", async () => {
    const { as, workspace } = await newSetup(server)
    const discovered = await lastOf(sendMessage(as, request("server/discover")))
    expect(discovered.result).toEqual({
      resultType: "complete",
      supportedVersions: [VERSION],
      capabilities: { tools: {}, resources: {} },
      instructions: "Ask.",
      ttlMs: server === statelessServer ? 5_000 : 0,
      cacheScope: "private",
      _meta: SERVER_INFO,
    })
    const some = await newKey(workspace, { mcp_tools: ["search/query"] })
    const seen = await lastOf(sendMessage(some.as, request("server/discover")))
    expect(seen.result?.["capabilities"]).toEqual({ tools: {} })
    const listed = await lastOf(sendMessage(some.as, request("tools/list")))
    expect(listed.result).toMatchObject({ resultType: "complete", cacheScope: "private", tools: [{ name: "query" }] })
    expect(listed.result?.["tools"]).toEqual([{ name: "query", inputSchema: { type: "object" } }])
  })

  test("calls a tool at its price, with one generation", async () => {
    const { as, workspace, receiver } = await newSetup(server, { price_per_call_usd: 0.002 })
    const response = await callTool(as, "query", { q: "x" })
    const called = await lastOf(response.clone())
    expect(called).toEqual({ jsonrpc: "2.0", id: 7, result: { resultType: "complete", ...text('{"q":"x"}') } })
    expect(response.headers.get("mcp-session-id")).toBeNull()
    const receipt = await receiptOf({ ...workspace, as }, response)
    expect(receipt).toMatchObject({ total_cost: 0.002, status: 200, model: "mcp/search/query" })
    expect((await workspace.ledger.balance()).spentNano).toBe(2_000_000)
    expect(await openHolds(workspace)).toEqual([])
    await eventually(() => {
      expect(methodsOf(receiver)).toEqual(
        server === statelessServer
          ? ["server/discover", "tools/call"]
          : ["server/discover", "initialize", "notifications/initialized", "tools/call", "DELETE"],
      )
    })
    expect(receiver.got.every(({ headers }) => headers.get("authorization") === "Bearer of-the-server")).toBe(true)
  })

  test("rejects a tool that the key may not call before a request to the server", async () => {
    const { as, receiver, workspace, hash } = await newSetup(server, {}, { mcp_tools: ["search/query"] })
    const { error: refused } = await lastOf(callTool(as, "delete"))
    expect(refused).toMatchObject({ code: -32_010, data: { code: 403, reason: "mcp_tool_denied" } })
    const { error: all } = await lastOf(sendMessage(as, request("resources/list")))
    expect(all?.data?.reason).toBe("mcp_tool_denied")
    expect(receiver.got).toEqual([])
    await eventually(async () => {
      const { data } = await expectJson<{ data: object[] }>(200, workspace.manage.get(`/calls?key=${hash}&status=403`))
      expect(data).toMatchObject([{ model: "mcp/search/delete" }])
    })
  })

  test("screens arguments and results", async () => {
    const setup = await newSetup(server, { price_per_call_usd: 1 })
    await guard(setup, { content_filter_builtins: [{ slug: "email", action: "redact" }] })
    const answered = await lastOf(callTool(setup.as, "query", { to: ["ada@example.com"] }))
    const sent = setup.receiver.got.map((one) => one.body).join("")
    expect(sent).toContain("[EMAIL]")
    expect(sent).not.toContain("ada@")
    expect(JSON.stringify(answered.result)).toContain("[EMAIL]")
  })

  test("applies the key's limit before the call", async () => {
    const { workspace, receiver } = await newSetup(server, { price_per_call_usd: 1 })
    const limited = await newKey(workspace, { mcp_tools: ["search/*"], limit: 1.5 })
    expect((await lastOf(callTool(limited.as, "query"))).error).toBeUndefined()
    const before = methodsOf(receiver).filter((method) => method === "tools/call").length
    expect((await lastOf(callTool(limited.as, "query"))).error?.data).toMatchObject({ code: 402, reason: "key_limit" })
    expect(methodsOf(receiver).filter((method) => method === "tools/call")).toHaveLength(before)
  })

  test("costs nothing when the server times out, and closes its session", async () => {
    const prices = { price_per_call_usd: 1, timeout_seconds: 1 }
    const { as, workspace, receiver } = await newSetup(server, prices)
    receiver.turn((received) => {
      const isCall = received.body !== "" && messageOf(received).method === "tools/call"
      return isCall ? new Promise(() => {}) : server(received)
    })
    const { chunks } = await readStream(callTool(as, "query"))
    expect(chunks).toMatchObject([{ error: { code: -32_011, data: { code: 524 } } }])
    expect((await workspace.ledger.balance()).spentNano).toBe(0)
    expect(await openHolds(workspace)).toEqual([])
    if (server === statelessServer) return
    await eventually(() => expect(methodsOf(receiver).slice(-2)).toEqual(["notifications/cancelled", "DELETE"]))
  })
})

describe("a request of revision 2026-07-28", () => {
  const call = request("tools/call", { name: "query", arguments: {} })
  const without = (name: string) => {
    const { [name]: _, ...rest } = headersOf(call)
    return rest
  }
  const claiming = (meta: object) => request("tools/call", { name: "query" }, meta)
  const key = (name: string) => `io.modelcontextprotocol/${name}`

  test.each<[string, number, unknown, Record<string, string>]>([
    ["has no Mcp-Method", -32_020, call, without("mcp-method")],
    ["has another Mcp-Method", -32_020, call, { ...headersOf(call), "mcp-method": "tools/list" }],
    ["has no Mcp-Name", -32_020, call, without("mcp-name")],
    ["has another Mcp-Name", -32_020, call, { ...headersOf(call), "mcp-name": "delete" }],
    ["has an Mcp-Name that is not base64", -32_020, call, { ...headersOf(call), "mcp-name": "=?base64?cXVlcnk?=" }],
    ["has no MCP-Protocol-Version", -32_020, call, without("mcp-protocol-version")],
    ["has another version in the header", -32_020, call, { ...headersOf(call), "mcp-protocol-version": "2025-11-25" }],
    ["initializes", -32_020, { jsonrpc: "2.0", id: 7, method: "initialize" }, headersOf(call)],
    ["has no _meta", -32_602, callOf("query"), headersOf(call)],
    ["has a version that is not a string", -32_602, claiming({ [key("protocolVersion")]: 1 }), headersOf(call)],
    ["has no capabilities", -32_602, claiming({ [key("clientCapabilities")]: null }), headersOf(call)],
    ["has a client that is not an object", -32_602, claiming({ [key("clientInfo")]: "me" }), headersOf(call)],
    ["is a batch", -32_600, [call], headersOf(call)],
    ["is in a batch of an earlier revision", -32_600, [callOf("query"), call], {}],
  ])("is rejected if it %s", async (_, code, message, headers) => {
    const { as, receiver } = await newSetup(statelessServer)
    const refused = await expectJson<Message>(400, send(as, message, headers))
    expect(refused).toMatchObject({ jsonrpc: "2.0", error: { code } })
    expect(receiver.got).toEqual([])
  })

  test("with an unsupported revision gets the supported ones", async () => {
    const { as } = await newSetup(statelessServer)
    const future = request("server/discover", {}, { [key("protocolVersion")]: "2027-01-01" })
    const supported = [VERSION, "2025-11-25", "2025-06-18", "2025-03-26"]
    for (const [message, requested] of [
      [future, "2027-01-01"],
      [{ jsonrpc: "2.0", id: 7, method: "ping" }, "2024-11-05"],
    ] as const) {
      const headers = { ...headersOf(future), "mcp-protocol-version": requested }
      const refused = await expectJson<Message>(400, send(as, message, headers))
      expect(refused).toMatchObject({ id: 7, error: { code: -32_022, data: { supported, requested } } })
    }
  })

  test("accepts an Mcp-Name in base64", async () => {
    const { as } = await newSetup(statelessServer)
    const headers = { "mcp-name": "=?base64?cXVlcnk=?=" }
    expect((await lastOf(sendMessage(as, call, headers))).result).toBeDefined()
  })

  test.each(["ping", "initialize", "logging/setLevel", "resources/subscribe", "subscriptions/listen", "tasks/get"])(
    "returns 404 for the method %s",
    async (method) => {
      const { as, receiver } = await newSetup(statelessServer)
      expect(await expectJson(404, sendMessage(as, request(method)))).toMatchObject({ error: { code: -32_601 } })
      expect(receiver.got).toEqual([])
    },
  )

  test("ignores a session id, and a notification is not forwarded", async () => {
    const { as, receiver } = await newSetup(statelessServer)
    expect((await lastOf(sendMessage(as, call, { "mcp-session-id": "anything" }))).result).toBeDefined()
    const before = receiver.got.length
    const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7, _meta: META } }
    expect((await send(as, cancelled, headersOf(call))).status).toBe(202)
    await expectJson(400, send(as, { jsonrpc: "2.0", id: 7, result: {} }, headersOf(call)))
    expect(receiver.got).toHaveLength(before)
  })
})

describe("a server of revision 2026-07-28", () => {
  test("receives the client's _meta, and argument headers as guardrails leave them", async () => {
    const setup = await newSetup(statelessServer)
    await guard(setup, { content_filter_builtins: [{ slug: "email", action: "redact" }] })
    const message = request("tools/call", {
      name: "query",
      arguments: { to: "ada@example.com", at: { place: "Łódź" } },
    })
    const headers = {
      "mcp-param-to": "ada@example.com",
      "mcp-param-place": "=?base64?xYHDs2TFug==?=",
      "mcp-param-no": "x",
    }
    await lastOf(sendMessage(setup.as, message, headers))
    const sent = setup.receiver.got.at(-1)
    expect(sent?.headers.get("mcp-param-to")).toBe("[EMAIL]")
    expect(sent?.headers.get("mcp-param-place")).toBe("=?base64?xYHDs2TFug==?=")
    expect(sent?.headers.has("mcp-param-no")).toBe(false)
    expect(messageOf(sent as Received).params?.["_meta"]).toEqual(META)
  })

  test("can require input, which costs nothing until the tool completes", async () => {
    const inputRequests = { name: { method: "elicitation/create", params: { message: "Your name?" } } }
    const requestsInput = (received: Received) => {
      const { id, method, params } = messageOf(received)
      if (method !== "tools/call" || params?.["inputResponses"] !== undefined) return statelessServer(received)
      return Response.json(result(id, { resultType: "input_required", inputRequests, requestState: "opaque" }))
    }
    const { as, workspace, receiver } = await newSetup(requestsInput, { price_per_call_usd: 1 })
    const inputRequest = await lastOf(callTool(as, "query"))
    expect(inputRequest.result).toEqual({ resultType: "input_required", inputRequests, requestState: "opaque" })
    expect((await workspace.ledger.balance()).spentNano).toBe(0)
    const given = { inputResponses: { name: { action: "accept", content: { name: "Ada" } } }, requestState: "opaque" }
    expect((await lastOf(callTool(as, "query", {}, given))).result?.["resultType"]).toBe("complete")
    expect(messageOf(receiver.got.at(-1) as Received).params).toMatchObject(given)
    expect((await workspace.ledger.balance()).spentNano).toBe(1_000_000_000)
    expect(await openHolds(workspace)).toEqual([])
  })

  test("does not run tools as tasks", async () => {
    const tasks = { "io.modelcontextprotocol/tasks": {} }
    const asTask = (received: Received) => {
      const { id, method } = messageOf(received)
      if (method === "tools/call") return Response.json(result(id, { resultType: "task", taskId: "t" }))
      const about = { supportedVersions: [VERSION], capabilities: { tools: {}, extensions: { ...tasks, other: {} } } }
      return Response.json(result(id, { resultType: "complete", ...about }))
    }
    const { as, receiver, workspace } = await newSetup(asTask, { price_per_call_usd: 1 })
    const capabilities = { extensions: { ...tasks, other: {} }, sampling: {} }
    const meta = { "io.modelcontextprotocol/clientCapabilities": capabilities }
    const discovered = await lastOf(sendMessage(as, request("server/discover")))
    expect(discovered.result?.["capabilities"]).toEqual({ tools: {}, extensions: { other: {} } })
    const { error: refused } = await lastOf(sendMessage(as, request("tools/call", { name: "query" }, meta)))
    expect(refused?.code).toBe(-32_011)
    expect(messageOf(receiver.got.at(-1) as Received).params?.["_meta"]).toMatchObject({
      "io.modelcontextprotocol/clientCapabilities": { extensions: { other: {} }, sampling: {} },
    })
    expect(receiver.got.at(-1)?.body).not.toContain("/tasks")
    expect((await workspace.ledger.balance()).spentNano).toBe(0)
  })

  test("is called although a guardrail blocks dates", async () => {
    const setup = await newSetup(statelessServer)
    await guard(setup, { content_filters: [{ pattern: "[0-9]{4}-[0-9]{2}-[0-9]{2}", action: "block" }] })
    expect((await lastOf(callTool(setup.as, "query"))).result).toBeDefined()
    expect((await lastOf(callTool(setup.as, "query", { day: VERSION }))).error?.data?.reason).toBe("guardrail_blocked")
  })

  test("gets no request with a header name that a guardrail blocks", async () => {
    const setup = await newSetup(statelessServer)
    await guard(setup, { content_filters: [{ pattern: "classified", action: "block" }] })
    const message = request("tools/call", { name: "query", arguments: { a: "x" } })
    const { error: refused } = await lastOf(sendMessage(setup.as, message, { "mcp-param-classified": "x" }))
    expect(refused?.data?.reason).toBe("guardrail_blocked")
    expect(setup.receiver.got).toEqual([])
  })

  test.each([
    [-32_021, 400, { requiredCapabilities: { sampling: {} } }],
    [-32_020, 400, { mismatch: {} }],
    [-32_601, 404, {}],
  ])("can reject a call with %i, which the client receives at no cost", async (code, status, data) => {
    const refusing = (received: Received) =>
      messageOf(received).method === "tools/call"
        ? Response.json(error(7, code, data), { status })
        : statelessServer(received)
    const { as, workspace } = await newSetup(refusing, { price_per_call_usd: 1 })
    expect(await expectJson(status, callTool(as, "query"))).toMatchObject({ error: { code, data } })
    expect((await workspace.ledger.balance()).spentNano).toBe(0)
    expect(await openHolds(workspace)).toEqual([])
  })

  test("is probed for its revision once, and again after it rejects it", async () => {
    const { as, receiver } = await newSetup(statelessServer)
    await lastOf(callTool(as, "query"))
    await lastOf(callTool(as, "query"))
    expect(methodsOf(receiver)).toEqual(["server/discover", "tools/call", "tools/call"])
    receiver.turn(sessionServer)
    const { error: refused } = await lastOf(callTool(as, "query"))
    expect(refused).toMatchObject({ code: -32_011, message: "The server returned status 400." })
    expect((await lastOf(callTool(as, "query"))).result).toBeDefined()
  })
})

describe("a client with sessions at a stateless server", () => {
  const initialize = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
  }

  async function opened(setup: Setup) {
    const response = await send(setup.as, initialize)
    const { result: about } = await expectJson<Message>(200, response)
    const session = response.headers.get("mcp-session-id") ?? ""
    return { about, headers: { "mcp-session-id": session, "mcp-protocol-version": "2025-06-18" } }
  }

  test("lists and calls tools at their price", async () => {
    const setup = await newSetup(statelessServer, { price_per_call_usd: 1 })
    const { about, headers } = await opened(setup)
    expect(about).toMatchObject({
      protocolVersion: "2025-06-18",
      serverInfo: { name: "scripted" },
      instructions: "Ask.",
    })
    const { as, receiver, workspace } = setup
    expect((await send(as, { jsonrpc: "2.0", method: "notifications/initialized" }, headers)).status).toBe(202)
    expect((await lastOf(send(as, { jsonrpc: "2.0", id: 2, method: "ping" }, headers))).result).toEqual({})
    const list = { jsonrpc: "2.0", id: 3, method: "tools/list" }
    const listed = await lastOf(send(as, list, headers))
    expect(Object.keys(listed.result ?? {})).toEqual(["tools"])
    expect((await lastOf(send(as, callOf("query", { q: 1 }), headers))).result).toEqual(text('{"q":1}'))
    expect((await workspace.ledger.balance()).spentNano).toBe(1_000_000_000)
    expect((await as.call("DELETE", "/mcp/search", undefined, headers)).status).toBe(204)
    expect(methodsOf(receiver)).toEqual(["initialize", "server/discover", "tools/list", "tools/call"])
    const other = await newKey(workspace, { mcp_tools: ["search/*"] })
    await expectJson(404, send(other.as, list, headers))
  })

  test("gets an error when a tool requires input, at no cost", async () => {
    const requestsInput = (received: Received) => {
      const { id, method } = messageOf(received)
      if (method !== "tools/call") return statelessServer(received)
      return Response.json(result(id, { resultType: "input_required", requestState: "opaque" }))
    }
    const setup = await newSetup(requestsInput, { price_per_call_usd: 1 })
    const { headers } = await opened(setup)
    const { error: refused } = await lastOf(send(setup.as, callOf("query"), headers))
    expect(refused).toMatchObject({ code: -32_011, message: expect.stringContaining(VERSION) })
    expect((await setup.workspace.ledger.balance()).spentNano).toBe(0)
  })
})

describe("a session that the gateway opens for one request", () => {
  test("relays progress and requested log levels, and rejects requests of the server", async () => {
    const progress = { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: 1, progress: 50 } }
    const log = (level: string) => ({ jsonrpc: "2.0", method: "notifications/message", params: { level, data: "x" } })
    const serverRequest = { jsonrpc: "2.0", id: "s-1", method: "sampling/createMessage", params: {} }
    const sendsRequests = (received: Received) => {
      if (received.body === "" || messageOf(received).method !== "tools/call") return sessionServer(received)
      return events(progress, log("debug"), log("error"), serverRequest, result(7, text("done")))
    }
    const { as, receiver } = await newSetup(sendsRequests)
    const meta = { "io.modelcontextprotocol/logLevel": "warning", progressToken: 1 }
    const { chunks } = await readStream(sendMessage(as, request("tools/call", { name: "query" }, meta)))
    expect(chunks).toEqual([progress, log("error"), result(7, { ...text("done"), resultType: "complete" })])
    const quiet = await readStream(callTool(as, "query"))
    expect(quiet.chunks).toHaveLength(2)
    await eventually(() => {
      const answers = receiver.got.filter(({ body }) => body.includes('"s-1"')).map(messageOf)
      expect(answers).toMatchObject([{ error: { code: -32_601 } }, { error: { code: -32_601 } }])
    })
    const called = receiver.got.filter(({ body }) => body.includes('"tools/call"')).map(messageOf)
    expect(called.map(({ params }) => params?.["_meta"])).toEqual([{ progressToken: 1 }, undefined])
  })

  test("returns the error code of the client's revision for a missing resource", async () => {
    const { as } = await newSetup(sessionServer)
    const { error: missing } = await lastOf(sendMessage(as, request("resources/read", { uri: "file:///no" })))
    expect(missing?.code).toBe(-32_602)
  })

  test.each<[string, (received: Received) => Response, RegExp]>([
    ["refuses its headers", () => new Response("secret-of-server", { status: 401 }), /rejects the headers/],
    ["fails", () => new Response("secret-of-server", { status: 500 }), /status 500/],
    ["limits its rate", () => new Response("secret-of-server", { status: 429 }), /status 429/],
    ["is not an MCP server", () => new Response("secret-of-server", { status: 404 }), /status 404/],
    ["uses an old revision", (one) => onInitialize(one, { protocolVersion: "2024-11-05" }), /no protocol revision/],
    ["does not initialize", (one) => onInitialize(one, undefined), /no protocol revision/],
    ["ends the session", (one) => endingSession(one), /ended the session/],
  ])("costs nothing when the server %s", async (_, answer, message) => {
    const { as, workspace } = await newSetup(answer, { price_per_call_usd: 1 })
    const response = await callTool(as, "query")
    const raw = await response.clone().text()
    expect((await lastOf(response)).error).toMatchObject({ code: -32_011, message: expect.stringMatching(message) })
    expect(raw).not.toContain("secret-of-server")
    expect((await workspace.ledger.balance()).spentNano).toBe(0)
    expect(await openHolds(workspace)).toEqual([])
  })
})

function onInitialize(received: Received, about: object | undefined): Response {
  const { id, method } = messageOf(received)
  if (method !== "initialize" || !about) return Response.json(error(id, -32_601))
  return Response.json(result(id, { ...about, capabilities: {} }))
}

function endingSession(received: Received): Response {
  const isCall = received.body !== "" && messageOf(received).method === "tools/call"
  return isCall ? new Response("secret-of-server", { status: 404 }) : sessionServer(received)
}
