import { callerOf } from "../../src/policy/call-policy.ts"
import { principalByHash } from "../../src/policy/authenticate.ts"
import type { Principal } from "../../src/access/principal.ts"
import { limitsOf } from "../../src/policy/call-policy.ts"
import { env } from "cloudflare:workers"
import { newEntry } from "../../src/audit/entry.ts"
import { changeIntern } from "../../src/interns/store.ts"
import type { InternStatus } from "../../src/interns/kinds.ts"
import { runInDurableObject } from "cloudflare:test"
import { describe, expect, onTestFinished, test } from "vitest"
import { internObject, parseConfigAgain } from "../support/intern-object.ts"
import { newDaemonIntern, MockDaemon } from "../support/daemon.ts"
import { internChat, refused } from "../support/intern-chat.ts"
import {
  type TestClient,
  client,
  newKey,
  newMember,
  newWorkspace,
  operatorClient,
  expectJson,
} from "../support/world.ts"
import { eventually } from "../support/eventually.ts"
import { watchPolicyWrites } from "../support/policy-writes.ts"

watchPolicyWrites()

type Intern = {
  id: string
  name: string
  status: string
  hostname: string | null
  progress: unknown
  last_failure_message: string | null
  vault_id: string
  attached_vault_id: string | null
  model: string | null
  running_model: string | null
  workspace_id: string
}

const make = (as: TestClient, input: Record<string, unknown>, status = 201) =>
  expectJson<Intern>(status, as.post("/interns", input))

async function becomes(as: TestClient, id: string, status: string): Promise<Intern> {
  return eventually(async () => {
    const intern = await expectJson<Intern>(200, as.get(`/interns/${id}`))
    expect(intern.status).toBe(status)
    return intern
  })
}

async function refusal(status: number, answer: Promise<Response>) {
  type Refused = { error: { code: number; message: string; metadata?: { reason: string; retryable: boolean } } }
  const { error } = await expectJson<Refused>(status, answer)
  expect(error.code).toBe(status)
  return { ...error.metadata, message: error.message }
}

