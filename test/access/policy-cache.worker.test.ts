import { env } from "cloudflare:workers"
import * as fc from "fast-check"
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest"
import { PolicyCache } from "../../src/access/policy-cache.ts"
import { CHANGE_DELAY_MS, PolicyChanges } from "../../src/access/policy-changes.ts"
import { NEWEST_REVISION } from "../../src/access/policy-changes-store.ts"
import { policyEntry } from "../support/policy-writes.ts"
import { runs } from "../support/runs.ts"
import { newWorkspace } from "../support/world.ts"

type Read = { name: string; revision: number; readAt: number }

/** Reads the name of an organization, as a key is read. */
async function read(organizationId: string): Promise<Read> {
  const readAt = Date.now()
  const row = await env.DB.prepare(`SELECT name, ${NEWEST_REVISION} AS revision FROM organizations WHERE id = ?`)
    .bind(organizationId)
    .first<{ name: string; revision: number }>()
  if (!row) throw new Error("organization not found")
  return { ...row, readAt }
}

/** An isolate that caches names of organizations. */
function newIsolate() {
  const changes = new PolicyChanges()
  const cache = new PolicyCache<string>(10, { changes })
  let reads = 0
  const store = (organizationId: string, { name, revision, readAt }: Read) => {
    reads++
    cache.set(organizationId, name, readAt, { organizationId, revision, readAt })
    return name
  }
  const lookUp = async (organizationId: string) => {
    const cached = await cache.current(organizationId, env.DB, Date.now())
    return cached?.value ?? store(organizationId, await read(organizationId))
  }
  return { changes, cache, store, lookUp, reads: () => reads }
}

const rename = async (organizationId: string, name: string) => {
  const update = env.DB.prepare("UPDATE organizations SET name = ? WHERE id = ?").bind(name, organizationId)
  await env.DB.batch([update, policyEntry(organizationId)])
}
const later = (ms: number) => vi.setSystemTime(Date.now() + ms)
const organizationIds = async (count: number) =>
  Promise.all(Array.from({ length: count }, async () => (await newWorkspace()).organizationId))

beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"] }))
afterEach(() => void vi.useRealTimers())

