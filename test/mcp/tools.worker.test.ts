import * as fc from "fast-check"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { useProvider, mockReceivers, type Received } from "../observability/receiver.ts"
import { eventually } from "../support/eventually.ts"
import { runs } from "../support/runs.ts"
import { expectJson, openHolds, readStream, textOf } from "../support/world.ts"
import { messageOf, newSetup, result, text, wellBehaved } from "./server.ts"

beforeAll(mockReceivers)
afterAll(() => vi.restoreAllMocks())

type Item = { type: string; status?: string } & Record<string, unknown>
type Answer = { output: Item[]; usage: { cost: number } }
type Failure = { error: { message: string; metadata?: { reason?: string } } }

const SCHEMA = { type: "object", properties: { q: { type: "string" } }, required: ["q"] }
const tool = (more: object = {}) => ({ type: "mcp", server_label: "search", ...more })
const responses = (tools: object[], more: object = {}) => ({ model: "sim/tool-call", input: "rivers", tools, ...more })
const chat = (tools: object[], more: object = {}) => ({
  model: "sim/tool-call",
  messages: [{ role: "user", content: "rivers" }],
  tools,
  ...more,
})

/** A server whose tool `query` responds with `answer`. */
const answering = (answer: (received: Received) => Response) => (received: Received) => {
  const { id, method } = messageOf(received.body === "" ? { ...received, body: "{}" } : received)
  if (method === "tools/list") {
    return Response.json(result(id, { tools: [{ name: "query", description: "Finds.", inputSchema: SCHEMA }] }))
  }
  return method === "tools/call" ? answer(received) : wellBehaved(received)
}
const found = answering((received) => Response.json(result(messageOf(received).id, text("The Danube"))))