describe("creating an intern", () => {
  test("returns 201 with every field, and 200 with the same intern for the same request", async () => {
    const { as, workspaceId } = await newWorkspace()
    const made = await make(as, { name: "ada" })
    expect(made).toEqual({
      id: expect.any(String) as string,
      name: "ada",
      description: null,
      instructions: null,
      model: null,
      running_model: null,
      host: "embedded",
      status: "queued",
      hostname: null,
      progress: null,
      last_failure_message: null,
      vault_id: expect.any(String) as string,
      attached_vault_id: null,
      workspace_id: workspaceId,
      created_at: expect.stringMatching(/Z$/) as string,
      updated_at: expect.stringMatching(/Z$/) as string,
      limit: null,
      limit_reset: null,
      limit_remaining: null,
      daily_limit: null,
      daily_limit_remaining: null,
      mcp_tools: null,
      usage: 0,
      usage_daily: 0,
    })
    expect((await make(as, { name: "ada", provision: false }, 200)).id).toBe(made.id)
  })

  test("with an Idempotency-Key creates it once, and returns 409 for another body with that key", async () => {
    const { as } = await newWorkspace()
    const headers = { "idempotency-key": "once" }
    const first = await expectJson<Intern>(201, as.post("/interns", { name: "ada" }, headers))
    const again = await expectJson<Intern>(200, as.post("/interns", { name: "ada" }, headers))
    expect(again.id).toBe(first.id)
    expect(await refusal(409, as.post("/interns", { name: "bob" }, headers))).toMatchObject({
      reason: "idempotency_conflict",
    })
    for (const key of ["", "x".repeat(256)]) {
      await refusal(400, as.post("/interns", { name: "eve" }, { "idempotency-key": key }))
    }
  })

  test("returns 409 name_taken while an intern of that name is being deleted", async () => {
    const { as } = await newWorkspace()
    for (const status of ["destroying", "destroy_failed"]) {
      const { id, name } = await make(as, { name: status === "destroying" ? "ada" : "bob" })
      await env.DB.prepare("UPDATE interns SET status = ? WHERE id = ?").bind(status, id).run()
      expect(await refusal(409, as.post("/interns", { name }))).toMatchObject({ reason: "name_taken" })
    }
  })

  test("twenty times at once with one name creates one intern", async () => {
    const { as } = await newWorkspace()
    const answers = await Promise.all(Array.from({ length: 20 }, () => as.post("/interns", { name: "ada" })))
    const ids = await Promise.all(answers.map((answer) => answer.json<Intern>()))
    expect(answers.every(({ status }) => status === 200 || status === 201)).toBe(true)
    expect(new Set(ids.map(({ id }) => id)).size).toBe(1)
  })

  test("returns 409 name_taken for a name that its creator already uses in the workspace", async () => {
    const workspace = await newWorkspace()
    await make(workspace.as, { name: "ada" })
    const taken = await refusal(409, workspace.as.post("/interns", { name: "ada", description: "Another" }))
    expect(taken).toMatchObject({ reason: "name_taken", retryable: false })
    const otherMember = await newKey(workspace, { creator_user_id: await newMember(workspace, "user_somebody") })
    await make(otherMember.as, { name: "ada", description: "Another" })
    const bob = await make(workspace.as, { name: "bob" })
    expect(await refusal(409, workspace.as.patch(`/interns/${bob.id}`, { name: "ada" }))).toMatchObject({
      reason: "name_taken",
    })
  })

  test.each([
    [{ name: "a" }, "name"],
    [{ name: "a".repeat(18) }, "name"],
    [{ name: "Ada" }, "name"],
    [{ name: "a--b" }, "name"],
    [{ name: "1a" }, "name"],
    [{ name: "ada", description: "x".repeat(2_001) }, "description"],
    [{ name: "ada", instructions: "x".repeat(100_001) }, "instructions"],
    [{ name: "ada", model: "no-slash" }, "model"],
    [{ name: "ada", colour: "red" }, "colour"],
  ])("%j is rejected with 400, and the error names %s", async (input, field) => {
    const { as } = await newWorkspace()
    const { reason, message } = await refusal(400, as.post("/interns", input))
    expect(reason).toBe("invalid_body")
    expect(message).toContain(field)
  })

  test("returns 413 payload_too_large for a large body and 415 for one that is not JSON", async () => {
    const { as, key } = await newWorkspace()
    const large = JSON.stringify({ name: "ada", instructions: "x".repeat(1_048_576) })
    expect(await refusal(413, as.post("/interns", large))).toEqual({
      reason: "payload_too_large",
      retryable: false,
      message: expect.any(String) as string,
    })
    const text = client(key).call("POST", "/interns", "name=ada", { "content-type": "text/plain" })
    expect(await refusal(415, text)).toMatchObject({ reason: "unsupported_media_type", retryable: false })
  })

  test("returns 404 for another workspace than the key's", async () => {
    const { as } = await newWorkspace()
    const other = await newWorkspace()
    await refusal(404, as.post("/interns", { name: "ada", workspace_id: other.workspaceId }))
  })

  test("attaches the vault of another intern of the workspace, and returns 404 for a vault of another workspace", async () => {
    const { as } = await newWorkspace()
    const lender = await make(as, { name: "lender" })
    const borrower = await make(as, { name: "borrower", vault_id: lender.vault_id })
    expect(borrower.attached_vault_id).toBe(lender.vault_id)
    expect(borrower.vault_id).not.toBe(lender.vault_id)
    const stranger = await make((await newWorkspace()).as, { name: "stranger" })
    await refusal(404, as.post("/interns", { name: "thief", vault_id: stranger.vault_id }))
  })

  test("gives it a key with the limits and guardrails of the creating key", async () => {
    const workspace = await newWorkspace()
    const capped = await newKey(workspace, { limit: 2, limit_reset: "daily" })
    const guardrail = await expectJson<{ data: { id: string } }>(
      201,
      workspace.manage.post("/guardrails", { name: "Tight", allowed_models: ["sim/echo"] }),
    )
    await expectJson(
      200,
      workspace.manage.post(`/guardrails/${guardrail.data.id}/assignments/keys`, { key_hashes: [capped.hash] }),
    )
    const { id } = await make(capped.as, { name: "ada" })
    const scoped = await env.DB.prepare("SELECT hash FROM api_keys WHERE intern_id = ?").bind(id).first<string>("hash")
    const principal = await principalByHash(scoped ?? "", env, Date.now())
    const caller = callerOf(principal as Principal)
    expect(limitsOf(caller)).toMatchObject([{ limitNano: 2_000_000_000, interval: "daily" }])
    expect(caller.guardrails?.list.map((applied) => applied.id)).toEqual([guardrail.data.id])
  })
})

