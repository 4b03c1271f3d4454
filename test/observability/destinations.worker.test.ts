import { type KindName, KINDS } from "../../src/observability/kinds.ts"
import { env } from "cloudflare:workers"
import { describe, expect, test } from "vitest"
import { newKey, newWorkspace, expectJson, type Workspace } from "../support/world.ts"
import { CONFIGS } from "./configs.ts"

const PATH = "/observability/destinations"
type Made = { id: string; config: Record<string, unknown>; updated_at: string } & Record<string, unknown>
type One = { data: Made }
type Many = { data: Made[]; total_count: number }
type Refused = { error: { message: string } }

const LANGFUSE = { type: "langfuse", name: "Ours", config: CONFIGS["langfuse"]?.config }

const add = async (workspace: Workspace, more: Record<string, unknown> = {}) =>
  (await expectJson<One>(201, workspace.manage.post(PATH, { ...LANGFUSE, ...more }))).data

const refusal = async (status: number, answer: Promise<Response>) =>
  (await expectJson<Refused>(status, answer)).error.message

describe("destinations", () => {
  test("are created, returned with masked secrets, changed and deleted", async () => {
    const workspace = await newWorkspace()
    const made = await add(workspace)
    expect(made).toEqual({
      id: expect.any(String),
      workspace_id: workspace.workspaceId,
      name: "Ours",
      type: "langfuse",
      enabled: true,
      config: { baseUrl: "https://us.cloud.langfuse.com", publicKey: "pk-l...ABCD", secretKey: "sk-l...EFGH" },
      api_key_hashes: null,
      filter_rules: null,
      regions: ["global"],
      sampling_rate: 1,
      privacy_mode: false,
      broadcast_generation_cost: false,
      broadcast_generation_identity: false,
      broadcast_generation_request_context: false,
      broadcast_generation_cost_allocation: false,
      created_at: expect.any(String),
      updated_at: expect.any(String),
      last_success_at: null,
      last_error_at: null,
      last_error: null,
      backlog: 0,
      dead_letters: 0,
      failures: 0,
      next_attempt_at: null,
    })
    expect(await expectJson(200, workspace.manage.get(`${PATH}/${made.id}`))).toEqual({ data: made })
    const { hash } = await newKey(workspace)
    const change = {
      name: "Theirs",
      enabled: false,
      privacy_mode: true,
      sampling_rate: 0.5,
      regions: ["eu", "europe", "us"],
      api_key_hashes: [hash],
      filter_rules: { groups: [{ rules: [{ field: "total_cost", operator: "gt", value: 1 }] }] },
      broadcast_generation_cost: true,
    }
    const { data: changed } = await expectJson<One>(200, workspace.manage.patch(`${PATH}/${made.id}`, change))
    expect(changed).toEqual({
      ...made,
      ...change,
      regions: ["europe", "us"],
      filter_rules: {
        enabled: true,
        groups: [{ logic: "and", rules: [{ field: "total_cost", operator: "gt", value: 1 }] }],
      },
      updated_at: changed.updated_at,
    })
    const cleared = { api_key_hashes: null, filter_rules: null }
    const { data: open } = await expectJson<One>(200, workspace.manage.patch(`${PATH}/${made.id}`, cleared))
    expect(open).toMatchObject(cleared)
    expect(await expectJson(200, workspace.manage.delete(`${PATH}/${made.id}`))).toEqual({ deleted: true })
    for (const method of ["GET", "DELETE"]) await expectJson(404, workspace.manage.call(method, `${PATH}/${made.id}`))
    await expectJson(404, workspace.manage.patch(`${PATH}/${made.id}`, { name: "x" }))
  })

  test.each(Object.entries(CONFIGS))(
    "of %s return no secret, and keep secrets that are sent back masked",
    async (type, kind) => {
      const workspace = await newWorkspace()
      const headers = { "x-team": `header-secret-of-the-${type}-kind` }
      const config = { ...kind.config, headers }
      const made = await add(workspace, { type, name: type, config })
      for (const name of kind.secrets) expect(made.config[name], name).toMatch(/^(.{4})?\.\.\.(.{4})?$/)
      const reported = await (await workspace.manage.get(`${PATH}/${made.id}`)).text()
      const stored = JSON.stringify(
        await env.DB.prepare("SELECT * FROM destinations WHERE id = ?").bind(made.id).first(),
      )
      const audit = await (await workspace.manage.get("/audit?limit=100")).text()
      for (const secret of [...kind.secrets.map((name) => kind.config[name] ?? ""), headers["x-team"]]) {
        for (const text of [reported, stored, audit]) expect(text).not.toContain(secret)
      }
      const again = await expectJson<One>(200, workspace.manage.patch(`${PATH}/${made.id}`, { config: made.config }))
      expect(again.data.config).toEqual(made.config)
      expect(again.data.config["headers"]).toEqual({ "x-team": "head...kind" })
    },
  )

  test("change only the secret that is sent", async () => {
    const workspace = await newWorkspace()
    const made = await add(workspace, { config: { ...LANGFUSE.config, headers: { "x-a": "a-very-long-value-1234" } } })
    const config = { secretKey: "sk-lf-new-9876543210-WXYZ" }
    const { data } = await expectJson<One>(200, workspace.manage.patch(`${PATH}/${made.id}`, { config }))
    expect(data.config).toEqual({ ...made.config, secretKey: "sk-l...WXYZ" })
    const bare = await expectJson<One>(200, workspace.manage.patch(`${PATH}/${made.id}`, { config: { headers: null } }))
    expect(Object.keys(bare.data.config)).toEqual(["baseUrl", "publicKey", "secretKey"])
    const missing = { config: { secretKey: null } }
    expect(await refusal(400, workspace.manage.patch(`${PATH}/${made.id}`, missing))).toContain("config.secretKey")
  })

  test.each(Object.entries(CONFIGS))("of %s do not send their secrets to another host", async (type, kind) => {
    const [url] = KINDS[type as KindName].urls
    if (url === undefined) return
    const workspace = await newWorkspace()
    const config = { ...kind.config, headers: { "x-team": `header-secret-of-the-${type}-kind` } }
    const made = await add(workspace, { type, name: type, config })
    const path = `${PATH}/${made.id}`
    const moved = { [url]: "https://attacker.example.com/in" }
    for (const change of [moved, { ...made.config, ...moved }]) {
      expect(await refusal(400, workspace.manage.patch(path, { config: change }))).toContain("another host")
    }
    await expectJson(200, workspace.manage.patch(path, { config: { ...config, ...moved } }))
    const bare = { headers: null, ...Object.fromEntries(kind.secrets.map((name) => [name, kind.config[name]])) }
    await expectJson(200, workspace.manage.patch(path, { config: { ...bare, [url]: "https://other.example.com/in" } }))
  })

  test("of a webhook get a signing secret, which is returned once", async () => {
    const workspace = await newWorkspace()
    const input = { type: "webhook", name: "Hook", config: { url: "https://hooks.example.com/in" } }
    const made = await add(workspace, input)
    expect(made.config).toEqual({
      url: "https://hooks.example.com/in",
      method: "POST",
      signingSecret: expect.stringMatching(/^whsec_.{44}$/),
    })
    const read = await expectJson<One>(200, workspace.manage.get(`${PATH}/${made.id}`))
    expect(read.data.config["signingSecret"]).toMatch(/^whse\.\.\..{4}$/)
    const turn = { config: { signingSecret: null } }
    const turned = await expectJson<One>(200, workspace.manage.patch(`${PATH}/${made.id}`, turn))
    expect(turned.data.config["signingSecret"]).toMatch(/^whsec_.{44}$/)
    expect(turned.data.config["signingSecret"]).not.toBe(made.config["signingSecret"])
  })

  test("are listed by page, from newest to oldest, for their workspace", async () => {
    const workspace = await newWorkspace()
    await add(workspace)
    await add(workspace)
    const all = await expectJson<Many>(200, workspace.manage.get(PATH))
    expect(all.total_count).toBe(2)
    const page = await expectJson<Many>(200, workspace.manage.get(`${PATH}?limit=1&offset=1`))
    expect(page).toEqual({ data: [all.data[1]], total_count: 2 })
    const other = await expectJson<One>(201, workspace.manage.post("/workspaces", { name: "Other", slug: "other" }))
    const elsewhere = await expectJson<Many>(200, workspace.manage.get(`${PATH}?workspace_id=${other.data.id}`))
    expect(elsewhere).toEqual({ data: [], total_count: 0 })
  })

  test("are limited to five of a type, also with concurrent requests", async () => {
    const workspace = await newWorkspace()
    const answers = await Promise.all(Array.from({ length: 8 }, () => workspace.manage.post(PATH, LANGFUSE)))
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 201, 201, 201, 201, 409, 409, 409])
    await add(workspace, { type: "newrelic", config: CONFIGS["newrelic"]?.config })
  })

  test("of another organization return 404", async () => {
    const [mine, theirs] = [await newWorkspace(), await newWorkspace()]
    const { id } = await add(mine)
    for (const [method, path] of [
      ["GET", ""],
      ["DELETE", ""],
      ["POST", "/test"],
      ["POST", "/redeliver"],
    ] as const) {
      await expectJson(404, theirs.manage.call(method, `${PATH}/${id}${path}`))
    }
    await expectJson(404, theirs.manage.patch(`${PATH}/${id}`, { enabled: false }))
    const { hash } = await newKey(mine)
    await expectJson(400, theirs.manage.post(PATH, { ...LANGFUSE, api_key_hashes: [hash] }))
    await expectJson(404, theirs.manage.post(PATH, { ...LANGFUSE, workspace_id: mine.workspaceId }))
  })

  test("enable the workspace's broadcast unless it was disabled explicitly", async () => {
    const workspace = await newWorkspace()
    type Settings = { data: { is_observability_broadcast_enabled: boolean } }
    const isOn = async () =>
      (await expectJson<Settings>(200, workspace.manage.get(`/workspaces/${workspace.workspaceId}`))).data
        .is_observability_broadcast_enabled
    expect(await isOn()).toBe(false)
    await add(workspace)
    expect(await isOn()).toBe(true)
    const off = { is_observability_broadcast_enabled: false }
    await expectJson(200, workspace.manage.patch(`/workspaces/${workspace.workspaceId}`, off))
    await add(workspace)
    expect(await isOn()).toBe(false)
  })

  test("are deleted with their workspace, including their secrets", async () => {
    const workspace = await newWorkspace()
    const other = await expectJson<One>(201, workspace.manage.post("/workspaces", { name: "Other", slug: "other" }))
    const { id } = await add(workspace, { workspace_id: other.data.id })
    await expectJson(200, workspace.manage.delete(`/workspaces/${other.data.id}`))
    await expectJson(404, workspace.manage.get(`${PATH}/${id}`))
    const row = await env.DB.prepare("SELECT sealed FROM destinations WHERE id = ?").bind(id).first()
    expect(row).toEqual({ sealed: "" })
  })
})

