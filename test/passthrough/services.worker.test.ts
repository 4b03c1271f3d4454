import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { mockReceivers } from "../observability/receiver.ts"
import { expectJson, newKey, newWorkspace } from "../support/world.ts"
import { watchPolicyWrites } from "../support/policy-writes.ts"

watchPolicyWrites()

beforeAll(mockReceivers)
afterAll(() => vi.restoreAllMocks())

type Service = { data: Record<string, unknown> & { slug: string } }
type Failure = { error: { message: string } }

const SECRET = "canary-secret-0123456789abcdef"
const input = {
  slug: "search",
  name: "Search",
  base_url: "https://api.example.com/",
  headers: { Authorization: `Bearer ${SECRET}` },
  query: { api_key: SECRET },
  rules: [{ methods: ["GET"], path: "/v1/search*", price_usd: 0.005 }, { path: "/v1/free" }],
}

describe("passthrough services", () => {
  test("are created, listed, changed and deleted, and never return their secrets", async () => {
    const { manage, workspaceId } = await newWorkspace()
    const { data: made } = await expectJson<Service>(201, manage.post("/passthrough-services", input))
    expect(made).toMatchObject({
      slug: "search",
      name: "Search",
      workspace_id: workspaceId,
      base_url: "https://api.example.com",
      rules: [
        { methods: ["GET"], path: "/v1/search*", price_usd: 0.005 },
        { methods: null, path: "/v1/free", price_usd: 0 },
      ],
      allowed_api_key_hashes: null,
      timeout_seconds: 60,
      enabled: true,
    })
    expect(await expectJson(200, manage.get("/passthrough-services/search"))).toEqual({ data: made })
    expect(await expectJson(200, manage.get("/passthrough-services"))).toEqual({ data: [made], total_count: 1 })
    const change = { name: "Find", rules: [{ path: "/*" }], headers: made["headers"], timeout_seconds: 5 }
    const { data: changed } = await expectJson<Service>(200, manage.patch("/passthrough-services/search", change))
    expect(changed).toMatchObject({ name: "Find", timeout_seconds: 5, headers: made["headers"] })
    expect(JSON.stringify([made, changed, await (await manage.get("/audit")).json()])).not.toContain(SECRET)
    await expectJson(409, manage.post("/passthrough-services", input))
    expect(await expectJson(200, manage.delete("/passthrough-services/search"))).toEqual({ deleted: true })
    for (const method of ["GET", "DELETE"]) await expectJson(404, manage.call(method, "/passthrough-services/search"))
  })

  test.each([
    ["a slug with a slash", { slug: "a/b" }, "slug"],
    ["an invalid base URL", { base_url: "nowhere" }, "base_url"],
    ["a base URL in a private network", { base_url: "https://10.0.0.1" }, "base_url"],
    ["a base URL with a query", { base_url: "https://api.example.com?key=1" }, "base_url"],
    ["no rules", { rules: [] }, "rules"],
    ["a rule with a query", { rules: [{ path: "/v1?x" }] }, "path"],
    ["a rule with a price below a nano-dollar", { rules: [{ path: "/", price_usd: 1e-10 }] }, "price_usd"],
    ["an unsupported method", { rules: [{ path: "/", methods: ["TRACE"] }] }, "methods"],
    ["an unknown key", { allowed_api_key_hashes: ["a".repeat(64)] }, "allowed_api_key_hashes"],
    ["a masked secret", { headers: { Authorization: "cana...cdef" } }, "headers"],
    ["an unknown field", { secret: "x" }, "secret"],
  ])("are rejected with %s", async (_, more, named) => {
    const { manage } = await newWorkspace()
    const { error } = await expectJson<Failure>(400, manage.post("/passthrough-services", { ...input, ...more }))
    expect(error.message).toContain(named)
    expect(error.message).not.toContain(SECRET)
  })

  test("do not send their secrets to another host", async () => {
    const { manage } = await newWorkspace()
    await expectJson(201, manage.post("/passthrough-services", input))
    const path = "/passthrough-services/search"
    const moved = { base_url: "https://attacker.example.com" }
    expect((await expectJson<Failure>(400, manage.patch(path, moved))).error.message).toContain("another host")
    const { data } = await expectJson<Service>(200, manage.get(path))
    await expectJson(400, manage.patch(path, { ...moved, headers: data["headers"], query: data["query"] }))
    await expectJson(200, manage.patch(path, { base_url: "https://api.example.com/v2" }))
    await expectJson(200, manage.patch(path, { ...moved, headers: null, query: {} }))
  })

  test("and MCP servers do not send headers to another host", async () => {
    const { manage } = await newWorkspace()
    const server = { slug: "s", name: "S", url: "https://mcp.example.com/", headers: { "X-Token": SECRET } }
    await expectJson(201, manage.post("/mcp-servers", server))
    const moved = { url: "https://attacker.example.com/" }
    expect((await expectJson<Failure>(400, manage.patch("/mcp-servers/s", moved))).error.message).toContain(
      "another host",
    )
    await expectJson(400, manage.patch("/mcp-servers/s", { ...moved, headers: { "X-Token": "cana...cdef" } }))
    await expectJson(200, manage.patch("/mcp-servers/s", { ...moved, headers: null }))
  })

  test("are managed only by management keys", async () => {
    const workspace = await newWorkspace()
    const { as } = await newKey(workspace)
    await expectJson(403, as.get("/passthrough-services"))
    await expectJson(403, as.post("/passthrough-services", input))
  })
})
