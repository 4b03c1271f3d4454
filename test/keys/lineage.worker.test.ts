import { env } from "cloudflare:workers"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { newKey as newSecret } from "../../src/access/key.ts"
import { apiKeys, type NewKeyRow } from "../../src/keys/table.ts"
import { openDb } from "../../src/support/db.ts"
import { openInternKey } from "../../src/interns/access/intern-key.ts"
import { good } from "../support/mock-provider.ts"
import {
  type TestClient,
  client,
  newKey,
  newMember,
  newWorkspace,
  operatorClient,
  expectJson,
  type Workspace,
} from "../support/world.ts"
import { runs } from "../support/runs.ts"
import { watchPolicyWrites } from "../support/policy-writes.ts"

watchPolicyWrites()

/** The cost of a call of played/flat for any text. */
const CENT = 10_000_000
const spend = (as: TestClient) => as.chat("played/flat", "Hi", { play: good("Hello there") })
const statusesOf = (answers: Promise<Response>[]) =>
  Promise.all(
    answers.map(async (answer) => {
      const response = await answer
      await response.text()
      return response.status
    }),
  )

async function appKeyOf(workspace: Workspace, as: TestClient, more: object = {}) {
  const requests = { callback_url: "https://app.example/back", ...more }
  const { data } = await expectJson<{ data: { id: string } }>(200, as.post("/auth/keys/code", requests))
  const { key } = await expectJson<{ key: string }>(200, client().post("/auth/keys", { code: data.id }))
  const { data: keys } = await expectJson<{ data: { hash: string; label: string; source: string }[] }>(
    200,
    workspace.manage.get("/keys?include_disabled=true"),
  )
  const row = keys.find(({ source, label }) => source === "app" && label.endsWith(key.slice(-3)))
  return { as: client(key), hash: row?.hash ?? "" }
}

async function internKeyOf(workspace: Workspace, as: TestClient, name: string) {
  const { id } = await expectJson<{ id: string }>(201, as.post("/interns", { name }))
  const { key } = await openInternKey(env, workspace, id)
  return { as: client(key), id }
}

describe("a tree of keys", () => {
  type Node = { parent: number; limitCents: number | null; kind: "normal" | "provisioning" }
  const node = fc.record({
    parent: fc.nat(20),
    limitCents: fc.option(fc.nat(6), { nil: null, freq: 3 }),
    kind: fc.constantFrom("normal", "normal", "normal", "provisioning"),
  }) as fc.Arbitrary<Node>
  const step = fc.oneof(
    { weight: 4, arbitrary: fc.record({ spend: fc.array(fc.nat(20), { minLength: 1, maxLength: 8 }) }) },
    { weight: 1, arbitrary: fc.record({ revoke: fc.nat(20), how: fc.constantFrom("disable", "delete") }) },
    { weight: 1, arbitrary: fc.record({ limit: fc.nat(20), cents: fc.option(fc.nat(8), { nil: null }) }) },
  )

  test("stays within the limit of every ancestor, and keys below a revoked one get 401", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(node, { minLength: 2, maxLength: 9 }),
        fc.array(step, { minLength: 1, maxLength: 8 }),
        async (nodes, steps) => {
          const workspace = await newWorkspace()
          const keys = nodes.map((one, at) => ({ ...one, ...newSecret(), served: 0, isRevoked: false, at }))
          const parentOf = ({ at, parent }: { at: number; parent: number }) =>
            at === 0 ? undefined : keys[parent % at]
          for (const key of keys) {
            await openDb(env.DB)
              .insert(apiKeys)
              .values(rowOf(workspace, key, parentOf(key)?.hash ?? null))
          }
          const isBelow = (key: (typeof keys)[number], above: (typeof keys)[number]): boolean => {
            const parent = parentOf(key)
            return key === above || (parent !== undefined && isBelow(parent, above))
          }
          const isInvalid = (key: (typeof keys)[number]) =>
            keys.some((one) => one.isRevoked && isBelow(key, one) && (one === key || one.kind === "normal"))
          for (const one of steps) {
            if ("spend" in one) {
              const callers = one.spend.map((at) => keys[at % keys.length] as (typeof keys)[number])
              const dead = callers.map(isInvalid)
              const statuses = await statusesOf(callers.map(({ secret }) => spend(client(secret))))
              for (const [at, status] of statuses.entries()) {
                if (dead[at]) expect(status).toBe(401)
                else expect([200, 402]).toContain(status)
                if (status === 200 && callers[at]) callers[at].served += 1
              }
            } else if ("revoke" in one) {
              const key = keys[one.revoke % keys.length] as (typeof keys)[number]
              const path = `/keys/${key.hash}`
              const done =
                one.how === "delete" ? workspace.manage.delete(path) : workspace.manage.patch(path, { disabled: true })
              expect([200, 404]).toContain((await done).status)
              key.isRevoked = true
            } else {
              const key = keys[one.limit % keys.length] as (typeof keys)[number]
              const limit = one.cents === null ? null : one.cents / 100
              const { status } = await workspace.manage.patch(`/keys/${key.hash}`, { limit })
              const spent = keys.filter((other) => isBelow(other, key)).reduce((sum, { served }) => sum + served, 0)
              // A limit below the amount already spent allows no more calls.
              if (status === 200) key.limitCents = one.cents === null ? null : Math.max(one.cents, spent)
            }
            const subtree = keys.map((key) => keys.filter((other) => isBelow(other, key)))
            const used = await workspace.ledger.usage(keys.map(({ hash }) => hash))
            for (const [at, key] of keys.entries()) {
              const served = (subtree[at] ?? []).reduce((sum, other) => sum + other.served, 0)
              expect(used[at]?.total.spent).toBe(served * CENT)
              if (key.limitCents !== null) expect(served).toBeLessThanOrEqual(key.limitCents)
            }
          }
          const body = { organization_id: workspace.organizationId }
          const { data } = await expectJson<{ data: { drifts: unknown[] }[] }>(
            200,
            operatorClient.post("/reconciliations", body),
          )
          expect(data[0]?.drifts).toEqual([])
        },
      ),
      { numRuns: runs(0.4) },
    )
  })

  function rowOf(
    { organizationId, workspaceId }: Workspace,
    key: Node & { hash: string; label: string },
    parent: string | null,
  ): NewKeyRow {
    return {
      hash: key.hash,
      organizationId,
      workspaceId,
      kind: key.kind,
      name: "node",
      label: key.label,
      limitNano: key.limitCents === null ? null : key.limitCents * CENT,
      createdAt: Date.now(),
      parentHash: parent,
    }
  }
})