describe("listing interns", () => {
  test("pages from newest to oldest with the number of all, and filters by status", async () => {
    const { as } = await newWorkspace()
    const ids: string[] = []
    for (const name of ["one", "two", "three"]) ids.unshift((await make(as, { name })).id)
    type List = { data: Intern[]; has_more: boolean; total_count: number; next_cursor?: string }
    const first = await expectJson<List>(200, as.get("/interns?limit=2"))
    expect(first.data.map(({ id }) => id)).toEqual(ids.slice(0, 2))
    expect(first).toMatchObject({ has_more: true, total_count: 3 })
    const next = await expectJson<List>(200, as.get(`/interns?limit=2&starting_after=${first.next_cursor}`))
    expect(next).toEqual({ data: [expect.objectContaining({ id: ids[2] })], has_more: false, total_count: 3 })
    expect(await expectJson<List>(200, as.get("/interns?status=running%2Cfailed"))).toMatchObject({
      data: [],
      total_count: 0,
    })
    expect((await expectJson<List>(200, as.get("/interns?status=queued,queued"))).data).toHaveLength(3)
    const waiting = await expectJson<List>(200, as.get("/interns?status=awaiting_slack_install,running"))
    expect(waiting).toEqual(await expectJson<List>(200, as.get("/interns?status=awaiting_vendor_install,running")))
    for (const query of ["limit=0", "limit=501", "starting_after=nonsense", "status=asleep"]) {
      await refusal(400, as.get(`/interns?${query}`))
    }
  })
})

describe("access to an intern", () => {
  test("is limited to keys of its workspace in organizations with interns; others get 404", async () => {
    const workspace = await newWorkspace()
    const { id } = await make(workspace.as, { name: "ada" })
    await expectJson(200, workspace.manage.get(`/interns/${id}`))
    const stranger = await newWorkspace()
    for (const as of [stranger.as, stranger.manage]) {
      expect(await refusal(404, as.get(`/interns/${id}`))).toMatchObject({ reason: "not_found", retryable: false })
    }
    const { workspace_id: other } = { workspace_id: workspace.organizationId }
    await expectJson(200, operatorClient.patch(`/organizations/${other}`, { interns_programme: false }))
    for (const path of [
      "/interns",
      `/interns/${id}`,
      "/vault/secrets",
      `/vault/interns/${id}/secrets`,
      `/interns/${id}/daemon`,
    ]) {
      await refusal(404, workspace.as.get(path))
    }
    await expectJson(200, operatorClient.patch(`/organizations/${other}`, { interns_programme: true }))
    await expectJson(200, workspace.as.get(`/interns/${id}`))
  })

  test("with the intern's key covers only that intern and the list of its secrets", async () => {
    const workspace = await newWorkspace()
    const { id, other, key } = await ownKeyOf(workspace)
    const scoped = client(key)
    await expectJson(200, scoped.get(`/interns/${id}`))
    await expectJson(200, scoped.get(`/vault/interns/${id}/secrets`))
    for (const path of ["/interns", `/interns/${other}`, "/vault/secrets", `/vault/interns/${other}/secrets`]) {
      await refusal(404, scoped.get(path))
    }
    await refusal(404, scoped.post("/interns", { name: "child" }))
    await expectJson(200, scoped.chat("sim/echo", "Hello"))
  })

  test("with the intern's key returns 404 for a join token and 403 for an authorization code", async () => {
    const workspace = await newWorkspace()
    const { id, key } = await ownKeyOf(workspace)
    const scoped = client(key)
    await refusal(404, scoped.post(`/interns/${id}/daemon/token`, {}))
    const requests = { callback_url: "https://app.example.com/callback" }
    await refusal(403, scoped.post("/auth/keys/code", requests))
    await expectJson(200, workspace.as.post("/auth/keys/code", requests))
  })

  test("on a regional hostname returns 403 for every intern, vault and daemon route", async () => {
    const { key } = await newWorkspace()
    const { default: front } = (await import("cloudflare:workers")).exports as unknown as { default: Fetcher }
    for (const path of ["/interns", "/vault/secrets", `/interns/${crypto.randomUUID()}/daemon`]) {
      const answer = await front.fetch(`http://eu.localhost/api/v1${path}`, {
        headers: { authorization: `Bearer ${key}` },
      })
      expect(answer.status).toBe(403)
      expect(await answer.text()).toContain("regional_hostname")
    }
  })

  test("returns 403 for chat with a key whose creator left the organization", async () => {
    const workspace = await newWorkspace()
    const { id } = await make(workspace.as, { name: "ada", provision: true })
    const left = await newKey(workspace, { creator_user_id: await newMember(workspace, "user_who_left") })
    await expectJson(200, workspace.manage.delete("/organization/members/user_who_left"))
    const prompt = { stream: true, messages: [{ role: "user", content: "Hi" }] }
    const rejected = left.as.post(`/interns/${id}/chat/completions`, prompt)
    const { error } = await expectJson<{ error: { metadata: unknown } }>(403, rejected)
    expect(error.metadata).toEqual({ reason: "forbidden", retryable: false })
  })
})

