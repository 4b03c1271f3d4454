import * as fc from "fast-check"
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest"
import { expectJson, newWorkspace, type Workspace } from "../support/world.ts"
import { addUser, newDirectory, scimClient } from "./directory.ts"
import { continueJob, memberEmails, people, read, stage, start, storedDirectory, sync } from "./pulled.ts"
import { newRemote, mockRemotes, TOKEN } from "./remote.ts"
import { runs } from "../support/runs.ts"
import { watchPolicyWrites } from "../support/policy-writes.ts"

watchPolicyWrites()

beforeAll(mockRemotes)
afterAll(() => void vi.restoreAllMocks())

type Directory = {
  id: string
  name: string
  token: string
  pull: { url: string; label: string } | null
  previous_token_expires_at: string | null
}
type Entry = { action: string; changes: Record<string, unknown> }

const WEEK_S = 604_800

const rotate = async ({ manage }: Workspace, id: string, body?: object) =>
  (await expectJson<{ data: Directory }>(200, manage.call("POST", `/scim/directories/${id}/token`, body))).data
const change = ({ manage }: Workspace, id: string, body: object) =>
  manage.call("PATCH", `/scim/directories/${id}`, body)
const listed = async ({ manage }: Workspace) =>
  (await expectJson<{ data: Directory[] }>(200, manage.get("/scim/directories"))).data
const statusOf = async (token: string) => (await scimClient(token)("GET", "/Users")).status

describe("the token of a directory", () => {
  let clock: { mockRestore: () => void } | undefined
  const moveClock = (at: number) => {
    clock?.mockRestore()
    clock = vi.spyOn(Date, "now").mockReturnValue(at)
  }
  afterEach(() => clock?.mockRestore())

  test("is replaced, and the former one is rejected at once", async () => {
    const { workspace, id, token } = await newDirectory()
    const rotated = await rotate(workspace, id)
    expect(rotated).toMatchObject({ id, previous_token_expires_at: null })
    expect(rotated.token).toMatch(/^scim-gw-v1-[\w-]{43}$/)
    expect([await statusOf(token), await statusOf(rotated.token)]).toEqual([401, 200])
  })

  test("can stay valid for a time, while users, groups and members stay as they are", async () => {
    const { workspace, id, token, push } = await newDirectory()
    const user = await addUser(push, "ada")
    const now = Date.now()
    const rotated = await rotate(workspace, id, { keep_previous_seconds: 60 })
    expect([await statusOf(token), await statusOf(rotated.token)]).toEqual([200, 200])
    const [shown] = await listed(workspace)
    expect(shown?.previous_token_expires_at).toBe(rotated.previous_token_expires_at)
    expect(Date.parse(rotated.previous_token_expires_at ?? "")).toBeGreaterThanOrEqual(now + 60_000)
    moveClock(Date.parse(rotated.previous_token_expires_at ?? ""))
    expect([await statusOf(token), await statusOf(rotated.token)]).toEqual([401, 200])
    expect((await listed(workspace))[0]?.previous_token_expires_at).toBeNull()
    await expectJson(200, scimClient(rotated.token)("GET", `/Users/${user.id}`))
    expect(await memberEmails(workspace)).toEqual(["ada"])
  })

  test("is in no list and no audit entry, which has only the time", async () => {
    const { workspace, id } = await newDirectory()
    const { token } = await rotate(workspace, id, { keep_previous_seconds: WEEK_S })
    const audit = await expectJson<{ data: Entry[] }>(200, workspace.manage.get("/audit"))
    const entry = audit.data.find(({ action }) => action === "scim_directory.rotate_token")
    expect(entry?.changes).toEqual({ keep_previous_seconds: WEEK_S })
    for (const text of [JSON.stringify(audit), JSON.stringify(await listed(workspace))])
      expect(text).not.toContain(token)
  })

  test.each([-1, WEEK_S + 1, 1.5, "60"])("is not kept for %s seconds", async (seconds) => {
    const { workspace, id, token } = await newDirectory()
    const path = `/scim/directories/${id}/token`
    await expectJson(400, workspace.manage.post(path, { keep_previous_seconds: seconds }))
    expect(await statusOf(token)).toBe(200)
  })

  test("is valid exactly until it is replaced, or until the time for which it was kept", async () => {
    const step = fc.oneof(
      fc.record({ keep: fc.option(fc.integer({ min: 0, max: 100 }), { nil: undefined }) }),
      fc.record({ wait: fc.integer({ min: 1, max: 120 }) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
        clock?.mockRestore()
        const { workspace, id, token } = await newDirectory()
        let now = Date.now()
        let current = token
        const former = new Map<string, number>()
        for (const one of steps) {
          if ("wait" in one) now += one.wait * 1000
          moveClock(now)
          if (!("keep" in one)) continue
          // Only one former token is valid.
          for (const expired of former.keys()) former.set(expired, 0)
          former.set(current, now + (one.keep ?? 0) * 1000)
          const body = one.keep === undefined ? {} : { keep_previous_seconds: one.keep }
          current = (await rotate(workspace, id, body)).token
        }
        const expected = [...former].map(([, until]) => (until > now ? 200 : 401))
        expect(await Promise.all([...former.keys()].map(statusOf))).toEqual(expected)
        expect(await statusOf(current)).toBe(200)
      }),
      { numRuns: runs(0.4) },
    )
  })

  test("replaced by two requests at once is the token of the one that succeeded", async () => {
    const { workspace, id } = await newDirectory()
    const both = [1, 2].map(() => workspace.manage.post(`/scim/directories/${id}/token`, {}))
    const responses = await Promise.all(both)
    const tokens = await Promise.all(
      responses
        .filter(({ status }) => status === 200)
        .map(async (response) => (await expectJson<{ data: Directory }>(200, response)).data.token),
    )
    for (const { status } of responses) expect([200, 409]).toContain(status)
    // Rotations that do not overlap both succeed, one after the other.
    const statuses = await Promise.all(tokens.map(statusOf))
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
  })

  test("is replaced by no member's key and no other organization", async () => {
    const { workspace, id, token } = await newDirectory()
    const other = await newWorkspace()
    await expectJson(403, workspace.as.post(`/scim/directories/${id}/token`, {}))
    await expectJson(404, other.manage.post(`/scim/directories/${id}/token`, {}))
    await expectJson(404, change(other, id, { name: "Taken" }))
    expect(await statusOf(token)).toBe(200)
    expect((await listed(workspace))[0]?.name).toBe("Okta")
  })
})

