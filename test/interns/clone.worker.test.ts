import { env } from "cloudflare:workers"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { includesPattern } from "../../src/support/mcp-tools.ts"
import { newDaemonIntern } from "../support/daemon.ts"
import { eventually } from "../support/eventually.ts"
import { internChat } from "../support/intern-chat.ts"
import { good, mockProvider, sse } from "../support/mock-provider.ts"
import { runs } from "../support/runs.ts"
import { client, expectJson, newKey, newMember, newWorkspace, type TestClient } from "../support/world.ts"

type Intern = { id: string; status: string; vault_id: string } & Record<string, unknown>
type Refusal = { error: { message: string; metadata: { reason: string } } }
type Listed = { data: { path: string; bytes: number }[] }

const make = (as: TestClient, input: Record<string, unknown>) => expectJson<Intern>(201, as.post("/interns", input))
const refusal = async (status: number, answer: Promise<Response>) => (await expectJson<Refusal>(status, answer)).error
const paths = async (as: TestClient, id: string) =>
  (await expectJson<Listed>(200, as.get(`/interns/${id}/files`))).data.map(({ path }) => path)
const content = async (as: TestClient, id: string, path: string) =>
  (await as.get(`/interns/${id}/files/content?path=${path}`)).text()

async function running(as: TestClient, id: string): Promise<void> {
  await eventually(async () =>
    expect(await expectJson<Intern>(200, as.get(`/interns/${id}`))).toMatchObject({ status: "running" }),
  )
}

const FILES = [
  { path: "AGENTS.md", content: "Speak like a pirate.\n" },
  {
    path: "skills/release/SKILL.md",
    content: "---\nname: release\ndescription: Writes release notes\n---\nRead the log first.",
  },
  { path: "data/raw.bin", content: "AP/+", encoding: "base64" },
]

describe("files at creation", () => {
  test("are in the home of an embedded intern before its first turn, as text and bytes", async () => {
    const { as, key } = await newWorkspace()
    const { id } = await make(as, { name: "ada", model: "sim/agent", provision: true, files: FILES })
    expect(await paths(as, id)).toEqual([
      "/home/intern/AGENTS.md",
      "/home/intern/data/raw.bin",
      "/home/intern/skills/release/SKILL.md",
    ])
    expect(
      new Uint8Array(await (await as.get(`/interns/${id}/files/content?path=data/raw.bin`)).arrayBuffer()),
    ).toEqual(new Uint8Array([0, 255, 254]))
    await running(as, id)
    const chat = internChat(key, id)
    const answer = await (await chat.send("$ cat AGENTS.md", { approval_mode: "self-drive" })).all()
    expect(answer.text).toContain("Speak like a pirate.")
  })

  test("AGENTS.md and the list of skills are part of the system message after the instructions", async () => {
    const { as, key } = await newWorkspace()
    const input = { name: "ada", model: "played/flat", instructions: "Be brief.", files: FILES, provision: true }
    const { id } = await make(as, input)
    await running(as, id)
    const provider = mockProvider(() => sse(good("Arr")))
    await (await internChat(key, id).send("Hello")).all()
    provider.stop()
    const sent = JSON.parse(JSON.stringify(provider.upstreamCalls[0]?.body["messages"])) as { content: string }[]
    const [system] = sent
    expect(system?.content).toContain("Be brief.\n\nSpeak like a pirate.\n\nSkills")
    expect(system?.content).toContain("- release (/home/intern/skills/release/SKILL.md): Writes release notes")
  })

  test("are written once: a repeated creation does not restore a file that was deleted", async () => {
    const { as } = await newWorkspace()
    const input = { name: "ada", files: FILES }
    const { id } = await make(as, input)
    await expectJson(200, as.delete(`/interns/${id}/files/content?path=AGENTS.md`))
    expect((await expectJson<Intern>(200, as.post("/interns", input))).id).toBe(id)
    expect(await paths(as, id)).not.toContain("/home/intern/AGENTS.md")
  })

  test.each([
    ["a path above the folder", [{ path: "../x", content: "" }], "files[0].path"],
    ["the folder itself", [{ path: ".", content: "" }], "files[0].path"],
    [
      "one path twice",
      [
        { path: "a", content: "" },
        { path: "./a", content: "" },
      ],
      "files[1].path",
    ],
    [
      "a file below a file",
      [
        { path: "a", content: "" },
        { path: "a/b", content: "" },
      ],
      "files[1].path",
    ],
    ["content that is not base64", [{ path: "a", content: "%", encoding: "base64" }], "files[0].content"],
    ["too many", Array.from({ length: 101 }, (_, n) => ({ path: `f${n}`, content: "" })), "files"],
    ["too many bytes", [{ path: "a", content: "x".repeat(512 * 1024 + 1) }], "files"],
  ])("are rejected: %s", async (_, files, field) => {
    const { as } = await newWorkspace()
    const { message, metadata } = await refusal(400, as.post("/interns", { name: "ada", files }))
    expect(message).toContain(field)
    expect(metadata.reason).toBe("invalid_body")
  })

  test("are served to the daemon in pages and to no API key", async () => {
    const workspace = await newWorkspace()
    const large = Array.from({ length: 4 }, (_, n) => ({ path: `large/${n}`, content: "x".repeat(120_000) }))
    const intern = await newDaemonIntern(workspace, { files: [...FILES, ...large], instructions: "Be brief." })
    type Page = { data: { path: string; content: string; mode: number }[]; next: string | null }
    const path = `/interns/${intern.id}/daemon/files`
    const page = await expectJson<Page>(200, client(intern.token).get(path))
    expect(page.next).toBeNull()
    expect(page.data.map((file) => file.path)).toEqual([
      "AGENTS.md",
      "data/raw.bin",
      ...large.map((file) => file.path),
      "skills/release/SKILL.md",
    ])
    expect(page.data[1]).toEqual({ path: "data/raw.bin", content: "AP_-", mode: 0o644 })
    const rest = await expectJson<Page>(200, client(intern.token).get(`${path}?after=large/3`))
    expect(rest.data.map((file) => file.path)).toEqual(["skills/release/SKILL.md"])
    await refusal(401, workspace.as.get(path))
    await refusal(409, workspace.as.get(`/interns/${intern.id}/files`))
  })
})

