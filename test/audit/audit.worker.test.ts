import { env } from "cloudflare:workers"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { DENIALS_PER_MINUTE, DenialGate } from "../../src/audit/denials.ts"
import { type Actor, type AuditEntry, changesOf, newEntry } from "../../src/audit/entry.ts"
import { auditRetentionDays } from "../../src/audit/retention.ts"
import { AuditList, type AuditRecord } from "../../src/audit/schemas.ts"
import { auditStatement, insertAudit, pruneAudit } from "../../src/audit/store.ts"
import { deleteKey, insertKey, updateKey } from "../../src/keys/store.ts"
import { runSchedule } from "../../src/app/schedule.ts"
import { sha256Hex } from "../../src/support/text/encoding.ts"
import { newId } from "../../src/support/ids.ts"
import {
  BOOTSTRAP,
  client,
  newKey,
  newWorkspace,
  operatorClient,
  expectJson,
  type Workspace,
} from "../support/world.ts"
import type * as z from "zod"

type Entry = z.infer<typeof AuditRecord>

/** The log as its management key reads it, strictly parsed. */
async function auditOf(workspace: Workspace, query = ""): Promise<{ data: Entry[]; total_count: number }> {
  const list = await expectJson<unknown>(200, workspace.manage.get(`/audit${query}`))
  return AuditList.strict().parse(list)
}

const actionsOf = async (workspace: Workspace, query = "") =>
  (await auditOf(workspace, query)).data.map(({ action }) => action)

const actor = (organizationId: string, at = Date.now()): Actor => ({
  organizationId,
  keyHash: "0".repeat(64),
  label: "sk-...",
  creatorUserId: null,
  ip: null,
  userAgent: null,
  requestId: "req-test",
  at,
})