describe("a key created by an app or intern of a key", () => {
  test("shares its limit: three interns and an app of a key with 2 cents spend 2 cents", async () => {
    const workspace = await newWorkspace()
    const { as, hash } = await newKey(workspace, { limit: 0.02 })
    const children = await Promise.all([
      ...["ada", "bob", "cleo"].map((name) => internKeyOf(workspace, as, name)),
      appKeyOf(workspace, as),
    ])
    const clients = [as, ...children.map((child) => child.as)]
    const statuses = await statusesOf([...clients, ...clients].map(spend))
    expect(statuses.filter((status) => status === 200)).toHaveLength(2)
    expect(statuses.filter((status) => status === 402)).toHaveLength(8)
    const [first = as] = children.map((child) => child.as)
    const { error } = await expectJson<{ error: { message: string } }>(402, spend(first))
    expect(error.message).toContain("which created this key")
    type Current = { data: { limit: number | null; limit_remaining: number | null } }
    const { data } = await expectJson<Current>(200, first.get("/key"))
    expect(data).toMatchObject({ limit: null, limit_remaining: 0 })
    const listed = await expectJson<{ data: { usage: number } }>(200, workspace.manage.get(`/keys/${hash}`))
    expect(listed.data.usage).toBe(0.02)
  })

  test("is subject to its guardrails, also when they are assigned, changed or removed later", async () => {
    const workspace = await newWorkspace()
    const { as, hash } = await newKey(workspace)
    const [app, intern] = [await appKeyOf(workspace, as), await internKeyOf(workspace, as, "ada")]
    for (const child of [app, intern]) await expectJson(200, child.as.chat("sim/echo", "Hi"))
    type Made = { data: { id: string } }
    const rules = { name: "Tight", allowed_models: ["sim/paced"] }
    const { data } = await expectJson<Made>(201, workspace.manage.post("/guardrails", rules))
    const assign = `/guardrails/${data.id}/assignments/keys`
    await expectJson(200, workspace.manage.post(assign, { key_hashes: [hash] }))
    for (const child of [app, intern]) {
      const { error } = await expectJson<{ error: { message: string } }>(403, child.as.chat("sim/echo", "Hi"))
      expect(error.message).toContain("Tight")
    }
    await expectJson(200, workspace.manage.patch(`/guardrails/${data.id}`, { allowed_models: ["sim/echo"] }))
    for (const child of [app, intern]) await expectJson(200, child.as.chat("sim/echo", "Hi"))
    await expectJson(200, workspace.manage.post(`${assign}/remove`, { key_hashes: [hash] }))
    for (const child of [app, intern]) await expectJson(200, child.as.chat("sim/paced", "Hi"))
  })

  test("counts in the budget of its guardrail", async () => {
    const workspace = await newWorkspace()
    const { as, hash } = await newKey(workspace)
    const app = await appKeyOf(workspace, as)
    type Made = { data: { id: string } }
    const rules = { name: "Cents", limit_usd: 0.03, reset_interval: "monthly" }
    const { data } = await expectJson<Made>(201, workspace.manage.post("/guardrails", rules))
    await expectJson(200, workspace.manage.post(`/guardrails/${data.id}/assignments/keys`, { key_hashes: [hash] }))
    const statuses = await statusesOf([as, app.as, app.as, as, app.as].map(spend))
    expect(statuses.filter((status) => status === 200)).toHaveLength(3)
    expect(statuses.filter((status) => status === 403)).toHaveLength(2)
  })

  test.each(["disabled", "deleted", "expired"])("gets 401 when the creating key is %s", async (how) => {
    const workspace = await newWorkspace()
    const expires = how === "expired" ? { expires_at: new Date(Date.now() + 60_000).toISOString() } : {}
    const { as, hash } = await newKey(workspace, expires)
    const [app, intern] = [await appKeyOf(workspace, as), await internKeyOf(workspace, as, "ada")]
    const under = await internKeyOf(workspace, app.as, "bob")
    for (const child of [app, intern, under]) await expectJson(200, child.as.get("/key"))
    if (how === "disabled") await expectJson(200, workspace.manage.patch(`/keys/${hash}`, { disabled: true }))
    if (how === "deleted") {
      expect(await expectJson(200, workspace.manage.delete(`/keys/${hash}`))).toEqual({
        deleted: true,
        revoked_keys: 3,
      })
    }
    if (how === "expired") {
      await env.DB.prepare("UPDATE api_keys SET expires_at = ? WHERE hash = ?")
        .bind(Date.now() - 1, hash)
        .run()
      // The isolate may use its cache for five seconds.
      await expectJson(200, workspace.manage.patch(`/keys/${hash}`, { name: "expired" }))
    }
    for (const child of [app, intern, under]) await expectJson(401, child.as.get("/key"))
    if (how === "disabled") {
      await expectJson(200, workspace.manage.patch(`/keys/${hash}`, { disabled: false }))
      for (const child of [app, intern, under]) await expectJson(200, child.as.get("/key"))
    }
  })

  test("cannot approve an app", async () => {
    const workspace = await newWorkspace()
    const [app, intern] = [await appKeyOf(workspace, workspace.as), await internKeyOf(workspace, workspace.as, "ada")]
    for (const child of [app, intern]) {
      await expectJson(403, child.as.post("/auth/keys/code", { callback_url: "https://app.example/back" }))
    }
  })
})

