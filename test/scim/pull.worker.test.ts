import { env } from "cloudflare:workers"
import * as fc from "fast-check"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { runSyncJob } from "../../src/scim/sync.ts"
import { newKey, newWorkspace, expectJson, type Workspace } from "../support/world.ts"
import { scimClient, queueSyncJob } from "./directory.ts"
import { crew, list, newRemote, person, mockRemotes, TOKEN } from "./remote.ts"
import { eventually } from "../support/eventually.ts"
import { runs } from "../support/runs.ts"
import { watchPolicyWrites } from "../support/policy-writes.ts"

watchPolicyWrites()

beforeAll(mockRemotes)
afterAll(() => void vi.restoreAllMocks())

type Job = {
  id: string
  status: string
  synced_groups: number | null
  deleted_groups: number | null
  error_message: string | null
}
type Remote = ReturnType<typeof newRemote>
type Directory = { id: string; base_url: null; token: null; pull: { url: string; label: string } }

async function connect({ manage }: Workspace, { url }: Remote, name = "Remote"): Promise<Directory> {
  const made = manage.post("/scim/directories", { name, pull: { url, token: TOKEN } })
  return (await expectJson<{ data: Directory }>(201, made)).data
}

async function stage(remote: Remote) {
  const workspace = await newWorkspace()
  return { workspace, remote, directory: await connect(workspace, remote) }
}

const start = (workspace: Workspace) => queueSyncJob(workspace, "pull")

const read = async ({ manage }: Workspace, id: string) =>
  (await expectJson<{ data: Job }>(200, manage.get(`/scim/sync-jobs/${id}`))).data

/** Continues a stopped job, as the scheduler does after a wait. */
async function continueJob(workspace: Workspace, id: string, steps?: number): Promise<Job> {
  await env.DB.prepare("UPDATE scim_sync_jobs SET leased_until = 0 WHERE id = ?").bind(id).run()
  await runSyncJob(env, workspace.organizationId, id, steps)
  return read(workspace, id)
}

async function sync(workspace: Workspace): Promise<Job> {
  const id = await start(workspace)
  let job = await continueJob(workspace, id)
  for (let turn = 0; turn < 12 && job.status === "running"; turn++) job = await continueJob(workspace, id)
  return job
}

/** Stored users with their active state, and groups with their members' names. */
async function storedDirectory({ organizationId }: Workspace) {
  const [users, groups] = await env.DB.batch<{ name: string; about: string | number }>([
    env.DB.prepare(
      "SELECT user_name AS name, active AS about FROM scim_users WHERE organization_id = ? ORDER BY user_name",
    ).bind(organizationId),
    env.DB.prepare(
      `SELECT display_name AS name, (SELECT group_concat(user_name) FROM (SELECT u.user_name FROM scim_group_members m
         JOIN scim_users u ON u.organization_id = m.organization_id AND u.id = m.user_id WHERE m.group_id = g.id
         ORDER BY u.user_name)) AS about
       FROM scim_groups g WHERE organization_id = ? AND deleted_at IS NULL ORDER BY display_name`,
    ).bind(organizationId),
  ])
  const plain = (text: string) => text.replaceAll("@example.com", "")
  const asEntries = (result?: D1Result<{ name: string; about: string | number }>) =>
    Object.fromEntries((result?.results ?? []).map(({ name, about }) => [plain(name), about]))
  const crews = Object.entries(asEntries(groups)).map(([name, about]) => [name, plain(String(about ?? ""))])
  return { users: asEntries(users), groups: Object.fromEntries(crews) as Record<string, string> }
}

const memberEmails = async ({ manage }: Workspace) => {
  type Members = { data: { id: string; email: string | null }[] }
  const { data } = await expectJson<Members>(200, manage.get("/organization/members?limit=100"))
  return data
    .flatMap(({ email }) => (email?.endsWith("@example.com") ? [email.replace("@example.com", "")] : []))
    .toSorted()
}

const people = (...names: string[]) => names.map((name) => person(name))

