import { env } from "cloudflare:workers"
import { sql } from "drizzle-orm"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { containsText, openDb } from "../../src/support/db.ts"
import { runs } from "../support/runs.ts"
import { expectJson, newWorkspace, type Workspace } from "../support/world.ts"

type Row = Record<string, unknown>
type List = { data: Row[]; total_count?: number }
type Case = {
  path: string
  make: (workspace: Workspace, name: string, index: number) => Promise<unknown>
  nameOf?: (row: Row) => unknown
}

const NAMES = ["Support Bot of Berlin", "support bot (100 %_)", "Équipe Research", "nightly"]
const url = "https://example.com"
const slug = (name: string, index: number) =>
  `${name.toLowerCase().replace(/[^a-z]+/g, "-")}-${index}`.replace(/^-/, "")

const LISTS: Case[] = [
  { path: "/keys", make: ({ manage }, name) => expectJson(201, manage.post("/keys", { name })) },
  { path: "/guardrails", make: ({ manage }, name) => expectJson(201, manage.post("/guardrails", { name })) },
  {
    path: "/organization/members",
    make: ({ manage }, name, index) =>
      expectJson(201, manage.post("/organization/members", { email: `m${index}@example.com`, first_name: name })),
    nameOf: (row) => row["first_name"],
  },
  {
    path: "/mcp-servers",
    make: ({ manage }, name, index) =>
      expectJson(201, manage.post("/mcp-servers", { slug: slug("server", index), name, url: `${url}/mcp` })),
  },
  {
    path: "/passthrough-services",
    make: ({ manage }, name, index) =>
      expectJson(
        201,
        manage.post("/passthrough-services", {
          slug: slug("service", index),
          name,
          base_url: url,
          rules: [{ path: "/*" }],
        }),
      ),
  },
]

/** All matches, over all pages. */
async function search({ manage }: Workspace, { path, nameOf }: Case, q: string): Promise<unknown[]> {
  const list = await expectJson<List>(200, manage.get(`${path}?q=${encodeURIComponent(q)}`))
  if (list.total_count !== undefined) expect(list.total_count).toBe(list.data.length)
  return list.data.map((row) => (nameOf ? nameOf(row) : row["name"])).sort()
}

describe("?q= of lists", () => {
  test.each(LISTS)("$path: finds rows that contain the text, in any case", async (list) => {
    const workspace = await newWorkspace()
    for (const [index, name] of NAMES.entries()) await list.make(workspace, name, index)
    const [berlin, percent, french] = NAMES
    expect(await search(workspace, list, "SUPPORT bot")).toEqual([berlin, percent].sort())
    expect(await search(workspace, list, "berlin")).toEqual([berlin])
    expect(await search(workspace, list, "100 %_")).toEqual([percent])
    expect(await search(workspace, list, "Équipe")).toEqual([french])
    expect(await search(workspace, list, "bot support")).toEqual([])
    expect((await search(workspace, list, "  ")).length).toBeGreaterThanOrEqual(NAMES.length)
    const first = await expectJson<List>(200, workspace.manage.get(`${list.path}?q=bot&limit=1`))
    expect(first.data).toHaveLength(1)
    expect(first.total_count).toBe(2)
    const other = await newWorkspace()
    expect(await search(other, list, "bot")).toEqual([])
    await expectJson(400, workspace.manage.get(`${list.path}?q=${"x".repeat(201)}`))
  })

  test("/presets and /interns, which have no total or another name", async () => {
    const workspace = await newWorkspace()
    const messages = [{ role: "system", content: "Be brief." }]
    for (const name of ["support-en", "support-de", "other"]) {
      await expectJson(200, workspace.manage.post(`/presets/${name}/chat/completions`, { model: "m", messages }))
      await expectJson(201, workspace.manage.post("/interns", { name }))
    }
    const presets = await expectJson<List>(200, workspace.manage.get("/presets?q=support-DE"))
    expect(presets.data.map((row) => row["slug"])).toEqual(["support-de"])
    const interns = await expectJson<List>(200, workspace.manage.get("/interns?q=support&limit=500"))
    expect(interns.data.map((row) => row["name"]).sort()).toEqual(["support-de", "support-en"])
  })
})

test("a text is matched literally: it has no wildcards and no SQL", async () => {
  const text = fc.string({
    unit: fc.constantFrom("a", "B", "é", "%", "_", "'", '"', "\\", " ", "[", "💡"),
    maxLength: 8,
  })
  const lower = (value: string) => value.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
  await fc.assert(
    fc.asyncProperty(text, text, fc.option(text), async (q, first, second) => {
      const columns = [sql`${first}`, second === null ? sql`NULL` : sql`${second}`]
      const condition = containsText(q, columns) ?? sql`1`
      const [row] = await openDb(env.DB).all<{ found: number }>(sql`SELECT ${condition} AS found`)
      const isIn = [first, second ?? ""].some((content) => lower(content).includes(lower(q).trim()))
      expect(row?.found).toBe(isIn ? 1 : 0)
    }),
    { numRuns: runs(1) },
  )
})