describe("a key created by a provisioning key", () => {
  const provisioning = async (workspace: Workspace, more: object = {}) =>
    newKey(workspace, { kind: "provisioning", ...more })
  const mint = async (as: TestClient, more: object = {}) => {
    const made = await expectJson<{ key: string; data: { hash: string } }>(
      201,
      as.post("/keys", { name: "child", ...more }),
    )
    return { as: client(made.key), hash: made.data.hash }
  }

  test("spends within the creator's limit, also after the creator is deleted", async () => {
    const workspace = await newWorkspace()
    const { as, hash } = await provisioning(workspace, { limit: 0.03 })
    const children = [await mint(as, { limit: 0.03 }), await mint(as, { limit: 0.02 })]
    const clients = children.map((child) => child.as)
    expect(await statusesOf([spend(clients[0] as TestClient)])).toEqual([200])
    expect(await expectJson(200, workspace.manage.delete(`/keys/${hash}`))).toEqual({
      deleted: true,
      surviving_keys: 2,
    })
    const statuses = await statusesOf([...clients, ...clients, ...clients].map(spend))
    expect(statuses.filter((status) => status === 200)).toHaveLength(2)
    expect(statuses.filter((status) => status === 402)).toHaveLength(4)
  })

  test("is subject to the guardrails of the creator and of the creator's member", async () => {
    const workspace = await newWorkspace()
    const [ada, bob] = [await newMember(workspace, "ada"), await newMember(workspace, "bob")]
    const { as, hash } = await provisioning(workspace, { creator_user_id: ada })
    const guardrail = async (name: string, model: string) => {
      const rules = { name, ignored_models: [model] }
      const { data } = await expectJson<{ data: { id: string } }>(201, workspace.manage.post("/guardrails", rules))
      return data.id
    }
    const [ofKey, ofAda] = [await guardrail("Of the key", "sim/echo"), await guardrail("Of Ada", "sim/paced")]
    await expectJson(200, workspace.manage.post(`/guardrails/${ofKey}/assignments/keys`, { key_hashes: [hash] }))
    await expectJson(200, workspace.manage.post(`/guardrails/${ofAda}/assignments/members`, { member_user_ids: [ada] }))
    for (const more of [{}, { creator_user_id: bob }]) {
      const child = await mint(as, more)
      await expectJson(403, child.as.chat("sim/echo", "Hi"))
      await expectJson(403, child.as.chat("sim/paced", "Hi"))
      await expectJson(200, child.as.chat("sim/long", "Hi", { max_tokens: 16 }))
    }
  })

  test("can get a higher limit from its creator, which can only lower limits of other keys", async () => {
    const workspace = await newWorkspace()
    const { as } = await provisioning(workspace, { limit: 5 })
    const [scoped, other] = [await mint(as, { limit: 1 }), await newKey(workspace, { limit: 1 })]
    await expectJson(200, as.patch(`/keys/${scoped.hash}`, { limit: 4 }))
    await expectJson(403, as.patch(`/keys/${scoped.hash}`, { limit: 6 }))
    await expectJson(403, as.patch(`/keys/${other.hash}`, { limit: 4 }))
    await expectJson(200, as.patch(`/keys/${other.hash}`, { limit: 0.5 }))
  })

  test("can be enabled by its creator unless a management key disabled it", async () => {
    const workspace = await newWorkspace()
    const { as } = await provisioning(workspace)
    const child = await mint(as)
    const path = `/keys/${child.hash}`
    await expectJson(200, as.patch(path, { disabled: true }))
    await expectJson(200, as.patch(path, { disabled: false }))
    await expectJson(200, workspace.manage.patch(path, { disabled: true }))
    await expectJson(200, as.patch(path, { disabled: true }))
    await expectJson(403, as.patch(path, { disabled: false }))
    await expectJson(401, child.as.get("/key"))
    await expectJson(200, workspace.manage.patch(path, { disabled: false }))
    await expectJson(200, child.as.get("/key"))
  })
})

