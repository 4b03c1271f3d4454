import { env } from "cloudflare:workers"
import * as fc from "fast-check"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { openInternKey } from "../../src/interns/access/intern-key.ts"
import { commonTools, includesTool } from "../../src/support/mcp-tools.ts"
import { callOf, messageOf, newSetup, result, send, text, wellBehaved, type Setup } from "../mcp/server.ts"
import { mockReceivers, type Received } from "../observability/receiver.ts"
import { MockDaemon, newDaemonIntern } from "../support/daemon.ts"
import { eventually } from "../support/eventually.ts"
import { internChat } from "../support/intern-chat.ts"
import { crashIntern } from "../support/intern-object.ts"
import { client, expectJson, newKey, type TestClient, type Workspace } from "../support/world.ts"

beforeAll(mockReceivers)
afterAll(() => vi.restoreAllMocks())

type Intern = { id: string; status: string; mcp_tools?: string[] | null }

const SCHEMA = { type: "object", properties: { q: { type: "string" } }, required: ["q"] }
/** A server with the tools `query` and `delete`; `answer` responds to their calls. */
const answering =
  (
    answer: (received: Received) => Response = (received) => Response.json(result(messageOf(received).id, text("OK"))),
  ) =>
  (received: Received) => {
    if (received.body === "") return wellBehaved(received)
    const { id, method } = messageOf(received)
    const tools = ["query", "delete"].map((name) => ({ name, description: `Does ${name}.`, inputSchema: SCHEMA }))
    if (method === "tools/list") return Response.json(result(id, { tools }))
    return method === "tools/call" ? answer(received) : wellBehaved(received)
  }

const callsOf = ({ receiver }: Setup) =>
  receiver.got.filter((one) => one.body !== "" && messageOf(one).method === "tools/call")

/** A running intern of the embedded host, whose model calls the tools that a prompt names. */
async function newIntern(setup: Setup, input: Record<string, unknown> = {}) {
  const made = await expectJson<Intern>(
    201,
    setup.as.post("/interns", {
      name: "ada",
      model: "embedded/guide",
      provision: true,
      mcp_tools: ["search/*"],
      ...input,
    }),
  )
  await eventually(async () => {
    expect((await expectJson<Intern>(200, setup.as.get(`/interns/${made.id}`))).status).toBe("running")
  })
  return { ...made, chat: internChat(setup.key, made.id) }
}

async function ownKey(workspace: Workspace, id: string): Promise<TestClient> {
  return client((await openInternKey(env, workspace, id)).key)
}

const hashOfKey = (id: string) =>
  env.DB.prepare("SELECT hash FROM api_keys WHERE intern_id = ?").bind(id).first<string>("hash")

const message = async (status: number, answer: Promise<Response>) =>
  (await expectJson<{ error: { message: string } }>(status, answer)).error.message

