import { env } from "cloudflare:workers"
import { describe, expect, test } from "vitest"
import { OrganizationMembers, WorkspaceMembers } from "../../src/members/schemas.ts"
import { client, newKey, newWorkspace, operatorClient, expectJson, type Workspace } from "../support/world.ts"
import { watchPolicyWrites } from "../support/policy-writes.ts"

watchPolicyWrites()

type Failure = { error: { message: string } }
type Person = { data: { id: string; role: string } }

let people = 0
async function addPerson({ manage }: Workspace, input: Record<string, unknown> = {}): Promise<string> {
  const body = { email: `Person${people++}@example.com`, ...input }
  return (await expectJson<Person>(201, manage.post("/organization/members", body))).data.id
}

let teams = 0
async function addTeam({ manage }: Workspace): Promise<string> {
  const made = manage.post("/workspaces", { name: "T", slug: `crew-${teams++}` })
  return (await expectJson<{ data: { id: string } }>(201, made)).data.id
}

const membersOf = async ({ manage }: Workspace, id: string) =>
  WorkspaceMembers.strict().parse(await expectJson<unknown>(200, manage.get(`/workspaces/${id}/members`)))

const fromDirectory = (userId: string) =>
  env.DB.batch([
    env.DB.prepare("UPDATE members SET source = 'scim' WHERE user_id = ?").bind(userId),
    env.DB.prepare("UPDATE workspace_members SET source = 'scim' WHERE user_id = ?").bind(userId),
  ])

describe("members of an organization", () => {
  test.each([
    ["a limit", { limit: 5 }],
    ["an expiry", { expires_at: "2999-01-01T00:00:00Z" }],
  ])("are not admitted by a management key with %s, since they sign in without it", async (_, terms) => {
    const workspace = await newWorkspace()
    const id = await addPerson(workspace)
    const directory = await expectJson<{ data: { id: string } }>(
      201,
      workspace.manage.post("/scim/directories", { name: "Corporate" }),
    )
    const { as } = await newKey(workspace, { kind: "management", ...terms })
    const directories = "/scim/directories"
    const refused = [
      as.post("/organization/members", { email: "ada@example.com", role: "org:admin" }),
      as.post("/organization/members", { email: "ada@example.com", role: "org:member" }),
      as.patch(`/organization/members/${id}`, { role: "org:admin" }),
      as.patch(`/organization/members/${id}`, { email: "ada@example.com" }),
      as.post(directories, { name: "Another" }),
      as.patch(`${directories}/${directory.data.id}`, { name: "Another" }),
      as.post(`${directories}/${directory.data.id}/token`, {}),
    ]
    for (const one of refused) await expectJson(403, one)
    await expectJson(200, as.get("/organization/members"))
    await expectJson(200, as.delete(`/organization/members/${id}`))
  })

  test("are added, listed, changed and removed", async () => {
    const deps = await newWorkspace()
    const { manage } = deps
    const id = await addPerson(deps, { user_id: "u-1", first_name: "Ada", email: "Ada@Example.com" })
    expect(id).toBe("u-1")
    const list = OrganizationMembers.strict().parse(await expectJson<unknown>(200, manage.get("/organization/members")))
    expect(list.total_count).toBe(2)
    expect(list.data[0]).toEqual({
      id,
      email: "ada@example.com",
      first_name: "Ada",
      last_name: null,
      role: "org:member",
    })
    expect(list.data[1]).toMatchObject({ email: "", role: "org:admin" })
    const change = { first_name: null, last_name: "L.", role: "org:admin" }
    const { data } = await expectJson<Person>(200, manage.patch(`/organization/members/${id}`, change))
    expect(data).toEqual({ ...list.data[0], ...change })
    expect(await expectJson(200, manage.delete(`/organization/members/${id}`))).toEqual({ deleted: true })
    await expectJson(404, manage.delete(`/organization/members/${id}`))
    const entries = await expectJson<{ data: { action: string }[] }>(200, manage.get(`/audit?resource_id=${id}`))
    expect(entries.data.map(({ action }) => action)).toEqual(["member.remove", "member.update", "member.add"])
    expect(JSON.stringify(entries)).not.toContain("ada@")
  })

  test("are accessible only in their organization", async () => {
    const [mine, theirs] = [await newWorkspace(), await newWorkspace()]
    const id = await addPerson(mine)
    await expectJson(404, theirs.manage.patch(`/organization/members/${id}`, { first_name: "x" }))
    await expectJson(404, theirs.manage.delete(`/organization/members/${id}`))
    expect(await (await theirs.manage.get("/organization/members")).text()).not.toContain(id)
    await expectJson(403, mine.as.get("/organization/members"))
    await expectJson(401, client().get("/organization/members"))
  })

  test("have a unique id and email", async () => {
    const deps = await newWorkspace()
    await addPerson(deps, { user_id: "same", email: "same@example.com" })
    const add = (body: object) => expectJson<Failure>(409, deps.manage.post("/organization/members", body))
    expect((await add({ user_id: "same", email: "b@example.com" })).error.message).toContain("user_id")
    expect((await add({ email: "SAME@example.com" })).error.message).toContain("email")
    await addPerson(await newWorkspace(), { user_id: "same", email: "same@example.com" })
  })

  test("start with an owner, whose email can be set at creation", async () => {
    type Made = { data: { management_key: string; owner_user_id: string } }
    const body = { name: "Test", owner_email: "Owner@Example.com" }
    const { data } = await expectJson<Made>(201, operatorClient.post("/organizations", body))
    const list = await expectJson<unknown>(200, client(data.management_key).get("/organization/members"))
    expect(list).toMatchObject({ data: [{ id: data.owner_user_id, email: "owner@example.com", role: "org:admin" }] })
  })

  test("include the owner, who cannot be removed or demoted", async () => {
    const { manage } = await newWorkspace()
    const { data } = await expectJson<{ data: { id: string }[] }>(200, manage.get("/organization/members"))
    const path = `/organization/members/${data[0]?.id}`
    await expectJson(409, manage.delete(path))
    await expectJson(409, manage.patch(path, { role: "org:member" }))
    await expectJson(200, manage.patch(path, { role: "org:admin", email: "owner@example.com" }))
    await expectJson(409, manage.delete(path))
  })

  test("managed by the directory cannot be removed or changed", async () => {
    const deps = await newWorkspace()
    const id = await addPerson(deps)
    await fromDirectory(id)
    const { error } = await expectJson<Failure>(409, deps.manage.delete(`/organization/members/${id}`))
    expect(error.message).toContain("directory")
    await expectJson(409, deps.manage.patch(`/organization/members/${id}`, { role: "org:admin" }))
  })

  test.each([
    [{}, "email"],
    [{ email: "nobody" }, "email"],
    [{ email: "a@example.com", role: "owner" }, "role"],
    [{ email: "a@example.com", user_id: "a b" }, "user_id"],
    [{ email: "a@example.com", password: "x" }, "password"],
  ])("are rejected with %j", async (body, field) => {
    const { manage } = await newWorkspace()
    const { error } = await expectJson<Failure>(400, manage.post("/organization/members", body))
    expect(error.message).toContain(field)
  })
})

