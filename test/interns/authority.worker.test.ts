import { env } from "cloudflare:workers"
import { describe, expect, test } from "vitest"
import { mayControl } from "../../src/interns/access/authority.ts"
import { newDaemonIntern, MockDaemon } from "../support/daemon.ts"
import { insertIntern } from "../support/interns.ts"
import { newKey, newWorkspace, expectJson, type Workspace } from "../support/world.ts"

type Failure = { error: { message: string; metadata?: { reason?: string; retryable?: boolean } } }
const FORBIDDEN = { reason: "forbidden", retryable: false }

async function refused(status: number, answer: Promise<Response>) {
  return (await expectJson<Failure>(status, answer)).error
}

/** A key created by another user, or by no user. */
async function foreignKey(workspace: Workspace, user: string | null, input: Record<string, unknown> = {}) {
  const made = await newKey(workspace, input)
  await env.DB.prepare("UPDATE api_keys SET creator_user_id = ? WHERE hash = ?").bind(user, made.hash).run()
  return made
}

/** Keys that see the resource and did not create it. */
async function othersOf(workspace: Workspace) {
  return [await foreignKey(workspace, null), await foreignKey(workspace, "bob", { limit: 0 })]
}

test("a resource is controlled by its key, keys of its user and management keys, never by an intern's key", () => {
  const made = { createdByKey: "maker", creatorUserId: "ada" }
  const principal = { keyHash: "other", creatorUserId: null, source: "created", kind: "normal" } as const
  const may = (more: Partial<Parameters<typeof mayControl>[0]>, of = made) => mayControl({ ...principal, ...more }, of)
  expect(may({})).toBe(false)
  expect(may({ creatorUserId: "bob" })).toBe(false)
  expect(may({ kind: "provisioning" })).toBe(false)
  expect(may({ keyHash: "maker" })).toBe(true)
  expect(may({ creatorUserId: "ada" })).toBe(true)
  expect(may({ kind: "management" })).toBe(true)
  expect(may({ keyHash: "maker", source: "intern" })).toBe(false)
  expect(may({ creatorUserId: "ada", source: "intern" })).toBe(false)
  expect(may({ creatorUserId: "ada", source: "app" })).toBe(false)
  expect(may({ keyHash: "maker", source: "app" })).toBe(true)
  const old = { createdByKey: null, creatorUserId: null } as unknown as typeof made
  expect(may({}, old)).toBe(false)
  expect(may({ kind: "management" }, old)).toBe(true)
})

describe("a key that did not create an intern", () => {
  test("gets 403 for a join token", async () => {
    const workspace = await newWorkspace()
    const { id } = await expectJson<{ id: string }>(201, workspace.as.post("/interns", { name: "ada", host: "daemon" }))
    for (const { as } of await othersOf(workspace)) {
      const { metadata } = await refused(403, as.post(`/interns/${id}/daemon/token`, undefined))
      expect(metadata).toEqual(FORBIDDEN)
    }
    await expectJson(201, workspace.as.post(`/interns/${id}/daemon/token`, undefined))
    await expectJson(201, workspace.manage.post(`/interns/${id}/daemon/token`, undefined))
    const same = await newKey(workspace)
    await expectJson(201, same.as.post(`/interns/${id}/daemon/token`, undefined))
  })

  test("gets 403 when it attaches the intern's vault", async () => {
    const workspace = await newWorkspace()
    const made = await expectJson<{ vault_id: string }>(201, workspace.as.post("/interns", { name: "lender" }))
    for (const { as } of await othersOf(workspace)) {
      const { metadata } = await refused(403, as.post("/interns", { name: "thief", vault_id: made.vault_id }))
      expect(metadata).toEqual(FORBIDDEN)
    }
    await expectJson(201, workspace.as.post("/interns", { name: "mine", vault_id: made.vault_id }))
    await expectJson(201, workspace.manage.post("/interns", { name: "managed", vault_id: made.vault_id }))
    await refused(404, workspace.as.post("/interns", { name: "nobody", vault_id: crypto.randomUUID() }))
  })

  test("gets 403 when it copies a secret to the intern, or copies another key's secret to its own intern", async () => {
    const workspace = await newWorkspace()
    const intern = await insertIntern(workspace)
    const hosts = ["api.example.com"]
    await expectJson(200, workspace.as.put("/vault/secrets/token", { hosts, value: "stored by the first key" }))
    const copy = { names: ["token"] }
    for (const { as, hash } of await othersOf(workspace)) {
      const path = `/vault/interns/${intern.id}/secrets/copy`
      expect((await refused(403, as.post(path, copy))).metadata).toEqual(FORBIDDEN)
      const scoped = await insertIntern(workspace, { createdByKey: hash })
      const { metadata, message } = await refused(403, as.post(`/vault/interns/${scoped.id}/secrets/copy`, copy))
      expect(metadata).toEqual(FORBIDDEN)
      expect(message).toContain("token")
      expect(await expectJson(200, as.get(`/vault/interns/${scoped.id}/secrets`))).toMatchObject({ total_count: 0 })
    }
    await expectJson(200, workspace.as.post(`/vault/interns/${intern.id}/secrets/copy`, copy))
    await expectJson(200, workspace.manage.post(`/vault/interns/${intern.id}/secrets/copy`, copy))
    // The key that overwrote the value stored the current one.
    const other = await foreignKey(workspace, "bob")
    const scoped = await insertIntern(workspace, { createdByKey: other.hash })
    await expectJson(200, other.as.put("/vault/secrets/token", { hosts, value: "stored by another key" }))
    await expectJson(200, other.as.post(`/vault/interns/${scoped.id}/secrets/copy`, copy))
    await refused(403, workspace.as.post(`/vault/interns/${intern.id}/secrets/copy`, copy))
  })
})

