import { env } from "cloudflare:workers"
import { expect, test } from "vitest"
import { openIntern } from "../../src/interns/lifecycle/open-intern.ts"
import { expectJson, newWorkspace, type Workspace } from "../support/world.ts"

const TOKEN = "aB3dE5gH7jK9mN1pQ3sT5"
const url = `https://hooks.example.com/${TOKEN}/in?sig=short-signature`
const MASKED = "https://hooks.example.com/aB3d...3sT5/in?sig=..."

const column = async (query: string, id: string) => (await env.DB.prepare(query).bind(id).first<string>("found")) ?? ""

/** The base URL of a passthrough service has no query. */
const withoutQuery = (text: string) => text.split("?")[0] ?? ""

type Resource = {
  create: (workspace: Workspace, url: string) => Promise<{ path: string; id: string }>
  change: (url: string) => object
  method?: "PUT"
  shown: (body: Record<string, unknown>) => unknown
  stored: (id: string) => Promise<string | undefined>
}
const dataOf = (body: Record<string, unknown>) => body["data"] as Record<string, unknown>
const created = async (workspace: Workspace, path: string, body: object) =>
  dataOf(await expectJson<Record<string, unknown>>(201, workspace.manage.post(path, body)))

const resources: Readonly<Record<string, Resource>> = {
  "an MCP server": {
    create: async (workspace, text) => {
      const { id } = await created(workspace, "/mcp-servers", { slug: "hook", name: "Hook", url: text })
      return { path: "/mcp-servers/hook", id: String(id) }
    },
    change: (text) => ({ url: text, name: "Renamed" }),
    shown: (body) => dataOf(body)["url"],
    stored: (id) => column("SELECT url AS found FROM mcp_servers WHERE id = ?", id),
  },
  "a passthrough service": {
    create: async (workspace, text) => {
      const rules = [{ path: "/*", price_usd: 0 }]
      const body = { slug: "hook", name: "Hook", base_url: withoutQuery(text), rules }
      const { id } = await created(workspace, "/passthrough-services", body)
      return { path: "/passthrough-services/hook", id: String(id) }
    },
    change: (text) => ({ base_url: withoutQuery(text), name: "Renamed" }),
    shown: (body) => dataOf(body)["base_url"],
    stored: (id) => column("SELECT base_url AS found FROM passthrough_services WHERE id = ?", id),
  },
  "a destination": {
    create: async (workspace, text) => {
      const body = { type: "webhook", name: "Hook", config: { url: text } }
      const { id } = await created(workspace, "/observability/destinations", body)
      return { path: `/observability/destinations/${String(id)}`, id: String(id) }
    },
    change: (text) => ({ config: { url: text }, name: "Renamed" }),
    shown: (body) => (dataOf(body)["config"] as Record<string, unknown>)["url"],
    stored: (id) => column("SELECT config ->> 'url' AS found FROM destinations WHERE id = ?", id),
  },
  "the webhook of an intern": {
    create: async (workspace, text) => {
      const intern = { name: "ada", model: "sim/echo" }
      const { id } = await expectJson<{ id: string }>(201, workspace.manage.post("/interns", intern))
      const path = `/interns/${id}/webhook`
      expect(await expectJson(200, workspace.manage.call("PUT", path, { url: text }))).toMatchObject({ url: MASKED })
      return { path, id }
    },
    change: (text) => ({ url: text }),
    method: "PUT",
    shown: (body) => body["url"],
    stored: async (id) => (await openIntern(env, id).webhook())?.url,
  },
}

test.each(Object.entries(resources))(
  "the URL of %s is shown masked, and stays the same if the masked URL is sent back",
  async (_, { create, change, method = "PATCH", shown, stored }) => {
    const workspace = await newWorkspace()
    const { path, id } = await create(workspace, url)
    const read = await expectJson<Record<string, unknown>>(200, workspace.manage.get(path))
    expect([MASKED, withoutQuery(MASKED)]).toContain(shown(read))
    expect(JSON.stringify(read)).not.toContain(TOKEN)
    const changed = await workspace.manage.call(method, path, change(MASKED))
    expect([changed.status, await changed.text()]).toEqual([200, expect.stringContaining("...")])
    expect([url, withoutQuery(url)]).toContain(await stored(id))
    const refused = await workspace.manage.call(method, path, change(MASKED.replace("/in", "/out")))
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("is masked")])
    await expectJson(200, workspace.manage.call(method, path, change("https://hooks.example.com/plain")))
    expect(await stored(id)).toBe("https://hooks.example.com/plain")
  },
)

test("a search of MCP servers and services does not reveal the rest of their URLs", async () => {
  const workspace = await newWorkspace()
  for (const name of ["an MCP server", "a passthrough service"]) await resources[name]?.create(workspace, url)
  for (const path of ["/mcp-servers", "/passthrough-services"]) {
    const count = async (text: string) =>
      (await expectJson<{ total_count: number }>(200, workspace.manage.get(`${path}?q=${text}`))).total_count
    expect(await count("hooks.example.com")).toBe(1)
    for (const text of ["aB3", "short", "sig", "in%3F"]) expect(await count(text)).toBe(0)
  }
})
