import { createExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { describe, expect, test } from "vitest"
import { app } from "../../src/app/app.ts"
import { newEntry } from "../../src/audit/entry.ts"
import { type ByokChange, updateByok } from "../../src/byok/store.ts"
import { BOOTSTRAP, newKey, newWorkspace, operatorClient, expectJson, type Workspace } from "../support/world.ts"
import { watchPolicyWrites } from "../support/policy-writes.ts"

watchPolicyWrites()

export type Credential = { id: string; label: string; sort_order: number; provider: string } & Record<string, unknown>
type One = { data: Credential }
type Many = { data: Credential[]; total_count: number }

const KEY = "sk-own-0123456789abcdefghij"

const add = async (workspace: Workspace, more: Record<string, unknown> = {}) =>
  (await expectJson<One>(201, workspace.manage.post("/byok", { provider: "openai", key: KEY, ...more }))).data

describe("credentials", () => {
  test("have the models that they cover in the spelling of the catalogue, and unknown ones only on request", async () => {
    const workspace = await newWorkspace()
    const models = ["Agent", "SIM/agent", "openai/*", "openai/not-released-yet"]
    const spelled = ["sim/agent", "openai/*", "openai/not-released-yet"]
    const made = await add(workspace, { allowed_models: models, allow_unknown: true })
    expect(made).not.toHaveProperty("allow_unknown")
    const mistyped = { allowed_models: ["sim/agent", "sim/agnet"] }
    for (const response of [
      workspace.manage.post("/byok", { provider: "openai", key: KEY, ...mistyped }),
      workspace.manage.patch(`/byok/${made.id}`, mistyped),
    ]) {
      const { error } = await expectJson<{ error: { message: string } }>(400, response)
      expect(error.message).toMatch(/^allowed_models\[1\]: there is no model sim\/agnet here\. Did you mean sim\/agent/)
    }
    expect(made).toMatchObject({ allowed_models: spelled })
    const changed = await expectJson<One>(
      200,
      workspace.manage.patch(`/byok/${made.id}`, { allowed_models: ["agent"], name: "x" }),
    )
    expect(changed.data).toMatchObject({ allowed_models: ["sim/agent"], name: "x" })
  })

  test("cover members of the organization, and other users only on request", async () => {
    const workspace = await newWorkspace()
    const added = workspace.manage.post("/organization/members", { email: `${crypto.randomUUID()}@example.com` })
    const { data: member } = await expectJson<{ data: { id: string } }>(201, added)
    const made = await add(workspace, { allowed_user_ids: [member.id] })
    const stranger = { allowed_user_ids: [member.id, "nobody"] }
    for (const response of [
      workspace.manage.post("/byok", { provider: "openai", key: KEY, ...stranger }),
      workspace.manage.patch(`/byok/${made.id}`, stranger),
    ]) {
      const { error } = await expectJson<{ error: { message: string } }>(400, response)
      expect(error.message).toContain("allowed_user_ids: nobody: not a member of the organization.")
    }
    const later = { ...stranger, allow_unknown: true }
    const changed = await expectJson<One>(200, workspace.manage.patch(`/byok/${made.id}`, later))
    expect(changed.data["allowed_user_ids"]).toEqual([member.id, "nobody"])
  })

  test("are created, returned without their key, changed and deleted", async () => {
    const workspace = await newWorkspace()
    const made = await add(workspace, { name: "Ours", allowed_models: ["openai/*"] })
    expect(made).toEqual({
      id: expect.any(String),
      workspace_id: workspace.workspaceId,
      name: "Ours",
      label: "sk-...ghij",
      provider: "openai",
      disabled: false,
      is_byok_only: false,
      is_fallback: false,
      is_required: false,
      declared_zdr: null,
      declared_region: null,
      sort_order: 0,
      allowed_api_key_hashes: null,
      allowed_models: ["openai/*"],
      allowed_user_ids: null,
      created_at: expect.any(String),
    })
    expect(await expectJson(200, workspace.manage.get(`/byok/${made.id}`))).toEqual({ data: made })
    const change = {
      name: null,
      disabled: true,
      allowed_models: null,
      declared_zdr: true,
      declared_region: "europe",
      key: "new-key-9876543210-zyxwvut",
    }
    const changed = await expectJson<One>(200, workspace.manage.patch(`/byok/${made.id}`, change))
    expect(changed.data).toEqual({
      ...made,
      name: null,
      disabled: true,
      allowed_models: null,
      declared_zdr: true,
      declared_region: "europe",
      label: "new...wvut",
    })
    expect(await expectJson(200, workspace.manage.delete(`/byok/${made.id}`))).toEqual({ deleted: true })
    for (const method of ["GET", "DELETE"]) await expectJson(404, workspace.manage.call(method, `/byok/${made.id}`))
    await expectJson(404, workspace.manage.patch(`/byok/${made.id}`, { name: "x" }))
  })

  test("are never both the only key and a fallback after two changes at the same time", async () => {
    const { manage, organizationId } = await newWorkspace()
    const { id } = (await expectJson<One>(201, manage.post("/byok", { provider: "openai", key: KEY }))).data
    const actor = { organizationId, keyHash: "", label: "", creatorUserId: null, ip: null, userAgent: null }
    const update = (change: ByokChange) => {
      const event = { action: "byok_credential.update", resourceId: id, workspaceId: null } as const
      const entry = newEntry({ ...actor, requestId: "r", at: Date.now() }, event)
      return updateByok(env.DB, { organizationId, id, change, now: Date.now(), entry })
    }
    // Each of two requests has read the credential before the other one changed it.
    expect(await update({ isByokOnly: true })).toMatchObject({ isByokOnly: true })
    expect(await update({ isFallback: true })).toBeUndefined()
    expect(await update({ isByokOnly: false, isFallback: true })).toMatchObject({ isFallback: true })
    expect(await update({ isByokOnly: true })).toBeUndefined()
  })

  test("are listed by page and by provider, newest first", async () => {
    const workspace = await newWorkspace()
    const made = [await add(workspace), await add(workspace), await add(workspace, { provider: "anthropic" })]
    expect(made.map(({ sort_order: order }) => order)).toEqual([0, 1, 0])
    const all = await expectJson<Many>(200, workspace.manage.get("/byok"))
    expect(all.total_count).toBe(3)
    expect(all.data.map(({ id }) => id).toSorted()).toEqual(made.map(({ id }) => id).toSorted())
    const page = await expectJson<Many>(200, workspace.manage.get("/byok?limit=1&offset=1"))
    expect(page).toEqual({ data: [all.data[1]], total_count: 3 })
    const some = await expectJson<Many>(200, workspace.manage.get("/byok?provider=anthropic"))
    expect(some).toEqual({ data: [made[2]], total_count: 1 })
    await expectJson(400, workspace.manage.get("/byok?provider=nobody"))
    await expectJson(400, workspace.manage.get("/byok?limit=101"))
    await expectJson(400, workspace.manage.get("/byok?workspace_id=x"))
  })

  test("of another organization are not found", async () => {
    const [mine, theirs] = [await newWorkspace(), await newWorkspace()]
    const { id } = await add(mine)
    for (const method of ["GET", "DELETE"]) await expectJson(404, theirs.manage.call(method, `/byok/${id}`))
    await expectJson(404, theirs.manage.patch(`/byok/${id}`, { disabled: true }))
    await expectJson(404, theirs.manage.get(`/byok?workspace_id=${mine.workspaceId}`))
    await expectJson(404, theirs.manage.post("/byok", { provider: "openai", key: KEY, workspace_id: mine.workspaceId }))
    expect(await expectJson<Many>(200, theirs.manage.get("/byok"))).toEqual({ data: [], total_count: 0 })
  })

  test("need a management key", async () => {
    const workspace = await newWorkspace()
    await expectJson(403, workspace.as.get("/byok"))
    await expectJson(403, workspace.as.post("/byok", { provider: "openai", key: KEY }))
  })

  test.each([
    ["without a provider", { key: KEY }],
    ["for an unknown provider", { provider: "nobody", key: KEY }],
    ["without a key", { provider: "openai" }],
    ["with an empty key", { provider: "openai", key: "  " }],
    ["with a key of two lines", { provider: "openai", key: "a\nb" }],
    ["with both byok_only and fallback", { provider: "openai", key: KEY, is_byok_only: true, is_fallback: true }],
    ["for no API key at all", { provider: "openai", key: KEY, allowed_api_key_hashes: [] }],
    ["for a foreign API key", { provider: "openai", key: KEY, allowed_api_key_hashes: ["a".repeat(64)] }],
    ["with an unknown field", { provider: "openai", key: KEY, secret: "x" }],
  ])("are rejected %s", async (_, input) => {
    const workspace = await newWorkspace()
    const { error } = await expectJson<{ error: { message: string } }>(400, workspace.manage.post("/byok", input))
    expect(error.message).not.toContain(KEY)
  })

  test("cannot be changed to both byok_only and fallback", async () => {
    const workspace = await newWorkspace()
    const { id } = await add(workspace, { is_fallback: true })
    await expectJson(400, workspace.manage.patch(`/byok/${id}`, { is_byok_only: true }))
    await expectJson(200, workspace.manage.patch(`/byok/${id}`, { is_byok_only: true, is_fallback: false }))
  })

  test("need a workspace", async () => {
    const workspace = await newWorkspace()
    await expectJson(200, workspace.manage.delete("/workspaces/default?confirm_default_workspace_deletion=true"))
    const { error } = await expectJson<{ error: { message: string } }>(400, workspace.manage.get("/byok"))
    expect(error.message).toContain("workspace_id")
    await expectJson(400, workspace.manage.post("/byok", { provider: "openai", key: KEY }))
  })

  test("are in the audit log without their keys", async () => {
    const workspace = await newWorkspace()
    const { hash } = await newKey(workspace)
    const { id } = await add(workspace, { allowed_api_key_hashes: [hash] })
    await expectJson(200, workspace.manage.patch(`/byok/${id}`, { key: `${KEY}-2`, is_required: true }))
    await expectJson(200, workspace.manage.delete(`/byok/${id}`))
    type Log = { data: { action: string; changed_fields: string[]; changes: unknown }[] }
    const { data } = await expectJson<Log>(200, workspace.manage.get(`/audit?resource_id=${id}`))
    expect(data.map(({ action }) => action)).toEqual([
      "byok_credential.delete",
      "byok_credential.update",
      "byok_credential.create",
    ])
    expect(data[1]).toMatchObject({ changed_fields: ["is_required", "key"], changes: { is_required: true } })
    const keys = await expectJson<Log>(200, workspace.manage.get(`/audit?action=data_key.create`))
    expect(keys.data).toHaveLength(1)
    expect(JSON.stringify(data)).not.toContain(KEY)
  })
})

describe("the data key of a workspace", () => {
  test("is created once by concurrent requests", async () => {
    const workspace = await newWorkspace()
    await Promise.all(Array.from({ length: 8 }, () => add(workspace)))
    const { results } = await env.DB.prepare("SELECT * FROM data_keys WHERE workspace_id = ?")
      .bind(workspace.workspaceId)
      .all()
    expect(results).toHaveLength(1)
  })

  test("is deleted with its workspace, and so are the keys that it seals", async () => {
    const workspace = await newWorkspace()
    type Made = { data: { id: string } }
    const { data } = await expectJson<Made>(201, workspace.manage.post("/workspaces", { name: "Team", slug: "team" }))
    const { id } = await add(workspace, { workspace_id: data.id })
    await expectJson(200, workspace.manage.delete(`/workspaces/${data.id}`))
    const keys = await env.DB.prepare("SELECT * FROM data_keys WHERE workspace_id = ?").bind(data.id).all()
    const sealed = await env.DB.prepare("SELECT sealed FROM byok_credentials WHERE id = ?").bind(id).first("sealed")
    expect([keys.results, sealed]).toEqual([[], ""])
    await expectJson(404, workspace.manage.get(`/byok/${id}`))
  })
})

describe("rotation of the master key", () => {
  const OTHER = btoa(String.fromCharCode(...new Uint8Array(32).fill(9)))
  const rotate = async (current: string, previous: string) => {
    const init = {
      method: "POST",
      headers: { authorization: `Bearer ${BOOTSTRAP}`, "content-type": "application/json" },
      body: JSON.stringify({ limit: 100 }),
    }
    const turned = { ...env, MASTER_KEY: current, MASTER_KEY_PREVIOUS: previous }
    const answer = app.fetch(
      new Request("http://gateway.test/api/v1/secrets/rotate", init),
      turned,
      createExecutionContext(),
    )
    type Turned = { data: { rewrapped: number; remaining: number; unreadable: number } }
    return (await expectJson<Turned>(200, answer)).data
  }

  test("rewraps every data key and leaves the sealed secrets unchanged", async () => {
    const workspace = await newWorkspace()
    const { id } = await add(workspace)
    const read = () =>
      env.DB.prepare(
        `SELECT b.sealed, d.wrapped, d.master_id FROM byok_credentials b JOIN data_keys d ON d.id = b.workspace_id WHERE b.id = ?`,
      )
        .bind(id)
        .first<{ sealed: string; wrapped: string; master_id: string }>()
    const before = await read()
    const scoped = env.MASTER_KEY ?? ""
    for (;;) if ((await rotate(OTHER, scoped)).remaining === 0) break
    const there = await read()
    expect(there?.sealed).toBe(before?.sealed)
    expect(there?.wrapped).not.toBe(before?.wrapped)
    expect(await rotate(OTHER, scoped)).toMatchObject({ rewrapped: 0, remaining: 0 })
    for (;;) if ((await rotate(scoped, OTHER)).remaining === 0) break
    expect((await read())?.master_id).toBe(before?.master_id)
  })

  test("needs the bootstrap key", async () => {
    const workspace = await newWorkspace()
    await expectJson(403, workspace.manage.post("/secrets/rotate", {}))
    expect(await expectJson(200, operatorClient.post("/secrets/rotate", {}))).toMatchObject({
      data: { rewrapped: 0, remaining: 0 },
    })
  })
})