describe("a management key", () => {
  test("creates keys only for members", async () => {
    const workspace = await newWorkspace()
    const { error } = await expectJson<{ error: { message: string } }>(
      400,
      workspace.manage.post("/keys", { name: "x", creator_user_id: "nobody" }),
    )
    expect(error.message).toContain("creator_user_id")
  })

  test("cannot be deleted or disabled if it is the last one, also with concurrent requests", async () => {
    const workspace = await newWorkspace()
    const hash = await hashOf(workspace)
    const { error } = await expectJson<{ error: { message: string } }>(409, workspace.manage.delete(`/keys/${hash}`))
    expect(error.message).toContain("Create another one")
    await expectJson(409, workspace.manage.patch(`/keys/${hash}`, { disabled: true }))
    const soon = new Date(Date.now() + 60_000).toISOString()
    await newKey(workspace, { kind: "management", expires_at: soon })
    await expectJson(409, workspace.manage.delete(`/keys/${hash}`))
    const second = await newKey(workspace, { kind: "management" })
    const answers = [second.as.delete(`/keys/${hash}`), workspace.manage.delete(`/keys/${second.hash}`)]
    const statuses = await statusesOf(answers)
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
  })

  async function hashOf(workspace: Workspace): Promise<string> {
    const { data } = await expectJson<{ data: { hash: string; kind: string }[] }>(200, workspace.manage.get("/keys"))
    return data.find(({ kind }) => kind === "management")?.hash ?? ""
  }

  test("leaves the keys that it created working when it is deleted", async () => {
    const workspace = await newWorkspace()
    const old = await newKey(workspace, { kind: "management" })
    const made = await expectJson<{ key: string }>(201, old.as.post("/keys", { name: "child" }))
    expect(await expectJson(200, workspace.manage.delete(`/keys/${old.hash}`))).toEqual({ deleted: true })
    await expectJson(200, spend(client(made.key)))
  })
})

test("a video is accessible only to keys of its workspace", async () => {
  const workspace = await newWorkspace()
  const order = await expectJson<{ id: string }>(
    202,
    workspace.as.post("/videos", { model: "sim/video", prompt: "A cat" }),
  )
  type Team = { data: { id: string } }
  const { data } = await expectJson<Team>(201, workspace.manage.post("/workspaces", { name: "Team", slug: "team" }))
  const other = await newKey(workspace, { workspace_id: data.id })
  const same = await newKey(workspace)
  await expectJson(200, same.as.get(`/videos/${order.id}`))
  await expectJson(404, other.as.get(`/videos/${order.id}`))
  await expectJson(404, other.as.get(`/videos/${order.id}/content`))
})