test("a new join token is rejected with 409 while a daemon is attached, unless replace is true", async () => {
  const intern = await newDaemonIntern(await newWorkspace())
  const daemon = await new MockDaemon(intern).dial()
  const path = `/interns/${intern.id}/daemon/token`
  for (const body of [undefined, {}, { replace: false }]) {
    const { metadata } = await refused(409, intern.as.post(path, body))
    expect(metadata).toEqual({ reason: "daemon_attached", retryable: false })
  }
  expect(daemon.closedWith).toBeUndefined()
  const { token } = await expectJson<{ token: string }>(201, intern.as.post(path, { replace: true }))
  await expect.poll(() => daemon.closedWith).toBe(4003)
  const next = await new MockDaemon({ ...intern, token }).dial()
  next.cut()
  await expect.poll(async () => (await intern.as.post(path, undefined)).status).toBe(201)
  await refused(400, intern.as.post(path, { replace: "yes" }))
})

test("an intern's key gets 403 or 404 for changes to its intern's lifecycle, join tokens and secret copies", async () => {
  const workspace = await newWorkspace()
  const intern = await insertIntern(workspace)
  const other = await insertIntern(workspace)
  for (const [method, path, body] of [
    ["PATCH", "", { name: "renamed" }],
    ["DELETE", "", { acknowledge_workspace_loss: true }],
    ["POST", "/provision", undefined],
    ["POST", "/suspend", undefined],
  ] as const) {
    const { metadata } = await refused(403, intern.as.call(method, `/interns/${intern.id}${path}`, body))
    expect(metadata).toEqual(FORBIDDEN)
    await refused(404, intern.as.call(method, `/interns/${other.id}${path}`, body))
  }
  await refused(404, intern.as.post(`/interns/${intern.id}/daemon/token`, undefined))
  await refused(404, intern.as.post(`/vault/interns/${intern.id}/secrets/copy`, { names: ["token"] }))
  await refused(404, intern.as.post("/interns", { name: "thief", vault_id: other.vaultId }))
  const kept = await expectJson<{ name: string; status: string }>(200, intern.as.get(`/interns/${intern.id}`))
  expect(kept).toMatchObject({ name: intern.row.name, status: "running" })
})

test("an intern's key reads and deletes only the files that its intern created", async () => {
  const workspace = await newWorkspace()
  const [intern, other] = [await insertIntern(workspace), await insertIntern(workspace)]
  const upload = async (as: typeof workspace.as, name: string) => {
    const form = new FormData()
    form.append("file", new File([name], `${name}.txt`, { type: "text/plain" }))
    const request = new Request("http://x/", { method: "POST", body: form })
    const bytes = new Uint8Array(await request.arrayBuffer())
    const answer = as.callBytes("POST", "/files", bytes, request.headers.get("content-type") ?? "")
    return (await expectJson<{ id: string }>(200, answer)).id
  }
  const [mine, foreign, shared] = [
    await upload(intern.as, "mine"),
    await upload(other.as, "foreign"),
    await upload(workspace.as, "shared"),
  ]
  const ids = async (as: typeof workspace.as) =>
    (await expectJson<{ data: { id: string }[] }>(200, as.get("/files"))).data.map(({ id }) => id)
  expect(await ids(intern.as)).toEqual([mine])
  expect(await ids(workspace.as)).toEqual([mine, foreign, shared])
  for (const id of [foreign, shared]) {
    await refused(404, intern.as.get(`/files/${id}`))
    await refused(404, intern.as.get(`/files/${id}/content`))
    await refused(404, intern.as.delete(`/files/${id}`))
  }
  await refused(403, intern.as.get("/files?provider=openai"))
  await expectJson(200, intern.as.get(`/files/${mine}`))
  await expectJson(200, intern.as.delete(`/files/${mine}`))
  expect(await ids(workspace.as)).toEqual([foreign, shared])
})