describe("the audit log", () => {
  test("records every write with its action, resource, actor and address", async () => {
    const workspace = await newWorkspace()
    const { workspaceId } = workspace
    const made = await workspace.manage.post(
      "/keys",
      { name: "ci", limit: 5 },
      { "cf-connecting-ip": "203.0.113.9", "user-agent": "x".repeat(300) },
    )
    const requestId = made.headers.get("x-request-id")
    const { data: key, key: secret } = await expectJson<{ data: { hash: string }; key: string }>(201, made)
    await expectJson(200, workspace.manage.patch(`/keys/${key.hash}`, { disabled: true, limit: null }))
    await expectJson(200, workspace.manage.delete(`/keys/${key.hash}`))
    await expectJson(200, workspace.manage.put(`/workspaces/${workspaceId}/budgets/daily`, { limit_usd: 3 }))
    await expectJson(200, workspace.manage.delete(`/workspaces/${workspaceId}/budgets/daily`))

    const { data, total_count: total } = await auditOf(workspace)
    expect(data.map(({ action }) => action)).toEqual([
      "workspace_budget.delete",
      "workspace_budget.set",
      "api_key.delete",
      "api_key.update",
      "api_key.create",
      "api_key.create",
      "api_key.create",
      "organization.create",
    ])
    expect(total).toBe(8)
    expect(data[4]).toMatchObject({
      resource_type: "api_key",
      resource_id: key.hash,
      workspace_id: workspaceId,
      key_label: expect.stringMatching(/^sk-gw-v1-/),
      creator_user_id: expect.any(String),
      ip_address: "203.0.113.9",
      user_agent: "x".repeat(256),
      request_id: requestId,
      changed_fields: ["name", "limit"],
      changes: { name: "ci", limit: 5 },
    })
    expect(data[3]?.changes).toEqual({ disabled: true, limit: null })
    expect(data[1]?.changes).toEqual({ limit_usd: 3 })
    const rows = await env.DB.prepare("SELECT * FROM audit_log").all()
    expect(JSON.stringify(rows.results)).not.toContain(secret)
  })

  test("never records a partner's external key", async () => {
    const workspace = await newWorkspace()
    const scoped = "partner-key-0123456789-abcdefghijklmnop"
    await expectJson(201, workspace.manage.post("/keys", { name: "p", external: { user: "u", api_key: scoped } }))
    const [entry] = (await auditOf(workspace, "?action=api_key.create")).data
    expect(entry?.changed_fields).toContain("external")
    expect(JSON.stringify(entry)).not.toContain(scoped)
  })

  test("records feedback, and changes of the catalogue by the operator", async () => {
    const workspace = await newWorkspace()
    const answer = await workspace.as.chat("sim/echo", "Hi")
    await answer.text()
    const id = answer.headers.get("x-generation-id")
    await expectJson(
      200,
      workspace.manage.post("/generation/feedback", { generation_id: id, category: "other", comment: "c" }),
    )
    const [entry] = (await auditOf(workspace)).data
    expect(entry).toMatchObject({
      action: "generation.feedback",
      resource_id: id,
      changed_fields: ["category", "comment"],
      changes: { category: "other" },
    })

    const pricing = { prompt: "0.000001", completion: "0.000002" }
    const endpoints = [{ provider: "played", upstream_id: "m0", pricing }]
    await expectJson(
      200,
      operatorClient.put("/catalogue", { models: [{ id: "acme/audited", name: "Audited", endpoints }] }),
    )
    const offer = { model: "acme/audited", provider: "played" }
    await expectJson(200, operatorClient.patch("/catalogue/endpoints", { ...offer, disabled: true }))
    await expectJson(
      404,
      operatorClient.patch("/catalogue/endpoints", { ...offer, provider: "nobody", disabled: true }),
    )
    const listed = await expectJson<{ data: Entry[] }>(
      200,
      operatorClient.get("/audit?key_hash=" + sha256Hex(BOOTSTRAP)),
    )
    const reported = listed.data.filter(({ action }) => action.startsWith("catalogue"))
    expect(reported.slice(0, 2)).toMatchObject([
      { action: "catalogue_endpoint.override", resource_id: "acme/audited played", changes: { disabled: true } },
      { action: "catalogue.put", key_label: "bootstrap", changes: { source: "operator", models: 1 } },
    ])
  })

  test("is visible only to the management keys of its organization", async () => {
    const [mine, theirs] = [await newWorkspace(), await newWorkspace()]
    const { hash } = await newKey(mine)
    expect(JSON.stringify(await auditOf(theirs))).not.toContain(hash)
    await expectJson(401, client().get("/audit"))
    await expectJson(403, mine.as.get("/audit"))
  })

  test("is filtered and paged", async () => {
    const workspace = await newWorkspace()
    const { hash } = await newKey(workspace)
    await expectJson(200, workspace.manage.patch(`/keys/${hash}`, { name: "new" }))
    expect(await actionsOf(workspace, "?action=api_key.update")).toEqual(["api_key.update"])
    expect(await actionsOf(workspace, "?resource_type=organization")).toEqual(["organization.create"])
    expect(await actionsOf(workspace, `?resource_id=${hash}`)).toEqual(["api_key.update", "api_key.create"])
    const { data: all } = await auditOf(workspace)
    const by = all[0]?.key_hash ?? ""
    expect(await actionsOf(workspace, `?key_hash=${by}`)).toEqual(["api_key.update", "api_key.create"])
    expect((await auditOf(workspace, `?workspace_id=${workspace.workspaceId}`)).total_count).toBe(4)
    const page = await auditOf(workspace, "?limit=2&offset=1")
    expect(page).toEqual({ data: all.slice(1, 3), total_count: 5 })
    const now = Date.now()
    const iso = (ms: number) => new Date(ms).toISOString()
    expect((await auditOf(workspace, `?from=${iso(now - 60_000)}&to=${iso(now + 60_000)}`)).total_count).toBe(5)
    expect((await auditOf(workspace, `?to=${iso(now - 60_000)}`)).total_count).toBe(0)
  })

  test.each(["limit=0", "limit=101", "offset=-1", "from=yesterday", "key_hash=abc", "workspace_id=x"])(
    "rejects %s with the parameter's name",
    async (query) => {
      const { manage } = await newWorkspace()
      const { error } = await expectJson<{ error: { message: string } }>(400, manage.get(`/audit?${query}`))
      expect(error.message).toContain(query.split("=")[0])
    },
  )
})

