import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { expectJson, type Workspace } from "../support/world.ts"
import { watchPolicyWrites } from "../support/policy-writes.ts"
import { continueJob, free, memberEmails, people, read, stage, start, storedDirectory, sync } from "./pulled.ts"
import { crew, list, mockRemotes, newRemote, person } from "./remote.ts"

watchPolicyWrites()

beforeAll(mockRemotes)
afterAll(() => void vi.restoreAllMocks())

type Groups = { data: { id: string; display_name: string }[] }
type Mappings = { total_count: number }

async function mapGroup({ manage, workspaceId }: Workspace, name: string): Promise<void> {
  const { data } = await expectJson<Groups>(200, manage.get("/scim/groups"))
  const scim_group_id = data.find((group) => group.display_name === name)?.id
  await expectJson(200, manage.post("/scim/group-mappings", { scim_group_id, workspace_id: workspaceId }))
}

const isList = (path: string, kind: string) => path.startsWith(`/${kind}?`)

describe("a list of an upstream directory", () => {
  test("that ends early with a matching total deletes no group and no mapping", async () => {
    const remote = newRemote(people("ada", "bob"), [crew("One", "ada"), crew("Two", "bob")])
    const { workspace } = await stage(remote)
    await sync(workspace)
    await mapGroup(workspace, "Two")
    const before = await storedDirectory(workspace)
    for (const groups of [[], [crew("One", "ada")]]) {
      remote.fault = (path) => (isList(path, "Groups") ? list(groups, groups.length) : undefined)
      expect(await sync(workspace)).toMatchObject({
        status: "failed",
        error_message: expect.stringContaining("its list of groups ends early"),
      })
      expect(await storedDirectory(workspace)).toEqual(before)
    }
    expect((await expectJson<Mappings>(200, workspace.manage.get("/scim/group-mappings"))).total_count).toBe(1)
  })

  test("without members of groups leaves their members, which are requested by id", async () => {
    const remote = newRemote(people("ada", "bob"), [crew("One", "ada", "bob"), crew("Two", "bob"), crew("Nobody")])
    const { workspace } = await stage(remote)
    remote.fault = (path, { groups }) =>
      isList(path, "Groups")
        ? list(
            groups.map(({ id, displayName }) => ({ id, displayName })),
            groups.length,
          )
        : undefined
    for (const two of ["bob", "ada"]) {
      remote.groups = [crew("One", "ada", "bob"), crew("Two", two), { id: "g-Nobody", displayName: "Nobody" }]
      expect((await sync(workspace)).status).toBe("succeeded")
      expect((await storedDirectory(workspace)).groups).toEqual({ One: "ada,bob", Two: two, Nobody: "" })
    }
  })

  test.each([
    ["returns 410", () => new Response("", { status: 410 })],
    ["returns as inactive", () => Response.json(person("bob", { active: "False" }))],
  ])("without a user whom the service %s by id deactivates the user", async (_, answer) => {
    const remote = newRemote(people("ada", "bob"))
    const { workspace } = await stage(remote)
    await sync(workspace)
    remote.fault = (path) => {
      if (isList(path, "Users")) return list(people("ada"), 1)
      return path === "/Users/r-bob" ? answer() : undefined
    }
    expect((await sync(workspace)).status).toBe("succeeded")
    expect((await storedDirectory(workspace)).users).toEqual({ ada: 1, bob: 0 })
    expect(await memberEmails(workspace)).toEqual(["ada"])
  })

  test("that is empty may have null instead of resources", async () => {
    const remote = newRemote(people("ada"))
    const { workspace } = await stage(remote)
    remote.fault = (path) =>
      isList(path, "Groups") ? Response.json({ totalResults: 0, itemsPerPage: 0, Resources: null }) : undefined
    expect((await sync(workspace)).status).toBe("succeeded")
    expect((await storedDirectory(workspace)).users).toEqual({ ada: 1 })
  })

  test("without many users is confirmed although the service allows few requests at a time", async () => {
    const names = Array.from({ length: 8 }, (_, index) => `u${index}`)
    const remote = newRemote(people("ada", ...names))
    const { workspace } = await stage(remote)
    await sync(workspace)
    remote.users = people("ada")
    let allowed = 0
    remote.fault = (path) => {
      if (!path.startsWith("/Users/")) return undefined
      allowed -= 1
      return allowed < 0 ? new Response("", { status: 429, headers: { "retry-after": "1" } }) : undefined
    }
    const id = await start(workspace)
    for (let turn = 0; turn < 12; turn++) {
      allowed = 1
      if ((await continueJob(workspace, id)).status !== "running") break
    }
    expect(await memberEmails(workspace)).toEqual(["ada"])
  })
})

test("a job that waited applies no older state than the job after it", async () => {
  const remote = newRemote(people("ada", "bob"), [crew("Crew", "ada")])
  const { workspace } = await stage(remote)
  await sync(workspace)
  remote.fault = (path) => (isList(path, "Groups") ? new Response("", { status: 429 }) : undefined)
  const first = await start(workspace)
  expect((await continueJob(workspace, first)).status).toBe("running")
  remote.users = people("ada")
  remote.fault = () => undefined
  const second = await start(workspace)
  expect((await continueJob(workspace, second)).status).not.toBe("failed")
  expect((await continueJob(workspace, first)).status).toBe("succeeded")
  expect((await continueJob(workspace, second)).status).toBe("succeeded")
  expect((await storedDirectory(workspace)).users).toEqual({ ada: 1, bob: 0 })
})

test("a job that fails does not keep the job after it from running", async () => {
  const remote = newRemote(people("ada"))
  const { workspace } = await stage(remote)
  remote.fault = (path) => (isList(path, "Groups") ? new Response("", { status: 429 }) : undefined)
  const first = await start(workspace)
  expect((await continueJob(workspace, first)).status).toBe("running")
  let refusals = 1
  remote.fault = () => (refusals-- > 0 ? new Response("", { status: 403 }) : undefined)
  await free(first)
  expect((await continueJob(workspace, await start(workspace))).status).toBe("succeeded")
  expect((await read(workspace, first)).status).toBe("failed")
})
