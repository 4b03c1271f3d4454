import { createExecutionContext } from "cloudflare:test"
import { env } from "cloudflare:workers"
import { describe, expect, test } from "vitest"
import { app } from "../../src/app/app.ts"
import { ScimGroupMapping, ScimGroups, ScimSyncJob } from "../../src/scim/mapping/mapping-schemas.ts"
import { resumeSyncJobs, runSyncJob } from "../../src/scim/sync/sync.ts"
import { newWorkspace, expectJson, type Workspace } from "../support/world.ts"
import { addGroup, addUser, connect, newDirectory, patch } from "./directory.ts"
import { watchPolicyWrites } from "../support/policy-writes.ts"

watchPolicyWrites()

type Failure = { error: { message: string } }
type Mapping = { data: { id: string; role: string; workspace_id: string } }
type Job = { data: { id: string; status: string; synced_groups: number | null; deleted_groups: number | null } }
type Members = { data: { user_id: string; role: string }[] }

let teams = 0
async function addTeam({ manage }: Workspace): Promise<string> {
  const made = manage.post("/workspaces", { name: "T", slug: `mapped-${teams++}` })
  return (await expectJson<{ data: { id: string } }>(201, made)).data.id
}

async function rolesIn({ manage }: Workspace, team: string): Promise<Record<string, string>> {
  const { data } = await expectJson<Members>(200, manage.get(`/workspaces/${team}/members?limit=100`))
  return Object.fromEntries(data.map((member) => [member.user_id, member.role]))
}

const map = ({ manage }: Workspace, group: string, team: string, role?: string) =>
  manage.post("/scim/group-mappings", { scim_group_id: group, workspace_id: team, ...(role && { role }) })

async function finish(workspace: Workspace, id: string): Promise<Job["data"]> {
  await env.DB.prepare("UPDATE scim_sync_jobs SET leased_until = 0 WHERE id = ?").bind(id).run()
  await runSyncJob(env, workspace.organizationId, id)
  return ScimSyncJob.strict().parse((await expectJson<Job>(200, workspace.manage.get(`/scim/sync-jobs/${id}`))).data)
}

test("groups are listed for all directories, or for one", async () => {
  const { workspace, push, id } = await newDirectory()
  const other = await connect(workspace, "Entra")
  const [engineers, support] = [await addGroup(push, "Engineers"), await addGroup(other.push, "Support")]
  const idsOf = async (query: string) => {
    const list = ScimGroups.parse(await expectJson(200, workspace.manage.get(`/scim/groups${query}`)))
    expect(list.total_count).toBe(list.data.length)
    return list.data.map((group) => group.id).toSorted()
  }
  expect(await idsOf("")).toEqual([engineers.id, support.id].toSorted())
  expect(await idsOf(`?directory_id=${id}`)).toEqual([engineers.id])
  expect(await idsOf(`?directory_id=${other.id}`)).toEqual([support.id])
})

