import { env } from "cloudflare:workers"
import { expect, test } from "vitest"
import { openInternKey } from "../../src/interns/intern-key.ts"
import { requestSite, siteOf } from "../support/acp-client.ts"
import { newDaemonIntern } from "../support/daemon.ts"
import { eventually } from "../support/eventually.ts"
import { internChat } from "../support/intern-chat.ts"
import { type TestClient, client, newKey, newMember, newWorkspace, expectJson } from "../support/world.ts"

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
