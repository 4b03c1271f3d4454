import { afterEach, describe, expect, test, vi } from "vitest"
import * as z from "zod"
import { addGroup, addUser, newDirectory } from "../scim/directory.ts"
import { client, expectJson, newWorkspace, type Workspace } from "../support/world.ts"
import { ScimGroup, ScimGroupMapping } from "./records.ts"
import { expectRejection } from "./rejection.ts"

type List = { data: { id: string }[]; total_count: number }
type One = { data: { id: string } }

afterEach(() => vi.restoreAllMocks())

const addTeam = async ({ manage }: Workspace) =>
  (await expectJson<One>(201, manage.post("/workspaces", { name: "Team", slug: "team" }))).data.id

test.each(["/byok", "/guardrails"])("GET %s is 400 without a default workspace unless one is named", async (path) => {
  const workspace = await newWorkspace()
  const { manage, workspaceId } = workspace
  const team = await addTeam(workspace)
  await expectJson(200, manage.get(path))
  await expectJson(200, manage.delete(`/workspaces/${workspaceId}?confirm_default_workspace_deletion=true`))
  const { message } = await expectRejection(400, manage.get(path))
  expect(message).toContain("workspace_id")
  await expectJson(200, manage.get(`${path}?workspace_id=${team}`))
})

test.each([
  ["/byok", { provider: "openai", key: "sk-proj-0123456789abcdef" }],
  ["/guardrails", { name: "Rail" }],
])("GET %s lists the default workspace, or the named one", async (path, input) => {
  const workspace = await newWorkspace()
  const { manage, workspaceId } = workspace
  const team = await addTeam(workspace)
  const here = await expectJson<One>(201, manage.post(path, input))
  const there = await expectJson<One>(201, manage.post(path, { ...input, workspace_id: team }))
  const idsOf = async (query = "") => {
    const { data, total_count: count } = await expectJson<List>(200, manage.get(path + query))
    expect(count).toBe(data.length)
    return data.map(({ id }) => id)
  }
  expect(await idsOf()).toEqual([here.data.id])
  expect(await idsOf(`?workspace_id=${workspaceId}`)).toEqual([here.data.id])
  expect(await idsOf(`?workspace_id=${team}`)).toEqual([there.data.id])
})

test("GET /guardrails/{id}/assignments/keys accepts a page size of 1 to 100 and a skip count", async () => {
  const { manage } = await newWorkspace()
  const { data } = await expectJson<One>(201, manage.post("/guardrails", { name: "Rail" }))
  const path = `/guardrails/${data.id}/assignments/keys`
  for (const query of ["limit=1", "limit=100", "offset=0"]) await expectJson(200, manage.get(`${path}?${query}`))
  for (const query of ["limit=0", "limit=101", "offset=-1"]) await expectRejection(400, manage.get(`${path}?${query}`))
})

test.each([
  ["GET", "/guardrails/no-uuid/assignments/keys"],
  ["GET", "/observability/destinations/no-uuid"],
  ["GET", "/scim/sync-jobs/no-uuid"],
  ["PATCH", "/interns/no-uuid"],
  ["GET", "/interns/no-uuid/daemon"],
  ["PUT", "/vault/interns/no-uuid/secrets/token"],
])("%s %s: an id that is not a UUID is rejected", async (method, path) => {
  const { as, manage } = await newWorkspace()
  const by = /interns/.test(path) ? as : manage
  const response = await by.call(method, path, method === "GET" ? undefined : { hosts: ["a.example.com"], value: "v" })
  await expectRejection(404, Promise.resolve(response))
})

test("a preset in a workspace of another organization is a 404", async () => {
  const [mine, theirs] = [await newWorkspace(), await newWorkspace()]
  const path = `/presets/team/responses?workspace_id=${theirs.workspaceId}`
  await expectRejection(404, mine.manage.post(path, { model: "sim/echo" }))
})

test("a SCIM group and its mapping have every field", async () => {
  const { workspace, push } = await newDirectory()
  const ada = await addUser(push, "ada")
  const group = await addGroup(push, "Engineers", ada.id)
  const groups = await expectJson<List>(200, workspace.manage.get("/scim/groups"))
  expect(z.array(ScimGroup).min(1).safeParse(groups.data).error, JSON.stringify(groups)).toBeUndefined()
  expect(groups.total_count).toBe(1)
  const input = { scim_group_id: group.id, workspace_id: await addTeam(workspace) }
  const { data } = await expectJson<One>(200, workspace.manage.post("/scim/group-mappings", input))
  expect(ScimGroupMapping.safeParse(data).error, JSON.stringify(data)).toBeUndefined()
  expect(data).toMatchObject({ ...input, role: "member", organization_id: workspace.organizationId })
})

test("the charge endpoint is gone for every key and body, and names the web purchase flow", async () => {
  const { as } = await newWorkspace()
  for (const by of [client(), as]) {
    for (const body of [{}, { amount: 5 }, "{oops"]) {
      const { message } = await expectRejection(410, by.call("POST", "/credits/vendor", body))
      expect(message).toMatch(/removed.*web purchase/)
    }
  }
})

describe("the content of a file at a provider", () => {
  const withKey = async (provider: string) => {
    const workspace = await newWorkspace()
    await expectJson(201, workspace.manage.post("/byok", { provider, key: "own-vendor-key-0123456789" }))
    return workspace
  }
  const mockFetch = (answer: () => Response) => vi.spyOn(globalThis, "fetch").mockImplementation(async () => answer())

  test.each(["openai", "anthropic"])(
    "is read at %s with the workspace's credential, as raw bytes",
    async (provider) => {
      const { as } = await withKey(provider)
      const bytes = new Uint8Array([0, 255, 128, 10])
      mockFetch(() => new Response(bytes))
      const answer = await as.get(`/files/f1/content?provider=${provider}`)
      expect([answer.status, new Uint8Array(await answer.arrayBuffer())]).toEqual([200, bytes])
    },
  )

  test("is rejected at any other provider, and without a credential", async () => {
    const { as } = await newWorkspace()
    await expectRejection(400, as.get("/files/f1/content?provider=mistral"))
    await expectRejection(403, as.get("/files/f1/content?provider=openai"))
    await expectRejection(400, as.get("/files/f1/content?workspace_id=no-uuid"))
  })

  test.each([
    [400, 400],
    [403, 403],
    [404, 404],
    [429, 429],
    [500, 502],
    [503, 503],
  ])("with provider status %i is a %i", async (upstream, status) => {
    const { as } = await withKey("openai")
    mockFetch(() => Response.json({ error: { message: "It failed." } }, { status: upstream }))
    await expectRejection(status, as.get("/files/f1/content?provider=openai"))
  })
})