describe("MCP tools of an intern", () => {
  test("are called by its agent, charged to the intern's key and included in the cost of the turn", async () => {
    const setup = await newSetup(answering(), { price_per_call_usd: 0.5 })
    const { id, chat } = await newIntern(setup)
    const reading = await (await chat.send("search__query for rivers", { approval_mode: "self-drive" })).all()
    expect(reading.finish).toBe("stop")
    const calls = callsOf(setup)
    expect(calls.length).toBeGreaterThan(0)
    expect(calls.map((one) => messageOf(one).params?.name)).toContain("query")
    const { cost = 0 } = reading.usage ?? {}
    expect(Math.floor(cost / 0.5)).toBe(calls.length)
    const { usage } = await expectJson<{ usage: number }>(200, setup.as.get(`/interns/${id}`))
    expect(usage).toBeCloseTo(cost, 9)
  })

  test("need a permission in manual mode, and the question shows server, tool and arguments", async () => {
    const setup = await newSetup(answering())
    const { chat } = await newIntern(setup)
    const requested = await (await chat.send("search__delete all rivers")).all()
    expect(requested.question).toMatchObject({ kind: "permission", operation: "search/delete" })
    expect(JSON.parse(requested.question.input ?? "")).toEqual({
      server: "search",
      tool: "delete",
      arguments: { q: "search__delete all rivers" },
    })
    expect(callsOf(setup)).toEqual([])
    const rejected = await (await chat.answer(requested.session, requested.question.id, "reject_always")).all()
    expect(rejected.finish).toBe("stop")
    expect(callsOf(setup)).toEqual([])
  })

  test("with long arguments are shown cut in the middle, with the number of omitted characters", async () => {
    const setup = await newSetup(answering())
    const { chat } = await newIntern(setup)
    const requested = await (await chat.send(`search__query ${"x".repeat(20_000)} end`)).all()
    const shown = requested.question.input ?? ""
    expect(shown.length).toBeLessThan(8_200)
    expect(shown).toMatch(/characters left out/)
    expect(shown).toContain(' end"}}')
  })

  test("are allowed one by one for a session, and not for other sessions", async () => {
    const setup = await newSetup(answering())
    const { chat } = await newIntern(setup)
    const requested = await (await chat.send("search__query")).all()
    const allowed = await (await chat.answer(requested.session, requested.question.id, "allow_always")).all()
    expect(allowed.finish).toBe("stop")
    const before = callsOf(setup).length
    expect(before).toBeGreaterThan(0)
    const more = { session_id: requested.session }
    expect((await (await chat.send("search__query again", more)).all()).finish).toBe("stop")
    expect(callsOf(setup).length).toBeGreaterThan(before)
    expect((await (await chat.send("search__delete", more)).all()).finish).toBe("tool_calls")
    expect((await (await chat.send("search__query")).all()).finish).toBe("tool_calls")
  })

  test("run after the object crashed with an open question", async () => {
    const setup = await newSetup(answering())
    const { id, chat } = await newIntern(setup)
    const requested = await (await chat.send("search__query")).all()
    await crashIntern(id)
    const reading = await (await chat.answer(requested.session, requested.question.id, "allow_always")).all()
    expect(reading.finish).toBe("stop")
    expect(callsOf(setup).length).toBeGreaterThan(0)
  })

  test("that fail, or whose session was lost, do not end the turn", async () => {
    let isLost = true
    const setup = await newSetup(
      answering((received) => {
        if (isLost) {
          isLost = false
          return new Response(null, { status: 404 })
        }
        return Response.json(result(messageOf(received).id, { ...text("No rivers"), isError: true }))
      }),
    )
    const { chat } = await newIntern(setup)
    const reading = await (await chat.send("search__query", { approval_mode: "self-drive" })).all()
    expect(reading.finish).toBe("stop")
    expect(callsOf(setup).length).toBeGreaterThan(1)
  })

  test("of an unreachable server are missing, and the intern responds without them", async () => {
    const setup = await newSetup(() => new Response("down", { status: 500 }))
    const { chat } = await newIntern(setup)
    const reading = await (await chat.send("search__query", { approval_mode: "self-drive" })).all()
    expect(reading.finish).toBe("stop")
    expect(callsOf(setup)).toEqual([])
  })

  test("are none by default", async () => {
    const setup = await newSetup(answering())
    const { id, mcp_tools: tools, chat } = await newIntern(setup, { mcp_tools: undefined })
    expect(tools).toBeNull()
    await (await chat.send("search__query", { approval_mode: "self-drive" })).all()
    expect(setup.receiver.got).toEqual([])
    expect((await send(await ownKey(setup.workspace, id), callOf("query"))).status).toBe(403)
  })
})