describe("a change of a directory", () => {
  test("renames it, and needs a name or a pull", async () => {
    const { workspace, id, token } = await newDirectory()
    const { data } = await expectJson<{ data: Directory }>(200, change(workspace, id, { name: "Entra" }))
    expect(data).toMatchObject({ id, name: "Entra", pull: null })
    expect((await listed(workspace))[0]).toEqual(data)
    expect(await statusOf(token)).toBe(200)
    await expectJson(400, change(workspace, id, {}))
    await expectJson(400, change(workspace, id, { pull: { token: TOKEN } }))
  })

  test("gives a pulled directory another token, which is never returned", async () => {
    const remote = newRemote(people("ada"))
    const { workspace, directory } = await stage(remote)
    expect((await sync(workspace)).status).toBe("succeeded")
    remote.token = "another-directory-token-9876543210"
    expect(await sync(workspace)).toMatchObject({ status: "failed" })
    const response = await change(workspace, directory.id, { pull: { token: remote.token } })
    expect(response.status).toBe(200)
    const audit = await (await workspace.manage.get("/audit")).text()
    for (const text of [await response.text(), audit]) expect(text).not.toContain(remote.token)
    remote.users = people("ada", "bob")
    expect((await sync(workspace)).status).toBe("succeeded")
    expect(await memberEmails(workspace)).toEqual(["ada", "bob"])
    await expectJson(400, workspace.manage.post(`/scim/directories/${directory.id}/token`, {}))
  })

  test("to another URL needs the token, because the stored one would be sent there", async () => {
    const remote = newRemote(people("ada"))
    const attacker = newRemote()
    const { workspace, directory } = await stage(remote)
    await expectJson(400, change(workspace, directory.id, { pull: { url: attacker.url } }))
    await expectJson(400, change(workspace, directory.id, { pull: { url: "https://10.0.0.1/scim", token: TOKEN } }))
    expect((await sync(workspace)).status).toBe("succeeded")
    expect(attacker.asked).toEqual([])
  })

  test("to another URL is not undone by a change of the token at the same time", async () => {
    const former = newRemote(people("ada"))
    const current = newRemote(people("bob"))
    const { workspace, directory } = await stage(former)
    const [moved, renewed] = await Promise.all([
      change(workspace, directory.id, { pull: { url: current.url, token: TOKEN } }),
      change(workspace, directory.id, { pull: { token: TOKEN } }),
      change(workspace, directory.id, { name: "Entra" }).then((response) => expectJson(200, response)),
    ])
    for (const { status } of [moved, renewed]) expect([200, 409]).toContain(status)
    const [shown] = await listed(workspace)
    expect(shown?.name).toBe("Entra")
    expect(shown?.pull?.url).toBe(moved.status === 200 ? current.url : former.url)
  })

  test("to another URL during a pull starts it again, and mixes no users of both", async () => {
    const former = newRemote(people("ada", "bob", "cy", "dee"))
    const { workspace, directory } = await stage(former)
    expect((await sync(workspace)).status).toBe("succeeded")
    for (const steps of [1, 2, 3, 4]) {
      former.users = people("ada", "bob", "cy", "dee", "eve")
      const current = newRemote(people("ada", "bob", `new-${steps}`))
      await change(workspace, directory.id, { pull: { url: former.url, token: TOKEN } })
      const job = await start(workspace)
      expect((await continueJob(workspace, job, steps)).status).toBe("running")
      await expectJson(200, change(workspace, directory.id, { pull: { url: current.url, token: TOKEN } }))
      for (let turn = 0; turn < 12 && (await read(workspace, job)).status === "running"; turn++) {
        await continueJob(workspace, job)
      }
      expect((await read(workspace, job)).status).toBe("succeeded")
      const { users } = await storedDirectory(workspace)
      expect(Object.keys(users).filter((name) => users[name] === 1)).toEqual(["ada", "bob", `new-${steps}`])
      expect(users).not.toHaveProperty("eve")
    }
  })
})