describe("a request with an MCP server", () => {
  test("calls the server's tools for the model, with an item for each call", async () => {
    const { as, receiver, workspace } = await newSetup(found, { price_per_call_usd: 0.5 })
    const answer = await expectJson<Answer>(
      200,
      as.post("/responses", responses([tool({ require_approval: "never" })])),
    )
    expect(answer.output.find(({ type }) => type === "mcp_call")).toMatchObject({
      status: "completed",
      server_label: "search",
      name: "query",
      arguments: '{"q":"rivers"}',
      output: "The Danube",
      error: null,
    })
    expect(JSON.stringify(answer.output.at(-1))).toContain("The tool answered: The Danube")
    expect(answer.usage.cost).toBeGreaterThan(0.5)
    const methods = receiver.got.map((one) => (one.body === "" ? "end" : messageOf(one).method))
    expect(methods).toEqual(["initialize", "notifications/initialized", "tools/list", "tools/call", "end"])
    expect(receiver.got.at(-2)?.headers.get("mcp-session-id")).toBe("upstream-session-1")
    expect(await openHolds(workspace)).toEqual([])
  })

  test("streams the same on /responses with the events of a call, and on /chat/completions", async () => {
    const { as } = await newSetup(found)
    const { chunks } = await readStream(as.post("/responses", responses([tool()], { stream: true })))
    const types = chunks.map((chunk) => (chunk as unknown as { type: string }).type)
    expect(types.filter((type) => type.includes("mcp"))).toEqual([
      "response.mcp_call.in_progress",
      "response.mcp_call_arguments.done",
      "response.mcp_call.completed",
    ])
    const streamed = await readStream(as.post("/chat/completions", chat([tool()], { stream: true })))
    expect(textOf(streamed.chunks)).toBe("The tool answered: The Danube")
    expect(streamed.chunks.at(-1)?.usage).toMatchObject({ cost: expect.any(Number) })
  })

  test("offers only tools that the key, the server and allowed_tools all permit", async () => {
    const { as } = await newSetup(
      wellBehaved,
      { allowed_tools: ["query", "Query"] },
      { mcp_tools: ["search/query", "search/delete"] },
    )
    const answer = await expectJson<Answer>(200, as.post("/responses", responses([tool()])))
    expect(answer.output.filter(({ type }) => type === "mcp_call").map(({ name }) => name)).toEqual(["query"])
    const refused = await expectJson<Failure>(
      400,
      as.post("/responses", responses([tool({ allowed_tools: ["delete"] })])),
    )
    expect(refused.error.message).toContain("no tool that this key may call")
  })

  test("accepts the items of a response in the next turn", async () => {
    const { as } = await newSetup(found)
    const { output } = await expectJson<Answer>(200, as.post("/responses", responses([tool()])))
    const input = [{ role: "user", content: "rivers" }, ...output, { role: "user", content: "more" }]
    await expectJson(200, as.post("/responses", responses([tool()], { input })))
  })

  test.each([
    ["a server_url of the client", tool({ server_url: "https://mcp.example.com" }), 400, "POST /mcp-servers"],
    ["a required approval", tool({ require_approval: "always" }), 400, 'accepts "never"'],
    ["no server", { type: "mcp" }, 400, "server_label"],
    ["an unknown server", tool({ server_label: "nowhere" }), 404, "nowhere"],
  ])("is rejected with %s", async (_, one, status, expected) => {
    const { as } = await newSetup(found)
    for (const answer of [as.post("/responses", responses([one])), as.post("/chat/completions", chat([one]))]) {
      const { error } = await expectJson<Failure>(status, answer)
      expect(error.message).toContain(expected)
    }
  })

  test("is rejected before any request to a server if it names one twice, or too many", async () => {
    const { as, receiver } = await newSetup(found)
    const twice = await expectJson<Failure>(400, as.post("/responses", responses([tool(), tool()])))
    expect(twice.error.message).toContain("tools[1].server_label: search is named twice")
    const servers = Array.from({ length: 17 }, (_, at) => tool({ server_label: `server-${at}` }))
    const many = await expectJson<Failure>(400, as.post("/chat/completions", chat(servers)))
    expect(many.error.message).toContain("tools[16]: at most 16 MCP servers")
    expect(receiver.got).toEqual([])
  })

  test.each([
    ["another server is unknown", { tools: [tool(), tool({ server_label: "nowhere" })] }, 404],
    ["no tool is chosen", { tools: [tool({ allowed_tools: ["none"] })] }, 400],
    [
      "a file cannot be read",
      {
        plugins: [{ id: "file-parser" }],
        messages: [{ role: "user", content: [{ type: "file", file: { filename: "a.pdf", file_data: "%" } }] }],
      },
      400,
    ],
  ])("ends its sessions if %s", async (_, more, status) => {
    const { as, receiver } = await newSetup(found)
    await expectJson(status, as.post("/chat/completions", { ...chat([tool()]), ...more }))
    await eventually(() => expect(receiver.got.map(({ method }) => method)).toContain("DELETE"))
  })

  test("lists pages only until there are too many tools, and finds chosen ones on any page", async () => {
    const { as, receiver } = await newSetup((received) => {
      const message = received.body === "" ? undefined : messageOf(received)
      if (message?.method !== "tools/list") return found(received)
      const page = Number(message.params?.["cursor"] ?? 0)
      const tools = Array.from({ length: 50 }, (_, at) => ({
        name: `t${page * 50 + at}`,
        inputSchema: { type: "object" },
      }))
      return Response.json(result(message.id, { tools, nextCursor: String(page + 1) }))
    })
    const { error } = await expectJson<Failure>(400, as.post("/responses", responses([tool()])))
    expect(error.message).toContain("more than 128 tools")
    const pages = () => receiver.got.filter(({ body }) => body.includes("tools/list")).length
    expect(pages()).toBe(3)
    await expectJson(200, as.post("/responses", responses([tool({ allowed_tools: ["t444"] })], { input: "hello" })))
    expect(pages()).toBe(13)
  })

  test("is rejected for a key without tools of the server", async () => {
    const { as, receiver } = await newSetup(found, {}, { mcp_tools: null })
    const { error } = await expectJson<Failure>(403, as.post("/responses", responses([tool()])))
    expect(error.metadata?.reason).toBe("mcp_tool_denied")
    expect(receiver.got).toEqual([])
  })

  test("returns 502 without the server's text when the server fails", async () => {
    const { as, workspace } = await newSetup(() => new Response("secret words", { status: 500 }))
    const { error } = await expectJson<Failure>(502, as.post("/responses", responses([tool()])))
    expect(error.message).toBe("The MCP server search cannot be used. The server returned status 500.")
    expect(await openHolds(workspace)).toEqual([])
  })
})

describe("a failing tool", () => {
  test.each([
    ["by isError in the result", () => ({ ...text("no such river"), isError: true }), "no such river"],
    ["by a JSON-RPC error", undefined, "deep water"],
  ])("%s: the model receives the error and continues", async (_, content, expected) => {
    const { as } = await newSetup(
      answering((received) => {
        const { id } = messageOf(received)
        return Response.json(
          content ? result(id, content()) : { jsonrpc: "2.0", id, error: { code: -1, message: "deep water" } },
        )
      }),
    )
    const { output } = await expectJson<Answer>(200, as.post("/responses", responses([tool()])))
    const item = output.find(({ type }) => type === "mcp_call")
    expect(item).toMatchObject({ status: "failed", output: null })
    expect(item?.["error"]).toContain(expected)
    expect(JSON.stringify(output.at(-1))).toContain(expected)
  })
})