async function ownKeyOf(workspace: Awaited<ReturnType<typeof newWorkspace>>) {
  const intern = await newDaemonIntern(workspace)
  const other = await make(workspace.as, { name: "other" })
  const daemon = await new MockDaemon(intern).dial()
  return { id: intern.id, other: other.id, key: String(daemon.welcome?.config["api_key"]) }
}

describe("the lifecycle of an intern", () => {
  test("provision boots it, suspend stops it and keeps its disk, provision resumes it", async () => {
    const { as, key } = await newWorkspace()
    const { id } = await make(as, { name: "ada", model: "sim/tool-call" })
    expect(await expectJson(202, as.post(`/interns/${id}/provision`, undefined))).toEqual({ provisioning: true })
    const running = await becomes(as, id, "running")
    expect(running.hostname).toBe(`ada-${id.slice(-8)}.interns.localhost`)
    expect(running.progress).toBeNull()
    const chat = internChat(key, id)
    await (await chat.send("echo kept > note.txt", { approval_mode: "self-drive" })).all()
    expect(await expectJson(200, as.post(`/interns/${id}/suspend`, undefined))).toEqual({ suspended: true })
    await becomes(as, id, "stopped")
    expect(await refused(chat.send("Hello"))).toMatchObject({ status: 409, reason: "intern_not_ready" })
    await expectJson(202, as.post(`/interns/${id}/provision`, undefined))
    await becomes(as, id, "running")
    const reading = await (await chat.send("cat note.txt", { approval_mode: "self-drive" })).all()
    expect(reading.text).toContain("kept")
  })

  test("the first chat boots a created intern with the default model, which running_model reports", async () => {
    const { as, key } = await newWorkspace()
    const { id, model, running_model: none } = await make(as, { name: "ada" })
    expect([model, none]).toEqual([null, null])
    const reading = await (await internChat(key, id).send("$ echo first", { approval_mode: "self-drive" })).all()
    expect(reading.text).toContain("first")
    expect(reading.chunks.at(-1)?.model).toBe("sim/agent")
    expect(await becomes(as, id, "running")).toMatchObject({ model: null, running_model: "sim/agent" })
  })

  test("a prompt during boot waits until the intern runs", async () => {
    const { as, key } = await newWorkspace()
    const { id } = await make(as, { name: "ada", model: "sim/echo", provision: true })
    const reading = await (await internChat(key, id).send("Hello")).all()
    expect(reading.text).toBe("Hello")
  })

  test("without a model and a default it fails, and the message names INTERN_MODEL", async () => {
    const { as } = await newWorkspace()
    const { id } = await make(as, { name: "ada" })
    const { INTERN_MODEL: previous = "" } = env
    onTestFinished(async () => {
      env.INTERN_MODEL = previous
      await parseConfigAgain(id)
    })
    env.INTERN_MODEL = ""
    await parseConfigAgain(id)
    await expectJson(202, as.post(`/interns/${id}/provision`, undefined))
    const failed = await becomes(as, id, "failed")
    expect(failed.last_failure_message).toContain("INTERN_MODEL")
  })

  test("provision and suspend reject a body with any field", async () => {
    const { as } = await newWorkspace()
    const { id } = await make(as, { name: "ada" })
    await refusal(400, as.post(`/interns/${id}/provision`, { fast: true }))
    await refusal(400, as.post(`/interns/${id}/suspend`, { fast: true }))
  })

  test("a changed model takes effect at the next provision", async () => {
    const { as, key } = await newWorkspace()
    const { id } = await make(as, { name: "ada", model: "sim/echo", provision: true })
    await becomes(as, id, "running")
    const changed = await expectJson<Intern>(
      200,
      as.patch(`/interns/${id}`, { model: "sim/reasoning", description: null }),
    )
    expect(changed.model).toBe("sim/reasoning")
    const before = await (await internChat(key, id).send("Hello")).all()
    expect(before.chunks.at(-1)?.model).toBe("sim/echo")
    await expectJson(202, as.post(`/interns/${id}/provision`, undefined))
    await becomes(as, id, "running")
    const after = await (await internChat(key, id).send("Hello")).all()
    expect(after.chunks.at(-1)?.model).toBe("sim/reasoning")
  })

  test("an update without a body, or with an empty one, changes nothing", async () => {
    const { as } = await newWorkspace()
    const made = await make(as, { name: "ada", description: "Kept" })
    const after = await expectJson<Intern & { description: string }>(200, as.patch(`/interns/${made.id}`, {}))
    expect(after.description).toBe("Kept")
    await expectJson(200, as.call("PATCH", `/interns/${made.id}`))
  })

  test("suspending cancels the run, and the client receives run_ended", async () => {
    const { as, key } = await newWorkspace()
    const { id } = await make(as, { name: "ada", model: "sim/paced", provision: true })
    await becomes(as, id, "running")
    const reading = await internChat(key, id).send("Say a lot")
    await reading.until("Say")
    await expectJson(200, as.post(`/interns/${id}/suspend`, undefined))
    await reading.all()
    expect(reading.error).toMatchObject({ code: 410, metadata: { reason: "run_ended", retryable: false } })
  })

  test("deleting removes its record, its key, its vault and everything in its object", async () => {
    const { as, key } = await newWorkspace()
    const { id } = await make(as, { name: "ada", model: "sim/tool-call", provision: true })
    await becomes(as, id, "running")
    await (await internChat(key, id).send("echo x > y", { approval_mode: "self-drive" })).all()
    await expectJson(200, as.put(`/vault/interns/${id}/secrets/token`, { hosts: ["api.example.com"], value: "s3cret" }))
    expect(await expectJson(202, as.delete(`/interns/${id}`))).toEqual({ deleting: true })
    await eventually(async () => refusal(404, as.get(`/interns/${id}`)))
    const left = await env.DB.prepare(
      `SELECT (SELECT count(*) FROM vault_secrets v JOIN interns i ON i.vault_id = v.vault_id WHERE i.id = ?1) +
         (SELECT count(*) FROM api_keys WHERE intern_id = ?1 AND deleted_at IS NULL) AS n`,
    )
      .bind(id)
      .first<{ n: number }>()
    expect(left?.n).toBe(0)
    await runInDurableObject(internObject(id), (_, state) => {
      for (const table of ["runs", "facts", "sessions"]) {
        expect([...state.storage.sql.exec(`SELECT 1 FROM ${table}`)]).toEqual([])
      }
    })
    expect((await make(as, { name: "ada" })).id).not.toBe(id)
  })

  test("deleting is a policy change when its key ends, so that other isolates read it", async () => {
    const { as } = await newWorkspace()
    const { id } = await make(as, { name: "ada" })
    const row = await env.DB.prepare("SELECT * FROM interns WHERE id = ?").bind(id).first<{ organization_id: string }>()
    const newest = async () => {
      const statement = env.DB.prepare("SELECT max(revision) AS revision FROM audit_log WHERE organization_id = ?")
      return (await statement.bind(row?.organization_id).first<{ revision: number }>())?.revision ?? 0
    }
    const before = await newest()
    await expectJson(202, as.delete(`/interns/${id}`))
    await eventually(async () => refusal(404, as.get(`/interns/${id}`)))
    // One with the request, one with the deletion of the key.
    expect(await newest()).toBeGreaterThanOrEqual(before + 2)
  })

  test("deleting its workspace deletes it", async () => {
    const workspace = await newWorkspace()
    const { id } = await make(workspace.as, { name: "ada", provision: true })
    await becomes(workspace.as, id, "running")
    await expectJson(
      200,
      workspace.manage.delete(`/workspaces/${workspace.workspaceId}?confirm_default_workspace_deletion=true`),
    )
    await eventually(async () => {
      const row = await env.DB.prepare("SELECT 1 FROM interns WHERE id = ?").bind(id).first()
      expect(row).toBeNull()
    })
  })

  test("deleting without the daemon's archive ends in destroy_failed until the loss is acknowledged", async () => {
    const workspace = await newWorkspace()
    const intern = await newDaemonIntern(workspace)
    await expectJson(202, workspace.as.delete(`/interns/${intern.id}`))
    const failed = await becomes(workspace.as, intern.id, "destroy_failed")
    expect(failed.last_failure_message).toContain("workspace_archive_failed")
    const body = { acknowledge_workspace_loss: true }
    await expectJson(202, workspace.as.call("DELETE", `/interns/${intern.id}`, body))
    await eventually(async () => refusal(404, workspace.as.get(`/interns/${intern.id}`)))
  })

  test("provisioning reports that it waits for the daemon", async () => {
    const workspace = await newWorkspace()
    const intern = await newDaemonIntern(workspace)
    const waiting = await eventually(async () => {
      const one = await becomes(workspace.as, intern.id, "provisioning")
      expect(one.progress).toMatchObject({ step_number: 3 })
      return one
    })
    expect(waiting.progress).toEqual({
      step_label: "Waiting for the daemon to dial in",
      step_number: 3,
      total_steps: 3,
    })
    await new MockDaemon(intern).dial()
    await becomes(workspace.as, intern.id, "running")
  })
})