describe("a rejected input", () => {
  const cases: [string, Record<string, unknown>, string][] = [
    ["an unknown type", { type: "datadogs" }, "type"],
    ["no name", { name: " " }, "name"],
    ["a configuration of another type", { type: "newrelic" }, "config.licenseKey"],
    ["a field of another type", { config: { ...LANGFUSE.config, apiKey: "x" } }, "config"],
    ["a secret on two lines", { config: { ...LANGFUSE.config, secretKey: "a\nb" } }, "config.secretKey"],
    ["a masked secret", { config: { ...LANGFUSE.config, secretKey: "sk-l...EFGH" } }, "config.secretKey"],
    ["a reserved header", { config: { ...LANGFUSE.config, headers: { Host: "x" } } }, "config.headers"],
    ["a header of two lines", { config: { ...LANGFUSE.config, headers: { a: "b\r\nc: d" } } }, "config.headers"],
    ["a sampling rate of 0", { sampling_rate: 0 }, "sampling_rate"],
    ["a sampling rate above 1", { sampling_rate: 1.1 }, "sampling_rate"],
    ["no region", { regions: [] }, "regions"],
    ["an unknown region", { regions: ["mars"] }, "regions"],
    ["no key", { api_key_hashes: [] }, "api_key_hashes"],
    ["an unknown field", { filter_rules: { groups: [{ rules: [{ field: "x", operator: "exists" }] }] } }, "field"],
    ["a rule without a value", rule({ field: "model", operator: "equals" }), "value"],
    ["a numeric comparison with text", rule({ field: "total_cost", operator: "gt", value: "much" }), "value"],
    ["an invalid pattern", rule({ field: "model", operator: "regex", value: "(" }), "value"],
    ["a pattern that backtracks", rule({ field: "model", operator: "regex", value: "(a+)+$" }), "value"],
  ]

  test.each(cases)("%s", async (_, more, named) => {
    const workspace = await newWorkspace()
    expect(await refusal(400, workspace.manage.post(PATH, { ...LANGFUSE, ...more }))).toContain(named)
  })
})

function rule(one: Record<string, unknown>): Record<string, unknown> {
  return { filter_rules: { groups: [{ rules: [one] }] } }
}