describe("an entry and its change", () => {
  const keyRow = (workspace: Workspace, hash: string) => ({
    hash,
    organizationId: workspace.organizationId,
    workspaceId: workspace.workspaceId,
    kind: "normal" as const,
    name: "before",
    label: "k",
    createdAt: 1,
  })
  const entryFor = ({ organizationId }: Workspace, hash: string): AuditEntry =>
    newEntry(actor(organizationId), { action: "api_key.update", resourceId: hash, workspaceId: null })

  test("are written both or not at all", async () => {
    const workspace = await newWorkspace()
    const [hash, other] = [newId(), newId()]
    const { organizationId } = workspace
    await insertKey(env.DB, keyRow(workspace, hash), entryFor(workspace, hash))
    const taken = entryFor(workspace, hash)
    await insertAudit(env.DB, taken)
    // An entry that cannot be written, since its id is taken.
    await expect(
      updateKey(env.DB, { organizationId, hash, change: { name: "after" }, now: 2, entry: taken }),
    ).rejects.toThrow("UNIQUE")
    await expect(deleteKey(env.DB, { organizationId, hash, mayBeLast: false, now: 2, entry: taken })).rejects.toThrow(
      "UNIQUE",
    )
    await expect(insertKey(env.DB, keyRow(workspace, other), taken)).rejects.toThrow("UNIQUE")
    const { results } = await env.DB.prepare("SELECT hash, name, deleted_at FROM api_keys WHERE hash IN (?, ?)")
      .bind(hash, other)
      .all()
    expect(results).toEqual([{ hash, name: "before", deleted_at: null }])
  })

  test("are not written if there is nothing to change", async () => {
    const workspace = await newWorkspace()
    const { organizationId, workspaceId } = workspace
    const before = await auditOf(workspace)
    const hash = newId()
    expect(
      await updateKey(env.DB, {
        organizationId,
        hash,
        change: { name: "x" },
        now: 1,
        entry: entryFor(workspace, hash),
      }),
    ).toBeUndefined()
    expect(
      await deleteKey(env.DB, { organizationId, hash, mayBeLast: false, now: 1, entry: entryFor(workspace, hash) }),
    ).toBe(false)
    await expectJson(200, workspace.manage.delete(`/workspaces/${workspaceId}/budgets/daily`))
    expect(await auditOf(workspace)).toEqual(before)
  })

  test("are written once for concurrent changes", async () => {
    const workspace = await newWorkspace()
    const { hash } = await newKey(workspace)
    const answers = await Promise.all(Array.from({ length: 8 }, () => workspace.manage.delete(`/keys/${hash}`)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(await actionsOf(workspace, "?action=api_key.delete")).toHaveLength(1)
  })
})

describe("a rejected request", () => {
  /** Rejections are written after the response. */
  const denials = async (workspace: Workspace, least: number) => {
    for (;;) {
      const { data } = await auditOf(workspace, "?action=denied")
      if (data.length >= least) return data
    }
  }

  test("is recorded with its method and route, without path parameters", async () => {
    const workspace = await newWorkspace()
    const provisioning = await newKey(workspace, { kind: "provisioning" })
    await expectJson(403, workspace.as.get("/keys/secret-in-a-path"))
    await expectJson(403, provisioning.as.get("/credits"))
    await expectJson(403, workspace.manage.put("/catalogue", { models: [] }))
    const data = await denials(workspace, 3)
    expect(data.map(({ resource_id: route }) => route).toSorted()).toEqual([
      "GET /api/v1/credits",
      "GET /api/v1/keys/:hash",
      "PUT /api/v1/catalogue",
    ])
    expect(data.every(({ resource_type: type }) => type === "route")).toBe(true)
    expect(data.map(({ key_hash: hash }) => hash)).toContain(provisioning.hash)
  })

  test("is recorded if a key requests more than it may do", async () => {
    const workspace = await newWorkspace()
    const provisioning = await newKey(workspace, { kind: "provisioning" })
    await expectJson(403, provisioning.as.post("/keys", { name: "Climber", kind: "management" }))
    const { data: keys } = await expectJson<{ data: { hash: string; name: string }[] }>(
      200,
      workspace.manage.get("/keys"),
    )
    const management = keys.find(({ name }) => name === "Management key")
    await expectJson(403, provisioning.as.delete(`/keys/${management?.hash}`))
    const data = await denials(workspace, 2)
    expect(data.map(({ resource_id: route }) => route).toSorted()).toEqual([
      "DELETE /api/v1/keys/:hash",
      "POST /api/v1/keys",
    ])
  })

  test("is recorded a limited number of times per key and minute", async () => {
    const workspace = await newWorkspace()
    await Promise.all(Array.from({ length: 4 * DENIALS_PER_MINUTE }, () => workspace.as.get("/credits")))
    const data = await denials(workspace, DENIALS_PER_MINUTE)
    // The minute may end in between.
    expect(data.length).toBeLessThanOrEqual(2 * DENIALS_PER_MINUTE)
  })

  test("is limited by key and by minute", () => {
    const gate = new DenialGate()
    const takes = (key: string, now: number) =>
      Array.from({ length: 2 * DENIALS_PER_MINUTE }, () => gate.take(key, now)).filter(Boolean).length
    expect(takes("a", 0)).toBe(DENIALS_PER_MINUTE)
    expect(takes("b", 59_999)).toBe(DENIALS_PER_MINUTE)
    expect(takes("a", 59_999)).toBe(0)
    expect(takes("a", 60_000)).toBe(DENIALS_PER_MINUTE)
  })
})

test("a value is recorded only for listed fields, and only up to 1,000 characters", () => {
  const input = fc.dictionary(fc.string(), fc.option(fc.oneof(fc.string({ maxLength: 3_000 }), fc.integer())))
  fc.assert(
    fc.property(input, fc.array(fc.string()), (body, reported) => {
      const { fields, values } = changesOf(body, reported)
      expect(fields).toEqual(Object.keys(body))
      for (const [name, value] of Object.entries(values)) {
        expect(reported).toContain(name)
        expect(JSON.stringify(value).length).toBeLessThanOrEqual(1_000)
      }
    }),
  )
})

describe("expired entries", () => {
  const YEAR_2000 = Date.UTC(2000, 0, 1)
  const DAY_MS = 86_400_000

  test("are deleted by day, in batches, and the others stay", async () => {
    const workspace = await newWorkspace()
    const at = (ms: number) =>
      newEntry(actor(workspace.organizationId, ms), { action: "test.age", resourceId: "x", workspaceId: null })
    const old = Array.from({ length: 1_200 }, (_, index) => at(YEAR_2000 + index))
    await env.DB.batch([...old, at(YEAR_2000 + 10 * DAY_MS)].map((entry) => auditStatement(env.DB, entry)))
    expect(await pruneAudit(env.DB, YEAR_2000 + 12 * DAY_MS, 5)).toBe(1_200)
    expect((await auditOf(workspace, "?action=test.age")).total_count).toBe(1)
    await runSchedule("0 2 * * *", env, YEAR_2000 + 500 * DAY_MS)
    expect((await auditOf(workspace, "?action=test.age")).total_count).toBe(0)
    expect((await auditOf(workspace)).total_count).toBe(3)
  })

  test("are kept a year, or for AUDIT_RETENTION_DAYS", () => {
    const days = (text?: string) => auditRetentionDays({ AUDIT_RETENTION_DAYS: text } as never)
    expect([days(), days("30"), days("0"), days("soon"), days("1.5")]).toEqual([365, 30, 365, 365, 365])
  })
})
