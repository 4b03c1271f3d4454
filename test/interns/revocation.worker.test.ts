import { env } from "cloudflare:workers"
import { runInDurableObject } from "cloudflare:test"
import * as fc from "fast-check"
import { expect, onTestFinished, test, vi } from "vitest"
import type { Intern } from "../../durable-objects/intern/intern.ts"
import { hashKey } from "../../src/access/key.ts"
import { openInternKey } from "../../src/interns/access/intern-key.ts"
import { newDirectory, patch, USER } from "../scim/directory.ts"
import { requestSite, siteOf } from "../support/acp-client.ts"
import { newDaemonIntern } from "../support/daemon.ts"
import { eventually } from "../support/eventually.ts"
import { internChat } from "../support/intern-chat.ts"
import { internObject } from "../support/intern-object.ts"
import {
  operatorClient,
  type TestClient,
  client,
  newKey,
  newMember,
  newWorkspace,
  expectJson,
} from "../support/world.ts"

const becomes = (as: TestClient, id: string, status: string) =>
  eventually(async () => expect(await expectJson(200, as.get(`/interns/${id}`))).toMatchObject({ status }))

test("an intern of a deleted key rejects turns, token reads and clients until another key provisions it", async () => {
  const workspace = await newWorkspace()
  const ada = await newMember(workspace, "ada")
  const [maker, same, other] = [
    await newKey(workspace, { creator_user_id: ada }),
    await newKey(workspace, { creator_user_id: ada }),
    await newKey(workspace),
  ]
  const requests = { name: "ada", model: "sim/echo", provision: true }
  const { id } = await expectJson<{ id: string }>(201, maker.as.post("/interns", requests))
  await becomes(workspace.as, id, "running")
  const site = await siteOf(workspace.as, id)
  const before = await openInternKey(env, workspace, id)
  await expectJson(200, client(before.key).get("/key"))
  expect((await (await internChat(workspace.key, id).send("Hello")).all()).text).toContain("Hello")
  expect((await requestSite(site, "/")).status).toBe(200)

  expect(await expectJson(200, workspace.manage.delete(`/keys/${maker.hash}`))).toMatchObject({ revoked_keys: 1 })
  await expectJson(401, client(before.key).get("/key"))
  const refused = await internChat(workspace.key, id).send("Hello")
  expect(refused.response.status).toBe(403)
  await expectJson(403, workspace.as.get(`/interns/${id}/daemon`))
  expect((await requestSite(site, "/")).status).toBe(401)

  await expectJson(403, other.as.post(`/interns/${id}/provision`, {}))
  await expectJson(202, same.as.post(`/interns/${id}/provision`, {}))
  await becomes(workspace.as, id, "running")
  const after = await openInternKey(env, workspace, id)
  expect(after.key).not.toBe(before.key)
  await expectJson(200, client(after.key).get("/key"))
  await expectJson(401, client(before.key).get("/key"))
  expect((await (await internChat(workspace.key, id).send("Again")).all()).text).toContain("Again")
  await expectJson(200, workspace.manage.patch(`/keys/${same.hash}`, { disabled: true }))
  await expectJson(401, client(after.key).get("/key"))
})

test("a key that replaces an intern's key has its limits and guardrail, and a disabled one is replaced only by management", async () => {
  const workspace = await newWorkspace()
  const ada = await newMember(workspace, "ada")
  const [maker, same] = [
    await newKey(workspace, { creator_user_id: ada }),
    await newKey(workspace, { creator_user_id: ada }),
  ]
  const rules = fc.record({
    limit: fc.option(fc.integer({ min: 1, max: 50 })),
    requests_per_minute: fc.option(fc.integer({ min: 1, max: 500 })),
    tokens_per_minute: fc.option(fc.integer({ min: 1, max: 500 })),
    concurrent_requests: fc.option(fc.integer({ min: 1, max: 500 })),
    over_budget_models: fc.option(fc.constant(["sim/echo:free"])),
  })
  const cases = fc.asyncProperty(
    rules,
    fc.boolean(),
    fc.constantFrom("disabled", "deleted"),
    async (set, isGuarded, end) => {
      const name = `a${crypto.randomUUID().slice(0, 8)}`
      const { id } = await expectJson<{ id: string }>(201, maker.as.post("/interns", { name, model: "sim/echo" }))
      const hashOf = async () => hashKey((await openInternKey(env, workspace, id)).key)
      const before = await hashOf()
      await expectJson(200, workspace.manage.patch(`/keys/${before}`, set))
      const guardrail = await expectJson<{ data: { id: string } }>(201, workspace.manage.post("/guardrails", { name }))
      const keys = `/guardrails/${guardrail.data.id}/assignments/keys`
      if (isGuarded) await expectJson(200, workspace.manage.post(keys, { key_hashes: [before] }))
      if (end === "deleted") await expectJson(200, workspace.manage.delete(`/keys/${before}`))
      else {
        await expectJson(200, workspace.manage.patch(`/keys/${before}`, { disabled: true }))
        await expectJson(403, same.as.post(`/interns/${id}/provision`, {}))
        expect(await hashOf()).toBe(before)
      }
      const by = end === "deleted" ? same.as : workspace.manage
      await expectJson(202, by.post(`/interns/${id}/provision`, {}))
      const after = await hashOf()
      expect(after).not.toBe(before)
      expect(await expectJson(200, workspace.manage.get(`/keys/${after}`))).toMatchObject({ data: set })
      const { data } = await expectJson<{ data: { key_hash: string }[] }>(200, workspace.manage.get(keys))
      expect(data.map((one) => one.key_hash)).toEqual(isGuarded ? [after] : [])
    },
  )
  await fc.assert(cases, { numRuns: 12 })
})