describe("members of a workspace", () => {
  test("are added once with their role in the organization, and removed", async () => {
    const deps = await newWorkspace()
    const team = await addTeam(deps)
    const [admin, member] = [await addPerson(deps, { role: "org:admin" }), await addPerson(deps)]
    const add = (ids: string[]) => deps.manage.post(`/workspaces/${team}/members/add`, { user_ids: ids })
    const first = await expectJson<{ added_count: number; data: { role: string }[] }>(200, add([admin]))
    expect(first).toMatchObject({ added_count: 1, data: [{ user_id: admin, workspace_id: team, role: "admin" }] })
    const second = await expectJson<{ added_count: number }>(200, add([admin, member, member]))
    expect(second).toMatchObject({ added_count: 1, data: [{ user_id: member, role: "member" }] })
    expect((await membersOf(deps, team)).total_count).toBe(2)
    await expectJson(200, deps.manage.patch(`/organization/members/${member}`, { role: "org:admin" }))
    expect((await membersOf(deps, team)).data.map(({ role }) => role)).toEqual(["admin", "admin"])
    const removal = deps.manage.post(`/workspaces/${team}/members/remove`, { user_ids: [member, "nobody"] })
    expect(await expectJson(200, removal)).toEqual({ removed_count: 1 })
    expect((await membersOf(deps, team)).data.map(({ user_id: id }) => id)).toEqual([admin])
  })

  test("of the default workspace are all members of the organization", async () => {
    const deps = await newWorkspace()
    const id = await addPerson(deps)
    const { data, total_count: total } = await membersOf(deps, "default")
    expect(total).toBe(2)
    expect(data[0]).toMatchObject({ user_id: id, role: "member", workspace_id: deps.workspaceId })
    expect((await membersOf(deps, deps.workspaceId)).data).toEqual(data)
    const path = "/workspaces/default/members"
    expect(await expectJson(200, deps.manage.post(`${path}/add`, { user_ids: [id] }))).toEqual({
      added_count: 0,
      data: [],
    })
    await expectJson(400, deps.manage.post(`${path}/remove`, { user_ids: [id] }))
  })

  test("must be members of the organization", async () => {
    const [deps, other] = [await newWorkspace(), await newWorkspace()]
    const [team, stranger] = [await addTeam(deps), await addPerson(other)]
    const body = { user_ids: [stranger] }
    const { error } = await expectJson<Failure>(400, deps.manage.post(`/workspaces/${team}/members/add`, body))
    expect(error.message).toContain(stranger)
    await expectJson(404, other.manage.post(`/workspaces/${team}/members/add`, body))
    await expectJson(404, other.manage.post(`/workspaces/${team}/members/remove`, body))
    await expectJson(404, other.manage.get(`/workspaces/${team}/members`))
  })

  test("cannot be removed while they have active keys or are managed by the directory", async () => {
    const deps = await newWorkspace()
    const [team, id] = [await addTeam(deps), await addPerson(deps)]
    const body = { user_ids: [id] }
    await expectJson(200, deps.manage.post(`/workspaces/${team}/members/add`, body))
    const remove = () => deps.manage.post(`/workspaces/${team}/members/remove`, body)
    const { hash } = await newKey(deps, { workspace_id: team, creator_user_id: id })
    expect((await expectJson<Failure>(400, remove())).error.message).toContain("active API keys")
    await expectJson(200, deps.manage.delete(`/keys/${hash}`))
    await fromDirectory(id)
    expect((await expectJson<Failure>(400, remove())).error.message).toContain("directory")
    expect((await membersOf(deps, team)).total_count).toBe(1)
  })

  test("are removed from all workspaces with the organization", async () => {
    const deps = await newWorkspace()
    const [one, two, id] = [await addTeam(deps), await addTeam(deps), await addPerson(deps)]
    for (const team of [one, two]) {
      await expectJson(200, deps.manage.post(`/workspaces/${team}/members/add`, { user_ids: [id] }))
    }
    await expectJson(200, deps.manage.delete(`/organization/members/${id}`))
    for (const team of [one, two]) expect((await membersOf(deps, team)).total_count).toBe(0)
    expect((await membersOf(deps, "default")).total_count).toBe(1)
  })
})
