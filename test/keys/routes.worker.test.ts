import { env } from "cloudflare:workers"
import { afterEach, describe, expect, test, vi } from "vitest"
import { KEY_CACHE_MS } from "../../src/access/key-cache.ts"
import { ApiKey, CurrentKey } from "../../src/keys/schemas.ts"
import { requestedWorkspace } from "../../src/workspaces/requested.ts"
import { client, newKey, newWorkspace, operatorClient, expectJson } from "../support/world.ts"
import { eventually } from "../support/eventually.ts"
import { policyEntry } from "../support/policy-writes.ts"

type Record_ = { data: { hash: string; name: string; limit: number | null; label: string } }

afterEach(() => vi.useRealTimers())

describe("a key's secret", () => {
  test("is returned once, and stored nowhere", async () => {
    const workspace = await newWorkspace()
    const { key, hash } = await newKey(workspace, { name: "once" })
    expect(key).toMatch(/^sk-gw-v1-[\w-]{43}$/)
    const listed = await (await workspace.manage.get("/keys")).text()
    expect(listed).toContain(hash)
    expect(listed).not.toContain(key)
    const rows = await env.DB.prepare("SELECT * FROM api_keys").all()
    expect(JSON.stringify(rows.results)).not.toContain(key)
  })

  test("is masked in its label", async () => {
    const { key, as } = await newKey(await newWorkspace())
    const { data } = await expectJson<Record_>(200, as.get("/key"))
    expect(data.label).toBe(`${key.slice(0, 12)}...${key.slice(-3)}`)
  })
})

describe("an invalid key gets the same 401", () => {
  test.each(["unknown", "disabled", "deleted", "expired"])("%s", async (kind) => {
    const workspace = await newWorkspace()
    const soon = new Date(Date.now() + 60_000).toISOString()
    const { as, hash } = await newKey(workspace, kind === "expired" ? { expires_at: soon } : {})
    if (kind === "disabled") await expectJson(200, workspace.manage.patch(`/keys/${hash}`, { disabled: true }))
    if (kind === "deleted") await expectJson(200, workspace.manage.delete(`/keys/${hash}`))
    if (kind === "expired") vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 120_000 })
    const requests = kind === "unknown" ? client("sk-gw-v1-unknown") : as
    const answer = await requests.get("/key")
    expect(answer.status).toBe(401)
    expect(await answer.json()).toEqual({ error: { code: 401, message: "This API key is not valid." } })
  })

  test.each(["Basic abc", "Bearer", "Bearer a b", "sk-gw-v1-x"])(
    "Authorization: %s is rejected",
    async (authorization) => {
      await expectJson(401, client().get("/key", { authorization }))
    },
  )
})

describe("a key change by another isolate", () => {
  test(`takes effect within ${KEY_CACHE_MS} ms`, async () => {
    vi.useFakeTimers({ toFake: ["Date"] })
    const workspace = await newWorkspace()
    const { as, hash } = await newKey(workspace)
    await expectJson(200, as.get("/key"))
    const disable = env.DB.prepare("UPDATE api_keys SET disabled = 1 WHERE hash = ?").bind(hash)
    await env.DB.batch([disable, policyEntry(workspace.organizationId)])
    vi.setSystemTime(Date.now() + KEY_CACHE_MS)
    await expectJson(401, as.get("/key"))
  })
})

describe("GET /key", () => {
  test("returns all fields", async () => {
    const { as } = await newKey(await newWorkspace(), { limit: 2.5, limit_reset: "monthly" })
    const { data } = await expectJson<{ data: unknown }>(200, as.get("/key"))
    expect(CurrentKey.strict().parse(data)).toMatchObject({
      limit: 2.5,
      limit_remaining: 2.5,
      limit_reset: "monthly",
      usage: 0,
      is_management_key: false,
      is_provisioning_key: false,
      is_free_tier: false,
    })
  })

  test("returns usage in every window", async () => {
    const { as } = await newKey(await newWorkspace(), { limit: 1 })
    await expectJson(200, as.chat("sim/echo", "Say it again and again.."))
    const { data } = await expectJson<{ data: unknown }>(200, as.get("/key"))
    const cost = 0.000022
    expect(data).toMatchObject({
      usage: cost,
      usage_daily: cost,
      usage_weekly: cost,
      usage_monthly: cost,
      limit_remaining: 1 - cost,
      byok_usage: 0,
    })
  })
})