describe("a guardrail", () => {
  const METADATA = { "x-service-metadata": "enabled" }
  const PRICE = 0.25
  const everyFormat = ["/responses", "/chat/completions"].flatMap((path) =>
    [false, true].map((stream) => [path, stream] as const),
  )
  const bodyOf = (path: string, stream: boolean) =>
    path === "/responses" ? responses([tool()], { stream }) : chat([tool()], { stream })

  async function guarded(action: string, pattern: string, answer = found) {
    const setup = await newSetup(answer, { price_per_call_usd: PRICE })
    const { workspace, hash } = setup
    const guardrail = { name: "Rail", content_filters: [{ action, pattern }] }
    const { data } = await expectJson<{ data: { id: string } }>(201, workspace.manage.post("/guardrails", guardrail))
    await expectJson(200, workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, { key_hashes: [hash] }))
    return setup
  }

  test.each(everyFormat)("that blocks a result ends the request, on %s, streamed: %s", async (path, stream) => {
    const { as, workspace } = await guarded("block", "Danube")
    const response = await as.post(path, bodyOf(path, stream), METADATA)
    const raw = await response.text()
    expect(response.status, raw).toBe(stream ? 200 : 403)
    expect(raw).toContain('The guardrail \\"Rail\\" blocks this tool result: it matches Danube.')
    // Some formats omit it from a stream's message: it is in the metadata of each.
    expect(raw).toContain('"patterns":["Danube"]')
    expect(raw).not.toContain("The Danube")
    if (!stream) {
      const { error, service_metadata: metadata } = JSON.parse(raw) as Failure & { service_metadata: object }
      expect(error.metadata?.reason).toBe("guardrail_blocked")
      expect(metadata).toMatchObject({ pipeline: [{ name: "Rail", data: { action: "block", patterns: ["Danube"] } }] })
    }
    expect(await openHolds(workspace)).toEqual([])
    // One round, and the tool call that completed.
    const calls = await eventually(async () => {
      const { data } = await expectJson<{ data: { model: string; cost: number; status: number }[] }>(
        200,
        workspace.manage.get("/calls?limit=10"),
      )
      expect(data.filter(({ model }) => model === "sim/tool-call").length).toBeGreaterThan(0)
      expect(data.some(({ model }) => model === "mcp/search/query")).toBe(true)
      return data
    })
    expect(calls.find(({ model }) => model === "mcp/search/query")).toMatchObject({ cost: PRICE, status: 403 })
  })

  test.each(["/responses", "/chat/completions"])(
    "that blocks arguments ends the request before the call, on %s",
    async (path) => {
      const { as, workspace, receiver } = await guarded("block", "hidden-argument")
      const called = { name: "search__query", arguments: '{"q":"hidden-argument"}' }
      const message = {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c1", type: "function", function: called }],
      }
      useProvider(() => Response.json({ choices: [{ index: 0, message, finish_reason: "tool_calls" }] }))
      const { error } = await expectJson<Failure>(403, as.post(path, { ...bodyOf(path, false), model: "acme/chat-39" }))
      expect(error.metadata?.reason).toBe("guardrail_blocked")
      const methods = receiver.got.map((one) => (one.body === "" ? "end" : messageOf(one).method))
      expect(methods).not.toContain("tools/call")
      expect(await openHolds(workspace)).toEqual([])
    },
  )

  test.each(everyFormat)("that redacts a result continues the request, on %s, streamed: %s", async (path, stream) => {
    const { as } = await guarded("redact", "Danube")
    const response = await as.post(path, bodyOf(path, stream), METADATA)
    const raw = await response.text()
    expect(response.status, raw).toBe(200)
    expect(raw).toContain("REDA")
    expect(raw.replaceAll('"patterns":["Danube"]', "").replaceAll("redacted: Danube", "")).not.toContain("Danube")
    expect(raw).toContain('"action":"redact"')
  })
})

const OUTCOMES = ["result", "failed", "error", "status"] as const

test("a request costs the sum of its rounds and completed tool calls, and leaves no hold", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...OUTCOMES),
      fc.integer({ min: 0, max: 400_000_000 }),
      fc.boolean(),
      async (outcome, priceNano, isStream) => {
        const { as, workspace } = await newSetup(
          answering((received) => {
            const { id } = messageOf(received)
            if (outcome === "status") return new Response("no", { status: 503 })
            if (outcome === "error") return Response.json({ jsonrpc: "2.0", id, error: { code: -1, message: "no" } })
            return Response.json(result(id, { ...text("yes"), isError: outcome === "failed" }))
          }),
          { price_per_call_usd: priceNano / 1e9 },
        )
        await (await as.post("/chat/completions", chat([tool()], { stream: isStream }))).text()
        expect(await openHolds(workspace)).toEqual([])
        const { spentNano } = await workspace.ledger.balance()
        type Calls = { data: { model: string; cost: number }[] }
        const data = await eventually(async () => {
          const calls = await expectJson<Calls>(200, workspace.manage.get("/calls?limit=10"))
          expect(calls.data).toHaveLength(3)
          return calls.data
        })
        const toolCalls = data.filter(({ model }) => model === "mcp/search/query")
        const charged = outcome === "result" || outcome === "failed"
        expect(toolCalls.map(({ cost }) => Math.round(cost * 1e9))).toEqual([charged ? priceNano : 0])
        expect(Math.round(data.reduce((sum, { cost }) => sum + cost, 0) * 1e9)).toBe(spentNano)
      },
    ),
    { numRuns: runs(0.1) },
  )
})