describe("daemon access", () => {
  test("of a running intern is revealed, never cached, and every reveal is in the audit log", async () => {
    const workspace = await newWorkspace()
    const { id } = await make(workspace.as, { name: "ada", provision: true })
    const { hostname } = await becomes(workspace.as, id, "running")
    const answer = await workspace.as.get(`/interns/${id}/daemon`)
    expect(answer.headers.get("cache-control")).toBe("no-store")
    const { origin, token } = await expectJson<{ origin: string; token: string }>(200, answer)
    expect(new URL(origin).hostname).toBe(hostname)
    const again = await expectJson<{ token: string }>(200, workspace.as.get(`/interns/${id}/daemon`))
    expect(again.token).toBe(token)
    const { data } = await expectJson<{ data: { action: string; resource_id: string }[] }>(
      200,
      workspace.manage.get("/audit?action=intern.daemon_access"),
    )
    expect(data.map(({ resource_id: resource }) => resource)).toEqual([id, id])
    await expectJson(202, workspace.as.post(`/interns/${id}/provision`, undefined))
    await becomes(workspace.as, id, "running")
    const rotated = await expectJson<{ token: string }>(200, workspace.as.get(`/interns/${id}/daemon`))
    expect(rotated.token).not.toBe(token)
  })

  test("of an intern that does not run returns 409 intern_not_running", async () => {
    const { as } = await newWorkspace()
    const { id } = await make(as, { name: "ada" })
    expect(await refusal(409, as.get(`/interns/${id}/daemon`))).toMatchObject({
      reason: "intern_not_running",
      retryable: false,
    })
  })
})

test("a change that the status of the intern prevents does not change the limit of its key", async () => {
  const { as, manage, organizationId } = await newWorkspace()
  const { id, workspace_id: workspaceId } = await make(as, { name: "ada", limit: 1 })
  const actor = { organizationId, keyHash: "", label: "", creatorUserId: null, ip: null, userAgent: null }
  const changeLimit = (from: readonly InternStatus[], limitNano: number) => {
    const event = { action: "intern.update", resourceId: id, workspaceId } as const
    const entry = newEntry({ ...actor, requestId: "r", at: Date.now() }, event)
    const change = { columns: {}, terms: { limitNano }, from, now: Date.now(), entry }
    return changeIntern(env.DB, { id, organizationId, workspaceId }, change)
  }
  const limitOf = async () => (await expectJson<{ limit: number }>(200, manage.get(`/interns/${id}`))).limit
  expect(await changeLimit(["running"], 2_000_000_000)).toBeUndefined()
  expect(await limitOf()).toBe(1)
  expect(await changeLimit(["stopped", "queued"], 2_000_000_000)).toMatchObject({ id })
  expect(await limitOf()).toBe(2)
})