describe("a pulled directory", () => {
  test("is connected with a URL and a token that is never returned, and accepts no pushes", async () => {
    const { workspace, remote, directory } = await stage(newRemote())
    expect(directory).toMatchObject({ base_url: null, token: null, pull: { url: remote.url, label: "rem...6789" } })
    const listed = await (await workspace.manage.get("/scim/directories")).text()
    const audit = await (await workspace.manage.get("/audit")).text()
    const row = await env.DB.prepare("SELECT * FROM scim_directories WHERE id = ?").bind(directory.id).first()
    for (const text of [listed, audit, JSON.stringify(row)]) {
      expect(text).toContain(remote.url)
      expect(text).not.toContain(TOKEN)
    }
    expect((await scimClient(TOKEN)("GET", "/Users")).status).toBe(401)
  })

  test.each([
    ["no URL", { url: "directory", token: "t" }],
    ["a private address", { url: "https://10.0.0.1/scim", token: "t" }],
    ["plain http", { url: "http://directory.example.com/scim", token: "t" }],
    ["a URL with a password", { url: "https://a:b@directory.example.com/scim", token: "t" }],
    ["no token", { url: "https://directory.example.com/scim" }],
    ["a token with a line break", { url: "https://directory.example.com/scim", token: "a\nb" }],
  ])("is rejected with %s", async (_, pull) => {
    const workspace = await newWorkspace()
    await expectJson(400, workspace.manage.post("/scim/directories", { name: "R", pull }))
  })

  test("is read page by page by a job, and its groups give memberships", async () => {
    const remote = newRemote(
      [...people("ada", "bob", "cy", "dee"), person("off", { active: false })],
      [crew("Crew", "ada", "bob", "off", "nobody"), crew("Empty"), crew("Third", "cy")],
    )
    const { workspace } = await stage(remote)
    const { data } = await expectJson<{ data: Job }>(202, workspace.manage.call("POST", "/scim/sync-jobs"))
    await eventually(async () => expect((await read(workspace, data.id)).status).toBe("succeeded"))
    expect(await read(workspace, data.id)).toMatchObject({ synced_groups: 3, deleted_groups: 0, error_message: null })
    expect(await storedDirectory(workspace)).toEqual({
      users: { ada: 1, bob: 1, cy: 1, dee: 1, off: 0 },
      groups: { Crew: "ada,bob,off", Empty: "", Third: "cy" },
    })
    expect(await memberEmails(workspace)).toEqual(["ada", "bob", "cy", "dee"])
    expect(remote.asked.filter((path) => path.startsWith("GET /Users?"))).toEqual([
      "GET /Users?startIndex=1&count=100",
      "GET /Users?startIndex=3&count=100",
      "GET /Users?startIndex=5&count=100",
    ])
    const groups = await expectJson<{ data: { id: string; display_name: string }[] }>(
      200,
      workspace.manage.get("/scim/groups"),
    )
    const id = groups.data.find((group) => group.display_name === "Crew")?.id
    const body = { scim_group_id: id, workspace_id: workspace.workspaceId, role: "admin" }
    await expectJson(200, workspace.manage.post("/scim/group-mappings", body))
    const before = await env.DB.prepare("SELECT id, version FROM scim_users WHERE organization_id = ? ORDER BY id")
      .bind(workspace.organizationId)
      .all()
    expect((await sync(workspace)).status).toBe("succeeded")
    const after = await env.DB.prepare("SELECT id, version FROM scim_users WHERE organization_id = ? ORDER BY id")
      .bind(workspace.organizationId)
      .all()
    expect(after.results).toEqual(before.results)
  })

  test("deactivates removed users with their keys and memberships, and restores them when they return", async () => {
    const remote = newRemote(people("ada", "bob"), [crew("Crew", "ada", "bob")])
    const { workspace } = await stage(remote)
    await sync(workspace)
    type Members = { data: { id: string; email: string | null }[] }
    const members = await expectJson<Members>(200, workspace.manage.get("/organization/members"))
    const bob = members.data.find(({ email }) => email === "bob@example.com")?.id
    const key = await newKey(workspace, { creator_user_id: bob })
    await expectJson(200, key.as.get("/key"))
    remote.users = people("ada")
    expect((await sync(workspace)).status).toBe("succeeded")
    expect((await storedDirectory(workspace)).users).toEqual({ ada: 1, bob: 0 })
    expect(await memberEmails(workspace)).toEqual(["ada"])
    await expectJson(401, key.as.get("/key"))
    // Created again in the remote directory: the same member here.
    remote.users = [...people("ada"), { ...person("bob"), id: "r-bob-2" }]
    await sync(workspace)
    expect((await storedDirectory(workspace)).users).toEqual({ ada: 1, bob: 1 })
    const again = await expectJson<Members>(200, workspace.manage.get("/organization/members"))
    expect(again.data.find(({ email }) => email === "bob@example.com")?.id).toBe(bob)
  })

  test("applies renames, swapped names and deleted groups with their memberships", async () => {
    const remote = newRemote(people("ada", "bob"), [crew("One", "ada"), crew("Two", "bob")])
    const { workspace } = await stage(remote)
    await sync(workspace)
    remote.users = [person("bob", { id: "r-ada" }), person("ada", { id: "r-bob" })]
    remote.groups = [{ ...crew("One", "bob"), displayName: "Uno" }]
    const job = await sync(workspace)
    expect(job).toMatchObject({ status: "succeeded", deleted_groups: 1, synced_groups: 1 })
    expect(await storedDirectory(workspace)).toEqual({ users: { ada: 1, bob: 1 }, groups: { Uno: "ada" } })
  })

  test("of another organization is not read", async () => {
    const one = await stage(newRemote(people("ada")))
    const other = await newWorkspace()
    expect((await sync(other)).status).toBe("succeeded")
    expect(one.remote.asked).toEqual([])
  })

  test("is applied completely beside another one that fails", async () => {
    const { workspace } = await stage(newRemote(people("ada"), [crew("Crew", "ada")]))
    const broken = newRemote(people("bob"))
    broken.fault = () => new Response("no", { status: 403 })
    await connect(workspace, broken, "Broken")
    expect(await sync(workspace)).toMatchObject({
      status: "failed",
      error_message: "The directory Broken was not pulled: it answered 403.",
    })
    expect(await memberEmails(workspace)).toEqual(["ada"])
  })
})