describe("granting MCP tools to an intern", () => {
  const make = (as: TestClient, tools: string[] | null, name = "ada") => as.post("/interns", { name, mcp_tools: tools })

  test("is limited to the key's own tools; a management key grants any tool to interns that it created", async () => {
    const { workspace } = await newSetup()
    const narrow = await newKey(workspace, { mcp_tools: ["search/query"] })
    expect(await message(403, make(narrow.as, ["search/*"]))).toContain("mcp_tools")
    expect(await message(403, make(narrow.as, ["search/query", "other/query"]))).toContain("other/query")
    expect(await message(403, make(workspace.as, ["search/query"]))).toContain("search/query")
    const made = await expectJson<Intern>(201, make(narrow.as, ["search/query"]))
    expect(made.mcp_tools).toEqual(["search/query"])
    expect((await expectJson<Intern>(201, make(workspace.manage, ["any/*"], "bob"))).mcp_tools).toEqual(["any/*"])
    expect(await message(400, make(workspace.manage, ["nonsense"], "eve"))).toContain("server/tool")
  })

  test("is limited to the tools of the creating key, for a management key too", async () => {
    const { workspace } = await newSetup()
    const narrow = await newKey(workspace, { mcp_tools: ["search/query"] })
    const { id } = await expectJson<Intern>(201, make(narrow.as, null))
    const patch = (as: TestClient, tools: string[] | null) => as.patch(`/interns/${id}`, { mcp_tools: tools })
    expect(await message(403, patch(workspace.manage, ["search/delete"]))).toContain("search/delete")
    const given = await expectJson<Intern>(200, patch(workspace.manage, ["search/query"]))
    expect(given.mcp_tools).toEqual(["search/query"])
    expect((await expectJson<Intern>(200, patch(narrow.as, null))).mcp_tools).toBeNull()
    await expectJson(403, patch(await ownKey(workspace, id), ["search/query"]))
  })

  test("ends when the creating key loses the tools, even if the intern's key is granted them directly", async () => {
    const setup = await newSetup()
    const { workspace } = setup
    const { id } = await expectJson<Intern>(201, make(setup.as, ["search/*"]))
    const internKey = await ownKey(workspace, id)
    const status = async (tool: string) => {
      const answer = await send(internKey, callOf(tool))
      if (answer.status !== 200) return answer.status
      return "error" in (await answer.json<object>()) ? "refused" : "called"
    }
    expect([await status("query"), await status("delete")]).toEqual(["called", "called"])
    await expectJson(200, workspace.manage.patch(`/keys/${setup.hash}`, { mcp_tools: ["search/query"] }))
    expect([await status("query"), await status("delete")]).toEqual(["called", "refused"])
    await expectJson(200, workspace.manage.patch(`/keys/${setup.hash}`, { mcp_tools: null }))
    await expectJson(200, workspace.manage.patch(`/keys/${await hashOfKey(id)}`, { mcp_tools: ["search/*"] }))
    expect([await status("query"), await status("delete")]).toEqual([403, 403])
  })

  test("carries over to a new key of the intern", async () => {
    const { workspace } = await newSetup()
    const { id } = await expectJson<Intern>(201, make(workspace.manage, ["search/query"]))
    await expectJson(200, workspace.manage.delete(`/keys/${await hashOfKey(id)}`))
    await expectJson(202, workspace.manage.post(`/interns/${id}/provision`, undefined))
    expect(await expectJson<Intern>(200, workspace.manage.get(`/interns/${id}`))).toMatchObject({
      mcp_tools: ["search/query"],
    })
  })

  test("commonTools allows exactly what both lists allow", () => {
    const name = fc.constantFrom("a", "b", "*")
    const pattern = fc.tuple(fc.constantFrom("x", "y"), name).map(([server, tool]) => `${server}/${tool}`)
    const list = fc.array(pattern, { maxLength: 4 })
    fc.assert(
      fc.property(list, list, fc.constantFrom("x", "y"), fc.constantFrom("a", "b", "c"), (one, other, server, tool) => {
        const isInBoth = includesTool(one, server, tool) && includesTool(other, server, tool)
        expect(includesTool(commonTools(one, other), server, tool)).toBe(isInBoth)
      }),
    )
  })
})

test("a daemon receives the names of the MCP servers that its intern may use", async () => {
  const { workspace } = await newSetup()
  const tools = { mcp_tools: ["search/a", "search/b", "db/*"] }
  const intern = await newDaemonIntern({ ...workspace, as: workspace.manage }, tools)
  const daemon = await new MockDaemon(intern).dial()
  expect(daemon.welcome?.config["mcp_servers"]).toEqual(["search", "db"])
})