describe("the last use of a key", () => {
  test("is null before its first call, and then the end of its latest one", async () => {
    const workspace = await newWorkspace()
    const { as, hash } = await newKey(workspace)
    const lastUse = async () =>
      (await expectJson<{ data: { last_used_at: string | null } }>(200, workspace.manage.get(`/keys/${hash}`))).data
        .last_used_at
    expect(await lastUse()).toBeNull()
    const before = Date.now()
    await expectJson(200, as.chat("sim/echo", "Hi"))
    const first = await eventually(async () => {
      const at = await lastUse()
      if (at === null) throw new Error("The call is not recorded yet.")
      return at
    })
    expect(Date.parse(first)).toBeGreaterThanOrEqual(before)
    type Listed = { data: { hash: string; last_used_at: string | null }[] }
    const { data } = await expectJson<Listed>(200, workspace.manage.get("/keys"))
    expect(data.find((key) => key.hash === hash)?.last_used_at).toBe(first)
  })
})

describe("limits", () => {
  test("a key over its limit gets 402 with a hint, and works again after the limit is raised", async () => {
    const workspace = await newWorkspace()
    const { as, hash } = await newKey(workspace, { limit: 0 })
    const { error } = await expectJson<{ error: { message: string; metadata: object } }>(402, as.chat("sim/echo", "Hi"))
    expect(error.message).toContain("Raise the limit")
    expect(error.metadata).toEqual({ reason: "key_limit" })
    await expectJson(200, workspace.manage.patch(`/keys/${hash}`, { limit: 1 }))
    await expectJson(200, as.chat("sim/echo", "Hi"))
    await expectJson(200, workspace.manage.patch(`/keys/${hash}`, { limit: null }))
    await expectJson(200, as.chat("sim/echo", "Hi"))
  })

  test("an account without balance can call only free models", async () => {
    const workspace = await newWorkspace(0)
    await expectJson(402, workspace.as.chat("sim/echo", "Hi"))
    await expectJson(200, workspace.as.chat("sim/echo:free", "Hi"))
  })

  test("output is cut to what the limit covers", async () => {
    const { as, hash } = await newKey(await newWorkspace(), { limit: 0.0015 })
    const { choices } = await expectJson<{ choices: { finish_reason: string }[] }>(200, as.chat("sim/long", "Hi"))
    expect(choices[0]?.finish_reason).toBe("length")
    const { data } = await expectJson<{ data: { usage: number; limit_remaining: number } }>(200, as.get("/key"))
    expect(data.usage).toBeLessThanOrEqual(0.0015)
    expect(hash).toHaveLength(64)
  })

  test("a free-tier key can call only free models", async () => {
    const { as } = await newKey(await newWorkspace(), { kind: "free_tier" })
    await expectJson(200, as.chat("sim/echo:free", "Hi"))
    await expectJson(402, as.chat("sim/echo", "Hi"))
  })
})

describe("managing keys", () => {
  test("create, read, list, change, delete", async () => {
    const workspace = await newWorkspace()
    const made = await expectJson<{ data: unknown; key: string }>(
      201,
      workspace.manage.post("/keys", { name: "ci", limit: 5, limit_reset: "daily", include_byok_in_limit: true }),
    )
    const record = ApiKey.strict().parse(made.data)
    expect(record).toMatchObject({
      name: "ci",
      limit: 5,
      limit_reset: "daily",
      include_byok_in_limit: true,
      disabled: false,
    })
    expect(await expectJson(200, workspace.manage.get(`/keys/${record.hash}`))).toEqual({ data: record })
    const changed = await expectJson<{ data: object }>(
      200,
      workspace.manage.patch(`/keys/${record.hash}`, { name: "cd", disabled: true }),
    )
    expect(changed.data).toMatchObject({ name: "cd", disabled: true, limit: 5 })
    const enabled = await expectJson<{ data: { hash: string }[]; total_count: number }>(
      200,
      workspace.manage.get("/keys"),
    )
    expect(enabled.data.map((key) => key.hash)).not.toContain(record.hash)
    const all = await expectJson<{ data: { hash: string }[]; total_count: number }>(
      200,
      workspace.manage.get("/keys?include_disabled=true"),
    )
    expect(all.data[0]?.hash).toBe(record.hash)
    expect(all.total_count).toBe(3)
    expect(await expectJson(200, workspace.manage.delete(`/keys/${record.hash}`))).toEqual({ deleted: true })
    await expectJson(404, workspace.manage.get(`/keys/${record.hash}`))
  })

  test("returns 403 with a normal key and names the kinds that may", async () => {
    const workspace = await newWorkspace()
    const { error } = await expectJson<{ error: { message: string } }>(403, workspace.as.get("/keys"))
    expect(error.message).toBe("Only management and provisioning keys may perform this operation.")
  })

  test("returns 404 for a key of another organization", async () => {
    const [mine, theirs] = [await newWorkspace(), await newWorkspace()]
    const { hash } = await newKey(mine)
    await expectJson(404, theirs.manage.get(`/keys/${hash}`))
    await expectJson(404, theirs.manage.patch(`/keys/${hash}`, { disabled: true }))
    await expectJson(404, theirs.manage.delete(`/keys/${hash}`))
    await expectJson(404, theirs.manage.post("/keys", { name: "x", workspace_id: mine.workspaceId }))
    await expectJson(404, theirs.manage.get(`/keys?workspace_id=${mine.workspaceId}`))
  })

  test.each([
    [{}, "name"],
    [{ name: "x", limit: -1 }, "limit"],
    [{ name: "x", limit: "5" }, "limit"],
    [{ name: "x", limit_reset: "hourly" }, "limit_reset"],
    [{ name: "x", expires_at: "2026-12-01T00:00Z" }, "expires_at"],
    [{ name: "x", expires_at: "2020-01-01T00:00:00Z" }, "expires_at"],
    [{ name: "x", is_management_key: true }, "is_management_key"],
  ])("%j is rejected with a message that names %s", async (input, field) => {
    const { error } = await expectJson<{ error: { message: string } }>(
      400,
      (await newWorkspace()).manage.post("/keys", input),
    )
    expect(error.message).toContain(field)
  })
})