test("the join token of an intern of a deleted key returns 401 for secrets and egress", async () => {
  const workspace = await newWorkspace()
  const maker = await newKey(workspace)
  const { id, token } = await newDaemonIntern({ ...workspace, key: maker.key, as: maker.as })
  const asDaemon = client(token)
  expect([200, 409]).toContain((await asDaemon.get(`/interns/${id}/daemon/secrets`)).status)
  await expectJson(200, workspace.manage.delete(`/keys/${maker.hash}`))
  await expectJson(401, asDaemon.get(`/interns/${id}/daemon/secrets`))
  await expectJson(401, asDaemon.post(`/interns/${id}/daemon/egress`, {}))
})

test("a schedule does not start for a revoked key or in an organization without interns, and its record says why", async () => {
  const workspace = await newWorkspace()
  const maker = await newKey(workspace)
  const make = async (name: string, as: TestClient) => {
    const { id } = await expectJson<{ id: string }>(
      201,
      as.post("/interns", { name, model: "sim/echo", provision: true }),
    )
    await becomes(workspace.as, id, "running")
    const path = `/interns/${id}/schedules`
    const schedule = await expectJson<{ id: string }>(201, as.post(path, { cron: "0 8 * * *", prompt: "Hello" }))
    return { id, runs: `/interns/${id}/sessions?origin=schedule:${schedule.id}`, schedule: schedule.id }
  }
  const [revoked, disabled] = [await make("ada", maker.as), await make("grace", workspace.as)]
  await expectJson(200, workspace.manage.delete(`/keys/${maker.hash}`))
  const run = `/interns/${revoked.id}/schedules/${revoked.schedule}/run`
  expect(await expectJson(202, workspace.manage.post(run, undefined))).toMatchObject({
    last_error: expect.stringContaining("no longer works"),
  })
  const organization = `/organizations/${workspace.organizationId}`
  await expectJson(200, operatorClient.patch(organization, { interns_programme: false }))
  await runInDurableObject(internObject(disabled.id), async (instance: Intern) => {
    expect(await instance.runSchedule(disabled.schedule)).toMatchObject({
      lastError: "Interns are disabled for this organization.",
    })
  })
  await expectJson(200, operatorClient.patch(organization, { interns_programme: true }))
  for (const { runs } of [revoked, disabled]) {
    expect(await expectJson(200, workspace.manage.get(runs))).toMatchObject({ data: [] })
  }
})

test("the secrets of an embedded intern stay in the gateway once its key is revoked, also for a command in progress", async () => {
  const workspace = await newWorkspace()
  const maker = await newKey(workspace)
  const sent: string[] = []
  vi.spyOn(globalThis, "fetch").mockImplementation(async (input, init) => {
    const request = new Request(input, init)
    if (request.url.includes("dns-query")) return Response.json({ Status: 0, Answer: [{ type: 1, data: "1.2.3.4" }] })
    sent.push(request.headers.get("authorization") ?? "")
    await expectJson(200, workspace.manage.delete(`/keys/${maker.hash}`))
    return new Response("ok")
  })
  onTestFinished(() => void vi.restoreAllMocks())
  const input = { name: "ada", model: "sim/agent", provision: true }
  const { id } = await expectJson<{ id: string }>(201, maker.as.post("/interns", input))
  await becomes(workspace.as, id, "running")
  const secret = { value: "a-secret-value", hosts: ["api.example.com"] }
  await expectJson(200, maker.as.put(`/vault/interns/${id}/secrets/token`, secret))
  const curl = 'curl -s -H "Authorization: Bearer $TOKEN" https://api.example.com/'
  const chat = internChat(maker.key, id)
  const paused = await (await chat.send(`$ ${curl}`, { approval_mode: "manual" })).all()
  await (await chat.send(`$ ${curl}; ${curl}`, { approval_mode: "self-drive" })).all()

  const answer = { session_id: paused.session, content: "allow_once" }
  const answered = workspace.manage.post(`/interns/${id}/questions/${paused.question.id}`, answer)
  expect(await expectJson(403, answered)).toMatchObject({ error: { metadata: { reason: "forbidden" } } })
  expect(sent).toEqual(["Bearer a-secret-value"])
})

test("an intern whose creator a directory deactivated cannot be provisioned, and can be cloned", async () => {
  const { workspace, push } = await newDirectory()
  const user = await push("POST", "/Users", { schemas: [USER], userName: "ada@example.com" })
  const { id: ada } = await expectJson<{ id: string }>(201, user)
  const maker = await newKey(workspace, { creator_user_id: ada })
  const { id } = await expectJson<{ id: string }>(201, maker.as.post("/interns", { name: "ada", model: "sim/echo" }))
  await expectJson(200, push("PATCH", `/Users/${ada}`, patch({ op: "replace", value: { active: false } })))
  await expectJson(401, maker.as.post(`/interns/${id}/provision`, {}))
  const refused = workspace.manage.post(`/interns/${id}/provision`, {})
  expect(await expectJson(403, refused)).toMatchObject({
    error: { message: expect.stringContaining("was deactivated"), metadata: { reason: "forbidden", retryable: false } },
  })
  const clone = workspace.manage.post("/interns", { name: "bob", clone_of: id, provision: true })
  const { id: bob } = await expectJson<{ id: string }>(201, clone)
  await becomes(workspace.as, bob, "running")
})