describe("a clone", () => {
  test("copies model, instructions, limits, tools, schedules and files, and has a new vault and key", async () => {
    const workspace = await newWorkspace()
    const { as, key, manage } = workspace
    const given = {
      description: "Writes notes",
      instructions: "Be brief.",
      model: "sim/agent",
      limit: 5,
      limit_reset: "weekly",
      daily_limit: 0.5,
      files: FILES,
    }
    const source = await make(as, { name: "ada", provision: true, ...given })
    await expectJson(200, manage.patch(`/interns/${source.id}`, { description: "Writes release notes" }))
    await running(as, source.id)
    await (await internChat(key, source.id).send("$ echo done > report.md", { approval_mode: "self-drive" })).all()
    const rule = { cron: "0 8 * * *", timezone: "Europe/Berlin", prompt: "Report", daily_limit_usd: 1 }
    const schedule = await expectJson<{ id: string }>(201, as.post(`/interns/${source.id}/schedules`, rule))
    await expectJson(200, as.put(`/interns/${source.id}/webhook`, { url: "https://hooks.example.com/" }))
    const secret = { hosts: ["api.example.com"], value: "canary-of-the-vault" }
    await expectJson(200, as.put(`/vault/interns/${source.id}/secrets/token`, secret))

    const clone = await make(as, { name: "bob", clone_of: source.id, model: "sim/echo" })
    expect(clone).toMatchObject({
      name: "bob",
      description: "Writes release notes",
      instructions: "Be brief.",
      model: "sim/echo",
      limit: 5,
      limit_reset: "weekly",
      daily_limit: 0.5,
      usage: 0,
      attached_vault_id: null,
      status: "queued",
    })
    expect(clone.vault_id).not.toBe(source.vault_id)
    expect(await paths(as, clone.id)).toEqual(await paths(as, source.id))
    expect(await content(as, clone.id, "report.md")).toBe("done\n")
    const { data: schedules } = await expectJson<{ data: Record<string, unknown>[] }>(
      200,
      as.get(`/interns/${clone.id}/schedules`),
    )
    expect(schedules).toEqual([expect.objectContaining({ ...rule, enabled: true, last_run_at: null })])
    expect(schedules[0]?.["id"]).not.toBe(schedule.id)
    expect(await expectJson(200, as.get(`/interns/${clone.id}/sessions`))).toMatchObject({ data: [] })
    expect(await expectJson(200, as.get(`/vault/interns/${clone.id}/secrets`))).toMatchObject({ total_count: 0 })
    expect((await as.get(`/interns/${clone.id}/webhook`)).status).toBe(404)
    const keys = await env.DB.prepare("SELECT count(DISTINCT key_hash) AS n FROM interns WHERE id IN (?, ?)")
      .bind(source.id, clone.id)
      .first<number>("n")
    expect(keys).toBe(2)
    // Changes of the clone do not affect the source.
    await expectJson(200, as.delete(`/interns/${clone.id}/files/content?path=report.md`))
    expect(await content(as, source.id, "report.md")).toBe("done\n")
  })

  test("is rejected for a source of another workspace, of another user or in deletion", async () => {
    const workspace = await newWorkspace()
    const source = await make(workspace.as, { name: "ada", files: FILES })
    const body = { name: "bob", clone_of: source.id }
    const foreign = await newWorkspace()
    expect((await refusal(404, foreign.as.post("/interns", body))).message).toContain("clone_of")
    const other = await newKey(workspace)
    await env.DB.prepare("UPDATE api_keys SET creator_user_id = 'bob' WHERE hash = ?").bind(other.hash).run()
    expect((await refusal(403, other.as.post("/interns", body))).metadata.reason).toBe("forbidden")
    await env.DB.prepare("UPDATE interns SET status = 'destroying' WHERE id = ?").bind(source.id).run()
    await refusal(409, workspace.as.post("/interns", body))
  })

  test("has all files of its source across pages", async () => {
    const { as } = await newWorkspace()
    const source = await make(as, { name: "ada" })
    const bytes = new Uint8Array(900_000).map((_, at) => at % 251)
    for (const name of ["a", "b", "c"]) {
      const path = `/interns/${source.id}/files/content?path=${name}`
      await expectJson(200, as.callBytes("PUT", path, bytes, "application/octet-stream"))
    }
    const clone = await make(as, { name: "bob", clone_of: source.id })
    const { data } = await expectJson<Listed>(200, as.get(`/interns/${clone.id}/files`))
    expect(data).toEqual(["a", "b", "c"].map((name) => ({ path: `/home/intern/${name}`, bytes: 900_000 })))
    const last = await as.get(`/interns/${clone.id}/files/content?path=c`)
    expect(new Uint8Array(await last.arrayBuffer())).toEqual(bytes)
  })

  test("replaces files of its source, and a repeated request returns the same clone", async () => {
    const { as } = await newWorkspace()
    const source = await make(as, { name: "ada", files: FILES })
    const body = { name: "bob", clone_of: source.id, files: [{ path: "AGENTS.md", content: "Speak plainly." }] }
    const clone = await make(as, body)
    expect(await content(as, clone.id, "AGENTS.md")).toBe("Speak plainly.")
    expect(await paths(as, clone.id)).toHaveLength(3)
    await expectJson(202, as.call("DELETE", `/interns/${source.id}`, { acknowledge_workspace_loss: true }))
    await eventually(async () => expect((await as.get(`/interns/${source.id}`)).status).toBe(404))
    expect((await expectJson<Intern>(200, as.post("/interns", body))).id).toBe(clone.id)
  })

  const PATTERNS = ["search/query", "search/*", "db/read", "db/*"]
  const tools = fc.option(fc.uniqueArray(fc.constantFrom(...PATTERNS), { maxLength: 3, minLength: 1 }), { nil: null })
  const caller = fc.constantFrom("maker", "same user", "other user", "nobody", "management")

  test("is created only by keys that control the source, and never has a tool that its creator lacks", async () => {
    await fc.assert(
      fc.asyncProperty(caller, tools, tools, fc.option(tools), async (who, ofSource, ofCaller, override) => {
        const workspace = await newWorkspace()
        const ada = await newMember(workspace, "ada")
        const [maker, other] = [
          await newKey(workspace, { mcp_tools: PATTERNS }),
          await newKey(workspace, { mcp_tools: ofCaller }),
        ]
        const ownerOf = { maker: ada, "same user": ada, "other user": "bob", nobody: null, management: null }[who]
        await setUser(maker.hash, ada)
        await setUser(other.hash, ownerOf)
        const source = await make(maker.as, { name: "ada", mcp_tools: ofSource })
        if (who === "maker")
          await expectJson(200, workspace.manage.patch(`/keys/${maker.hash}`, { mcp_tools: ofCaller }))
        const as = who === "management" ? workspace.manage : who === "maker" ? maker.as : other.as
        const body = { name: "bob", clone_of: source.id, ...(override !== null && { mcp_tools: override }) }
        const response = await as.post("/interns", body)
        const wanted = override ?? (override === null ? ofSource : null)
        const hasTools = (wanted ?? []).every((tool) => includesPattern(ofCaller ?? [], tool))
        const mayMake = who === "management" || ((who === "maker" || who === "same user") && hasTools)
        expect(response.status, `${who} ${JSON.stringify({ ofSource, ofCaller, override })}`).toBe(mayMake ? 201 : 403)
        const made = await response.json<Intern>()
        if (mayMake) expect(made["mcp_tools"]).toEqual(wanted)
      }),
      { numRuns: runs(0.6) },
    )
  })
})

async function setUser(hash: string, user: string | null): Promise<void> {
  await env.DB.prepare("UPDATE api_keys SET creator_user_id = ? WHERE hash = ?").bind(user, hash).run()
}