describe("a cached policy", () => {
  const at = fc.record({ isolate: fc.nat(2), organization: fc.nat(1) })
  const step = fc.oneof(
    { weight: 4, arbitrary: at.map((of) => ({ kind: "look up" as const, ...of })) },
    { weight: 2, arbitrary: fc.nat(6_000).map((ms) => ({ kind: "wait" as const, ms })) },
    { weight: 2, arbitrary: fc.nat(1).map((organization) => ({ kind: "change" as const, organization })) },
    { weight: 1, arbitrary: at.map((of) => ({ kind: "start read" as const, ...of })) },
    { weight: 1, arbitrary: fc.nat(2).map((isolate) => ({ kind: "end reads" as const, isolate })) },
    { weight: 1, arbitrary: fc.nat(2).map((isolate) => ({ kind: "refresh" as const, isolate })) },
  )

  test("is at most 5 seconds out of date in any isolate", async () => {
    const ids = await organizationIds(2)
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const isolates = [newIsolate(), newIsolate(), newIsolate()] as const
        const isolateOf = (index: number) => isolates[index] ?? isolates[0]
        const idOf = (index: number) => ids[index] ?? ""
        const pending = isolates.map((): (() => void)[] => [])
        const history = ids.map((): { name: string; from: number }[] => [])
        let version = 0
        const change = async (organization: number) => {
          const name = `version ${version++}`
          await rename(idOf(organization), name)
          history[organization]?.push({ name, from: Date.now() })
        }
        await change(0)
        await change(1)
        for (const one of steps) {
          if (one.kind === "wait") later(one.ms)
          if (one.kind === "change") await change(one.organization)
          if (one.kind === "refresh") await isolateOf(one.isolate).changes.read(env.DB, Date.now())
          if (one.kind === "end reads") for (const end of pending[one.isolate]?.splice(0) ?? []) end()
          if (one.kind === "start read") {
            const found = await read(idOf(one.organization))
            pending[one.isolate]?.push(() => isolateOf(one.isolate).store(idOf(one.organization), found))
          }
          if (one.kind !== "look up") continue
          const name = await isolateOf(one.isolate).lookUp(idOf(one.organization))
          const versions = history[one.organization] ?? []
          const next = versions[versions.findIndex((known) => known.name === name) + 1]
          expect(next === undefined || Date.now() - next.from < CHANGE_DELAY_MS).toBe(true)
        }
      }),
      { numRuns: runs(1) },
    )
  })

  test("is not read again while its organization does not change", async () => {
    const [changed = "", unchanged = ""] = await organizationIds(2)
    const isolate = newIsolate()
    for (let seconds = 0; seconds < 59; seconds++) {
      await isolate.lookUp(unchanged)
      await rename(changed, `at ${seconds}`)
      later(1_000)
    }
    expect(isolate.reads()).toBe(1)
    expect(await isolate.lookUp(changed)).toBe("at 58")
  })

  test("is read again after a change that this isolate has read, before it is 5 seconds old", async () => {
    const [id = ""] = await organizationIds(1)
    const isolate = newIsolate()
    await isolate.lookUp(id)
    await rename(id, "new")
    await isolate.changes.read(env.DB, Date.now())
    expect(await isolate.lookUp(id)).toBe("new")
  })

  test("that does not exist is looked up again after a second: a new key works", () => {
    const { cache } = newIsolate()
    cache.set("key", undefined, Date.now())
    later(999)
    expect(cache.get("key", Date.now())).toMatchObject({ value: undefined })
    later(1)
    expect(cache.get("key", Date.now())).toBeUndefined()
  })

  test("is read again after a minute", async () => {
    const [id = ""] = await organizationIds(1)
    const isolate = newIsolate()
    await isolate.lookUp(id)
    later(59_999)
    await isolate.lookUp(id)
    expect(isolate.reads()).toBe(1)
    later(1)
    await isolate.lookUp(id)
    expect(isolate.reads()).toBe(2)
  })

  test("is read again after more changes than an isolate reads at once", async () => {
    const [id = ""] = await organizationIds(1)
    const isolate = newIsolate()
    await isolate.lookUp(id)
    await env.DB.batch(Array.from({ length: 1_000 }, (_, index) => policyEntry(`other ${index}`)))
    await rename(id, "new")
    later(CHANGE_DELAY_MS)
    expect(await isolate.lookUp(id)).toBe("new")
  })

  test("is read again after the database was restored to an earlier state", async () => {
    const ids = await organizationIds(2)
    const isolate = newIsolate()
    for (const id of ids) await rename(id, "restored")
    const { revision } = await read(ids[0] ?? "")
    for (const id of ids) await rename(id, "lost")
    for (const id of ids) expect(await isolate.lookUp(id)).toBe("lost")
    await env.DB.batch([
      ...ids.map((id) => env.DB.prepare("UPDATE organizations SET name = 'restored' WHERE id = ?").bind(id)),
      env.DB.prepare("DELETE FROM audit_log WHERE revision > ?").bind(revision),
    ])
    later(CHANGE_DELAY_MS)
    for (const id of ids) expect(await isolate.lookUp(id)).toBe("restored")
    for (const id of ids) await rename(id, "new")
    later(CHANGE_DELAY_MS)
    for (const id of ids) expect(await isolate.lookUp(id)).toBe("new")
  })

  test("is not used after the clock was set back", async () => {
    const [id = ""] = await organizationIds(1)
    const isolate = newIsolate()
    await isolate.lookUp(id)
    isolate.cache.set("without a revision", "cached", Date.now())
    later(-30_000)
    await rename(id, "new")
    expect(await isolate.lookUp(id)).toBe("new")
    expect(isolate.cache.get("without a revision", Date.now())).toBeUndefined()
  })
})

describe("the changes that an isolate knows", () => {
  test("are read in the background after 4 seconds, by one request at a time", async () => {
    const [id = ""] = await organizationIds(1)
    const { changes, lookUp } = newIsolate()
    expect(changes.isDue(Date.now())).toBe(false)
    await lookUp(id)
    later(3_999)
    expect(changes.isDue(Date.now())).toBe(false)
    later(1)
    expect(changes.isDue(Date.now())).toBe(true)
    const reading = changes.read(env.DB, Date.now())
    expect(changes.isDue(Date.now())).toBe(false)
    await reading
    later(1_000)
    expect([changes.isDue(Date.now()), changes.isStale(Date.now())]).toEqual([false, false])
  })

  test("are read by another request if the first one does not finish", async () => {
    const [id = ""] = await organizationIds(1)
    const { changes, lookUp } = newIsolate()
    await lookUp(id)
    later(4_000)
    const cancelled = {
      prepare: () => ({ bind: () => ({ all: () => new Promise(() => {}) }) }),
    } as unknown as D1Database
    void changes.read(cancelled, Date.now())
    later(1_000)
    expect(changes.isDue(Date.now())).toBe(true)
  })
})