describe("a group mapping", () => {
  test("adds the members of a group to a workspace, and is idempotent", async () => {
    const { workspace, push } = await newDirectory()
    const [ada, bob] = [await addUser(push, "ada"), await addUser(push, "bob")]
    const group = await addGroup(push, "Engineers", ada.id)
    const team = await addTeam(workspace)
    const { data } = await expectJson<Mapping>(200, map(workspace, group.id, team))
    expect(ScimGroupMapping.strict().parse(data)).toMatchObject({ role: "member", scim_group_id: group.id })
    expect(await rolesIn(workspace, team)).toEqual({ [ada.id]: "member" })
    await env.DB.prepare("DELETE FROM workspace_members WHERE workspace_id = ?").bind(team).run()
    expect(await expectJson(200, map(workspace, group.id, team, "member"))).toEqual({ data })
    expect(await rolesIn(workspace, team)).toEqual({ [ada.id]: "member" })
    const { error } = await expectJson<Failure>(409, map(workspace, group.id, team, "admin"))
    expect(error.message).toContain("role")
    await push("PATCH", `/Groups/${group.id}`, patch({ op: "Add", path: "members", value: [{ value: bob.id }] }))
    const path = `/scim/group-mappings/${data.id}`
    const changed = await expectJson<Mapping>(200, workspace.manage.patch(path, { role: "admin" }))
    expect(changed.data).toMatchObject({ id: data.id, role: "admin" })
    expect(await rolesIn(workspace, team)).toEqual({ [ada.id]: "admin", [bob.id]: "admin" })
    await expectJson(400, workspace.manage.post(`/workspaces/${team}/members/remove`, { user_ids: [ada.id] }))
    await push("PATCH", `/Users/${bob.id}`, patch({ op: "replace", value: { active: false } }))
    expect(await rolesIn(workspace, team)).toEqual({ [ada.id]: "admin" })
    await expectJson(400, workspace.manage.delete(path))
    expect(await expectJson(200, workspace.manage.delete(`${path}?keep_members=false`))).toEqual({ deleted: true })
    expect(await rolesIn(workspace, team)).toEqual({})
    await expectJson(404, workspace.manage.get(path))
    type Entries = { data: { action: string }[] }
    const entries = await expectJson<Entries>(200, workspace.manage.get(`/audit?resource_id=${data.id}`))
    expect(entries.data.map(({ action }) => action.split(".")[1])).toEqual(["delete", "update", "create"])
  })

  test("returns 201 with CLIENT_DIALECT=openrouter", async () => {
    const { workspace, push } = await newDirectory()
    const group = await addGroup(push, "G")
    const body = JSON.stringify({ scim_group_id: group.id, workspace_id: await addTeam(workspace), role: "member" })
    const headers = { authorization: `Bearer ${workspace.managementKey}`, "content-type": "application/json" }
    const bindings = { ...env, CLIENT_DIALECT: "openrouter" }
    const create = () =>
      app.request("/api/v1/scim/group-mappings", { method: "POST", headers, body }, bindings, createExecutionContext())
    const first = await expectJson<Mapping>(201, create())
    expect(await expectJson(201, create())).toEqual(first)
  })

  test("can keep its members as manual ones when it is deleted", async () => {
    const { workspace, push } = await newDirectory()
    const user = await addUser(push, "kept")
    const group = await addGroup(push, "G", user.id)
    const team = await addTeam(workspace)
    const { data } = await expectJson<Mapping>(200, map(workspace, group.id, team, "admin"))
    await expectJson(200, workspace.manage.delete(`/scim/group-mappings/${data.id}?keep_members=true`))
    expect(await rolesIn(workspace, team)).toEqual({ [user.id]: "admin" })
    expect((await push("DELETE", `/Groups/${group.id}`)).status).toBe(204)
    expect(await rolesIn(workspace, team)).toEqual({ [user.id]: "admin" })
    const removal = workspace.manage.post(`/workspaces/${team}/members/remove`, { user_ids: [user.id] })
    expect(await expectJson(200, removal)).toEqual({ removed_count: 1 })
  })

  test("does not change a manual membership", async () => {
    const { workspace, push } = await newDirectory()
    const user = await addUser(push, "both")
    const group = await addGroup(push, "G", user.id)
    const team = await addTeam(workspace)
    await expectJson(200, workspace.manage.post(`/workspaces/${team}/members/add`, { user_ids: [user.id] }))
    const { data } = await expectJson<Mapping>(200, map(workspace, group.id, team, "admin"))
    expect(await rolesIn(workspace, team)).toEqual({ [user.id]: "admin" })
    await expectJson(200, workspace.manage.delete(`/scim/group-mappings/${data.id}?keep_members=false`))
    expect(await rolesIn(workspace, team)).toEqual({ [user.id]: "member" })
  })

  test("of the default workspace raises a role in it", async () => {
    const { workspace, push } = await newDirectory()
    const user = await addUser(push, "lead")
    const group = await addGroup(push, "Leads", user.id)
    expect((await rolesIn(workspace, workspace.workspaceId))[user.id]).toBe("member")
    await expectJson(200, map(workspace, group.id, workspace.workspaceId, "admin"))
    expect((await rolesIn(workspace, workspace.workspaceId))[user.id]).toBe("admin")
  })

  test("is not visible to other organizations", async () => {
    const [one, other] = [await newDirectory(), await newWorkspace()]
    const group = await addGroup(one.push, "G")
    const [team, foreign] = [await addTeam(one.workspace), await addTeam(other)]
    const { data } = await expectJson<Mapping>(200, map(one.workspace, group.id, team))
    await expectJson(404, map(other, group.id, foreign))
    await expectJson(404, map(one.workspace, group.id, foreign))
    for (const path of [`/scim/group-mappings/${data.id}`]) {
      await expectJson(404, other.manage.get(path))
      await expectJson(404, other.manage.patch(path, { role: "admin" }))
      await expectJson(404, other.manage.delete(`${path}?keep_members=false`))
    }
    for (const list of ["/scim/group-mappings", "/scim/groups"]) {
      expect(await expectJson(200, other.manage.get(list))).toEqual({ data: [], total_count: 0 })
      await expectJson(403, one.workspace.as.get(list))
    }
    const groups = await expectJson<unknown>(200, one.workspace.manage.get("/scim/groups"))
    expect(ScimGroups.strict().parse(groups).data[0]).toMatchObject({ display_name: "G", external_id: null })
    await expectJson(400, map(one.workspace, group.id, team, "owner"))
  })
})

