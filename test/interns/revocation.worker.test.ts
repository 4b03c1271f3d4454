import { env } from "cloudflare:workers"
import { runInDurableObject } from "cloudflare:test"
import { expect, onTestFinished, test, vi } from "vitest"
import type { Intern } from "../../durable-objects/intern/intern.ts"
import { openInternKey } from "../../src/interns/intern-key.ts"
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
