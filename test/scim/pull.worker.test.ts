import { env } from "cloudflare:workers"
import * as fc from "fast-check"
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest"
import { runSyncJob } from "../../src/scim/sync/sync.ts"
import { newKey, newWorkspace, expectJson } from "../support/world.ts"
import { scimClient } from "./directory.ts"
import {
  connect,
  continueJob,
  type Job,
  memberEmails,
  people,
  read,
  stage,
  start,
  storedDirectory,
  sync,
} from "./pulled.ts"
import { crew, list, newRemote, person, mockRemotes, TOKEN } from "./remote.ts"
import { eventually } from "../support/eventually.ts"
import { runs } from "../support/runs.ts"
import { watchPolicyWrites } from "../support/policy-writes.ts"

watchPolicyWrites()

beforeAll(mockRemotes)
afterAll(() => void vi.restoreAllMocks())

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
      error_message: "The directory Broken was not pulled: it returned 403.",
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
    ["401", onGroups(() => new Response("secret words", { status: 401 })), "it returned 401"],
    ["a service that is gone", onGroups(() => new Response("", { status: 404 })), "it returned 404"],
    ["repeated 500", onGroups(() => new Response("", { status: 500 })), "it returned 500, 5 times in a row"],
    [
      "repeated 429",
      page2(() => new Response("", { status: 429, headers: { "retry-after": "7" } })),
      "it returned 429, 5 times in a row",
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
      "its response is not a JSON object",
    ],
    ["a response that is not a list", page2(json({ hello: 1 })), "its response is not a SCIM list"],
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