describe("a sync job", () => {
  test("applies the directory in steps and counts groups", async () => {
    const { workspace, id: directoryId, push } = await newDirectory()
    const ids = Array.from({ length: 120 }, (_, index) => `synced-${workspace.organizationId}-${index}`)
    await env.DB.prepare(
      `INSERT INTO scim_users (organization_id, id, directory_id, user_name, active, attributes, created_at, updated_at)
       SELECT ?1, value, ?2, value, key <> 0, '{}', 0, 0 FROM json_each(?3)`,
    )
      .bind(workspace.organizationId, directoryId, JSON.stringify(ids))
      .run()
    const group = await addGroup(push, "All", ...ids)
    const gone = await addGroup(push, "Gone")
    await push("DELETE", `/Groups/${gone.id}`)
    const team = await addTeam(workspace)
    await expectJson(200, map(workspace, group.id, team, "admin"))
    const { data } = await expectJson<Job>(202, workspace.manage.call("POST", "/scim/sync-jobs"))
    expect(ScimSyncJob.strict().parse(data)).toMatchObject({ status: "queued", synced_groups: null, started_at: null })
    const job = await finish(workspace, data.id)
    expect(job).toMatchObject({ status: "succeeded", synced_groups: 1, deleted_groups: 1 })
    const { results } = await env.DB.prepare("SELECT role FROM workspace_members WHERE workspace_id = ?")
      .bind(team)
      .all()
    expect(results).toHaveLength(119)
    const other = await newWorkspace()
    await expectJson(404, other.manage.get(`/scim/sync-jobs/${data.id}`))
    await expectJson(400, workspace.manage.call("POST", "/scim/sync-jobs", { full: true }))
    await expectJson(202, workspace.manage.call("POST", "/scim/sync-jobs", {}))
    await expectJson(202, workspace.manage.call("POST", "/scim/sync-jobs", ""))
  })

  test("that was interrupted is continued by the scheduler", async () => {
    const { workspace } = await newDirectory()
    const id = crypto.randomUUID()
    await env.DB.prepare(
      `INSERT INTO scim_sync_jobs (id, organization_id, status, phase, position, leased_until, created_at)
       VALUES (?, ?, 'running', 'groups', '', 0, 0)`,
    )
      .bind(id, workspace.organizationId)
      .run()
    await resumeSyncJobs(env, Date.now())
    const { data } = await expectJson<Job>(200, workspace.manage.get(`/scim/sync-jobs/${id}`))
    expect(data).toMatchObject({ status: "succeeded", synced_groups: 0 })
  })
})