const json = (body: unknown) => () => Response.json(body)

describe("a failed pull changes nothing, and the job has the reason", () => {
  const onGroups = (answer: () => Response) => (path: string) => (path.startsWith("/Groups") ? answer() : undefined)
  const page2 = (answer: () => Response) => (path: string) =>
    path.startsWith("/Users?startIndex=3") ? answer() : undefined

  test.each([
    ["401", onGroups(() => new Response("secret words", { status: 401 })), "it answered 401"],
    ["a service that is gone", onGroups(() => new Response("", { status: 404 })), "it answered 404"],
    ["repeated 500", onGroups(() => new Response("", { status: 500 })), "it answered 500, 5 times in a row"],
    [
      "repeated 429",
      page2(() => new Response("", { status: 429, headers: { "retry-after": "7" } })),
      "it answered 429, 5 times in a row",
    ],
    [
      "connections that break",
      page2(() => {
        throw new Error("connect ECONNREFUSED 10.1.2.3")
      }),
      "the connection failed, 5 times in a row",
    ],
    [
      "a response that is not JSON",
      page2(() => new Response('{"totalResults": 5, "Resour')),
      "its answer is not a JSON object",
    ],
    ["a response that is not a list", page2(json({ hello: 1 })), "its answer is not a SCIM list"],
    [
      "a user without a name",
      page2(() => list([{ id: "x" }], 5, 3)),
      "one of its users cannot be read: userName: is required.",
    ],
    ["a user without an id", page2(() => list([{ userName: "x" }], 5, 3)), "one of its users cannot be read: id:"],
    ["a list that ends early", page2(() => list([], 5, 3)), "its list of users ends early, or changes"],
    [
      "a list with a changing total",
      page2(() => list([person("x")], 9, 3)),
      "its list of users ends early, or changes",
    ],
    [
      "a duplicate user",
      page2(() => list(people("ada", "dee", "eve"), 5, 3)),
      "its list of users ends early, or changes",
    ],
    [
      "a user that is too large",
      page2(() => new Response("x".repeat(1_500_001))),
      "one of its users is larger than the gateway reads",
    ],
    [
      "two users with one address",
      page2(() =>
        list([person("new", { emails: [{ value: "ada@example.com" }] }), person("dee"), person("eve")], 5, 3),
      ),
      "have an address in common",
    ],
  ])("%s", async (_, fault, message) => {
    const remote = newRemote(people("ada", "bob", "cy", "dee", "eve"), [crew("Crew", "ada", "bob")])
    const { workspace } = await stage(remote)
    expect((await sync(workspace)).status).toBe("succeeded")
    const before = [await storedDirectory(workspace), await memberEmails(workspace)]
    remote.groups = [crew("Other", "cy")]
    remote.users = people("ada", "bob", "new", "dee", "eve")
    remote.fault = fault
    const job = await sync(workspace)
    expect(job.status).toBe("failed")
    expect(job.error_message).toContain(`The directory Remote was not pulled: `)
    expect(job.error_message).toContain(message)
    expect(job.error_message).not.toMatch(/secret words|10\.1\.2\.3/)
    expect([await storedDirectory(workspace), await memberEmails(workspace)]).toEqual(before)
    const left = await env.DB.prepare("SELECT count(*) AS count FROM scim_pulled WHERE job_id = ?").bind(job.id).first()
    expect(left).toEqual({ count: 0 })
    remote.fault = () => undefined
    expect((await sync(workspace)).status).toBe("succeeded")
    expect((await storedDirectory(workspace)).users).toEqual({ ada: 1, bob: 1, cy: 0, dee: 1, eve: 1, new: 1 })
  })

  test("Retry-After is honoured, and the job continues afterwards", async () => {
    const remote = newRemote(people("ada", "bob", "cy"))
    const { workspace } = await stage(remote)
    let isBusy = true
    remote.fault = page2(() => new Response("", { status: 429, headers: { "retry-after": "120" } }))
    const id = await start(workspace)
    const before = Date.now()
    expect((await continueJob(workspace, id)).status).toBe("running")
    const asked = remote.asked.length
    await runSyncJob(env, workspace.organizationId, id)
    expect(remote.asked).toHaveLength(asked)
    const row = await env.DB.prepare("SELECT leased_until FROM scim_sync_jobs WHERE id = ?")
      .bind(id)
      .first<{ leased_until: number }>()
    expect(row?.leased_until).toBeGreaterThanOrEqual(before + 120_000)
    isBusy = false
    remote.fault = () => (isBusy ? new Response("", { status: 429 }) : undefined)
    expect((await continueJob(workspace, id)).status).toBe("succeeded")
    expect(remote.asked.filter((path) => path === "GET /Users?startIndex=1&count=100")).toHaveLength(1)
  })

  test("a list that changes between two pages is read again, and the shift deactivates no user", async () => {
    const remote = newRemote(people("ada", "bob", "cy", "dee"))
    const { workspace } = await stage(remote)
    await sync(workspace)
    let isShifted = false
    remote.fault = (path) => {
      // Between the pages one user leaves and one is added: cy moves to the page that was already read.
      if (path.startsWith("/Users?startIndex=3") && !isShifted) {
        isShifted = true
        remote.users = people("bob", "cy", "dee", "eve")
      }
      return undefined
    }
    expect((await sync(workspace)).status).toBe("succeeded")
    expect((await storedDirectory(workspace)).users).toEqual({ ada: 0, bob: 1, cy: 1, dee: 1, eve: 1 })
  })

  test("after any fault the directory is as it was or as the service has it", async () => {
    const names = ["a", "b", "c", "d"]
    const faults = ["none", "500", "429", "cut", "empty", "shift"] as const
    const round = fc.record({
      users: fc.subarray(names),
      members: fc.subarray(names),
      faults: fc.array(fc.constantFrom(...faults), { maxLength: 8 }),
      crashAfter: fc.nat(6),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(round, { minLength: 1, maxLength: 4 }), async (rounds) => {
        const remote = newRemote()
        const { workspace } = await stage(remote)
        for (const one of rounds) {
          const before = await storedDirectory(workspace)
          remote.users = people(...one.users)
          remote.groups = [crew("Crew", ...one.members)]
          const script = [...one.faults]
          remote.fault = () => {
            const fault = script.shift() ?? "none"
            if (fault === "500" || fault === "429") return new Response("", { status: Number(fault) })
            if (fault === "cut") return new Response('{"totalResults":')
            if (fault === "empty") return list([], 4)
            if (fault === "shift") remote.users = remote.users.toReversed()
            return undefined
          }
          const id = await start(workspace)
          // The runtime stops after some step, and another one continues.
          let job = await continueJob(workspace, id, one.crashAfter)
          if (job.status === "queued") job = await continueJob(workspace, id)
          for (let turn = 0; turn < 12 && job.status === "running"; turn++) job = await continueJob(workspace, id)
          const after = await storedDirectory(workspace)
          if (job.status === "failed") {
            expect(after).toEqual(before)
            continue
          }
          expect(job.status).toBe("succeeded")
          expect(Object.keys(after.users).filter((name) => after.users[name] === 1)).toEqual(one.users)
          expect(after.groups).toEqual({
            Crew: one.members.filter((name) => name in after.users).join(","),
          })
          expect(await memberEmails(workspace)).toEqual(one.users)
        }
      }),
      { numRuns: runs(0.2) },
    )
  })
})
