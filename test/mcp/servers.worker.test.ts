import { createExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { describe, expect, test } from "vitest"
import { app } from "../../src/app/app.ts"
import { BOOTSTRAP, client, expectJson, newKey, newWorkspace } from "../support/world.ts"
import { watchPolicyWrites } from "../support/policy-writes.ts"

watchPolicyWrites()

type Server = { id: string; slug: string; headers: Record<string, string> } & Record<string, unknown>
type One = { data: Server }
type Many = { data: Server[]; total_count: number }
type Refusal = { error: { message: string } }

const TOKEN = "Bearer mcp-token-0123456789abcdefghij"
const INPUT = { slug: "search", name: "Search", url: "https://mcp.example.com/mcp" }

describe("MCP servers", () => {
  test("the list of keys can be filtered to keys with a tool of one server", async () => {
    const workspace = await newWorkspace()
    const every = await newKey(workspace, { mcp_tools: ["search/*"] })
    const one = await newKey(workspace, { mcp_tools: ["maps/*", "search/query"] })
    await newKey(workspace, { mcp_tools: ["search-2/*"] })
    await newKey(workspace, {})
    type Keys = { data: { hash: string }[]; total_count: number }
    const read = (query: string) => expectJson<Keys>(200, workspace.manage.get(`/keys?${query}`))
    const found = await read("mcp_server=search")
    expect(new Set(found.data.map(({ hash }) => hash))).toEqual(new Set([every.hash, one.hash]))
    expect(found.total_count).toBe(2)
    expect((await read("mcp_server=search&limit=1&offset=1")).data).toHaveLength(1)
    expect((await read("mcp_server=sear")).data).toEqual([])
    await expectJson(400, workspace.manage.get("/keys?mcp_server=search/query"))
  })

  test("are registered, read with masked headers, changed and deleted", async () => {
    const { manage, workspaceId } = await newWorkspace()
    const input = { ...INPUT, headers: { Authorization: TOKEN }, price_per_call_usd: 0.002 }
    const { data: made } = await expectJson<One>(201, manage.post("/mcp-servers", input))
    expect(made).toEqual({
      id: expect.any(String),
      workspace_id: workspaceId,
      ...INPUT,
      headers: { Authorization: "Bear...ghij" },
      allowed_tools: null,
      price_per_call_usd: 0.002,
      tool_prices_usd: {},
      timeout_seconds: 60,
      enabled: true,
      created_at: expect.any(String),
      updated_at: null,
    })
    expect(await expectJson(200, manage.get("/mcp-servers/search"))).toEqual({ data: made })
    expect(await expectJson<Many>(200, manage.get("/mcp-servers"))).toEqual({ data: [made], total_count: 1 })
    const change = { allowed_tools: ["query"], tool_prices_usd: { query: 0.000000001 }, timeout_seconds: 5 }
    const { data: changed } = await expectJson<One>(200, manage.patch("/mcp-servers/search", change))
    expect(changed).toEqual({ ...made, ...change, updated_at: expect.any(String) })
    expect(await expectJson(200, manage.delete("/mcp-servers/search"))).toEqual({ deleted: true })
    for (const method of ["GET", "DELETE"]) await expectJson(404, manage.call(method, "/mcp-servers/search"))
  })

  test("keep a masked header and remove one that is not sent", async () => {
    const { manage } = await newWorkspace()
    const input = { ...INPUT, headers: { Authorization: TOKEN, "X-Team": "research" } }
    const { data: made } = await expectJson<One>(201, manage.post("/mcp-servers", input))
    const kept = { headers: { Authorization: made.headers["Authorization"] } }
    const { data: changed } = await expectJson<One>(200, manage.patch("/mcp-servers/search", kept))
    expect(changed.headers).toEqual({ Authorization: "Bear...ghij" })
    const { data: without } = await expectJson<One>(200, manage.patch("/mcp-servers/search", { headers: null }))
    expect(without.headers).toEqual({})
    const masked = { headers: { "X-Other": "Bear...ghij" } }
    const { error } = await expectJson<Refusal>(400, manage.patch("/mcp-servers/search", masked))
    expect(error.message).toContain("headers.X-Other: is masked")
  })

  test("store no header value in plain text in a row or in the audit log", async () => {
    const { manage, organizationId } = await newWorkspace()
    await expectJson(201, manage.post("/mcp-servers", { ...INPUT, headers: { Authorization: TOKEN } }))
    await expectJson(200, manage.patch("/mcp-servers/search", { headers: { Authorization: `${TOKEN}2` } }))
    const { results } = await env.DB.prepare("SELECT * FROM mcp_servers WHERE organization_id = ?")
      .bind(organizationId)
      .all()
    const audit = await expectJson<{ data: { action: string }[] }>(200, manage.get("/audit?resource_type=mcp_server"))
    expect(audit.data.map(({ action }) => action)).toEqual(["mcp_server.update", "mcp_server.create"])
    expect(JSON.stringify([results, audit])).not.toContain("mcp-token")
  })

  test("have a slug that is unique in the workspace", async () => {
    const workspace = await newWorkspace()
    await expectJson(201, workspace.manage.post("/mcp-servers", INPUT))
    await expectJson(409, workspace.manage.post("/mcp-servers", INPUT))
    const other = await newWorkspace()
    await expectJson(201, other.manage.post("/mcp-servers", INPUT))
    await expectJson(404, other.manage.get(`/mcp-servers/search?workspace_id=${workspace.workspaceId}`))
  })

  test("are managed only by management keys", async () => {
    const { as } = await newWorkspace()
    await expectJson(403, as.get("/mcp-servers"))
    await expectJson(403, as.post("/mcp-servers", INPUT))
  })

  test.each([
    ["with an address that is not public", { url: "https://10.0.0.5/mcp" }],
    ["with plain http", { url: "http://mcp.example.com/mcp" }],
    ["with a password in the URL", { url: "https://a:b@mcp.example.com/" }],
    ["with a slug of other characters", { slug: "a/b" }],
    ["with a price below zero", { price_per_call_usd: -1 }],
    ["with a price below a nano-dollar", { price_per_call_usd: 1e-10 }],
    ["with a timeout of an hour", { timeout_seconds: 3_600 }],
    ["with a tool that has a space in its name", { allowed_tools: ["a b"] }],
    ["with a header that frames the message", { headers: { "Content-Length": "1" } }],
    ["with an unknown field", { token: "x" }],
  ])("are rejected %s", async (_, more) => {
    const { manage } = await newWorkspace()
    const { error } = await expectJson<Refusal>(400, manage.post("/mcp-servers", { ...INPUT, ...more }))
    expect(error.message).toMatch(/^\w+(?:\.[\w-]+|\[0\])*: |body: /)
  })
})

describe("tools of MCP servers", () => {
  test("are granted to keys only by management keys", async () => {
    const workspace = await newWorkspace()
    const { manage } = workspace
    type Key = { key: string; data: { hash: string; mcp_tools: string[] | null } }
    const tools = ["search/*", "files/read"]
    const made = await expectJson<Key>(201, manage.post("/keys", { name: "a", mcp_tools: tools }))
    expect(made.data.mcp_tools).toEqual(tools)
    const plain = await newKey(workspace)
    const { data } = await expectJson<Key>(200, manage.get(`/keys/${plain.hash}`))
    expect(data.mcp_tools).toBeNull()

    const { as: provisioning } = await newKey(workspace, { kind: "provisioning" })
    await expectJson(403, provisioning.post("/keys", { name: "b", mcp_tools: ["search/*"] }))
    await expectJson(403, provisioning.patch(`/keys/${plain.hash}`, { mcp_tools: ["search/*"] }))
    const taken = await expectJson<Key>(200, provisioning.patch(`/keys/${made.data.hash}`, { mcp_tools: null }))
    expect(taken.data.mcp_tools).toBeNull()
    for (const wrong of [["search"], ["*"], ["Search/*"], ["search/a b"], "search/*"]) {
      await expectJson(400, manage.patch(`/keys/${plain.hash}`, { mcp_tools: wrong }))
    }
  })

  test("are narrowed by guardrails", async () => {
    const { manage } = await newWorkspace()
    type Guardrail = { data: { id: string; allowed_mcp_tools: string[] | null } }
    const input = { name: "Tools", allowed_mcp_tools: ["search/query"] }
    const { data } = await expectJson<Guardrail>(201, manage.post("/guardrails", input))
    expect(data.allowed_mcp_tools).toEqual(["search/query"])
    const changed = await expectJson<Guardrail>(
      200,
      manage.patch(`/guardrails/${data.id}`, { allowed_mcp_tools: null }),
    )
    expect(changed.data.allowed_mcp_tools).toBeNull()
  })
})

test("headers of MCP servers can be read after the master key was rotated", async () => {
  const workspace = await newWorkspace()
  await expectJson(201, workspace.manage.post("/mcp-servers", { ...INPUT, headers: { Authorization: TOKEN } }))
  const rotated = {
    ...env,
    MASTER_KEY: btoa("0123456789abcdef0123456789abcdef"),
    MASTER_KEY_PREVIOUS: env.MASTER_KEY,
  } as unknown as typeof env
  const call = async (method: string, path: string, key: string, body?: unknown) =>
    app.fetch(
      new Request(`http://gateway.test/api/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
      rotated,
      createExecutionContext(),
    )
  const read = async () =>
    (await expectJson<One>(200, call("GET", "/mcp-servers/search", workspace.managementKey))).data.headers
  expect(await read()).toEqual({ Authorization: "Bear...ghij" })
  await expectJson(200, call("POST", "/secrets/rotate", BOOTSTRAP, {}))
  expect(await read()).toEqual({ Authorization: "Bear...ghij" })
  // The keys of other tests go back to the master key of the test configuration.
  const back = { ...rotated, MASTER_KEY: env.MASTER_KEY, MASTER_KEY_PREVIOUS: rotated.MASTER_KEY } as typeof env
  const request = new Request("http://gateway.test/api/v1/secrets/rotate", {
    method: "POST",
    headers: { authorization: `Bearer ${BOOTSTRAP}`, "content-type": "application/json" },
    body: "{}",
  })
  await expectJson(200, app.fetch(request, back, createExecutionContext()))
  expect(await expectJson<One>(200, client(workspace.managementKey).get("/mcp-servers/search"))).toMatchObject({
    data: { headers: { Authorization: "Bear...ghij" } },
  })
})