describe("a key created by another never exceeds it", () => {
  test("in kind", async () => {
    const workspace = await newWorkspace()
    const { as } = await newKey(workspace, { kind: "provisioning" })
    await expectJson(201, as.post("/keys", { name: "x" }))
    await expectJson(403, as.post("/keys", { name: "x", kind: "management" }))
    await expectJson(403, as.post("/keys", { name: "x", kind: "provisioning" }))
    const { hash } = await newKey(workspace, { kind: "management" })
    await expectJson(403, as.patch(`/keys/${hash}`, { disabled: true }))
    await expectJson(403, as.delete(`/keys/${hash}`))
    await expectJson(403, as.get("/credits"))
  })

  test("in limit", async () => {
    const { as } = await newKey(await newWorkspace(), { kind: "management", limit: 10 })
    await expectJson(403, as.post("/keys", { name: "x", limit: 11 }))
    await expectJson(403, as.post("/keys", { name: "x" }))
    const { data } = await expectJson<Record_>(201, as.post("/keys", { name: "x", limit: 10 }))
    await expectJson(403, as.patch(`/keys/${data.hash}`, { limit: 11 }))
    await expectJson(403, as.patch(`/keys/${data.hash}`, { limit: null }))
  })

  test("in the reset interval of the limit", async () => {
    const workspace = await newWorkspace()
    const { as, hash } = await newKey(workspace, { kind: "management", limit: 1, limit_reset: "monthly" })
    await expectJson(403, as.post("/keys", { name: "x", limit: 1, limit_reset: "daily" }))
    await expectJson(201, as.post("/keys", { name: "x", limit: 1, limit_reset: "monthly" }))
    await expectJson(201, as.post("/keys", { name: "x", limit: 1 }))
    await expectJson(403, as.patch(`/keys/${hash}`, { limit_reset: "daily" }))
    await expectJson(200, as.patch(`/keys/${hash}`, { name: "renamed" }))
    await expectJson(200, as.patch(`/keys/${hash}`, { limit_reset: null }))
  })

  test("in its expiry", async () => {
    const soon = new Date(Date.now() + 60_000).toISOString()
    const later = new Date(Date.now() + 120_000).toISOString()
    const { as } = await newKey(await newWorkspace(), { kind: "management", expires_at: soon })
    await expectJson(403, as.post("/keys", { name: "x", expires_at: later }))
    await expectJson(403, as.post("/keys", { name: "x" }))
    await expectJson(201, as.post("/keys", { name: "x", expires_at: soon }))
  })
})

test("a key supplied by the client works, must be random, and is not returned", async () => {
  const workspace = await newWorkspace()
  const scoped = `own-${crypto.randomUUID()}-${crypto.randomUUID()}`
  await expectJson(400, workspace.manage.post("/keys", { name: "x", external: { user: "u", api_key: "a".repeat(32) } }))
  const made = await (
    await workspace.manage.post("/keys", { name: "x", external: { user: "u", api_key: scoped } })
  ).text()
  expect(made).not.toContain(scoped)
  await expectJson(200, client(scoped).get("/key"))
  await expectJson(409, workspace.manage.post("/keys", { name: "y", external: { user: "u", api_key: scoped } }))
})

test("only the bootstrap key creates organizations", async () => {
  const workspace = await newWorkspace()
  await expectJson(403, workspace.manage.post("/organizations", { name: "x" }))
  await expectJson(201, operatorClient.post("/organizations", { name: "x" }))
})

test("without organizations, the bootstrap key gets a hint to create one", async () => {
  await expect(requestedWorkspace(env.DB, "", undefined)).rejects.toThrow("There is no organization yet")
})
