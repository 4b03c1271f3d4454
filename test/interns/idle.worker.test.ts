import { env } from "cloudflare:workers"
import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import { afterEach, expect, test } from "vitest"
import { Intern } from "../../durable-objects/intern/intern.ts"
import { DAY_MS } from "../../src/support/time/time.ts"
import { eventually } from "../support/eventually.ts"
import { internObject } from "../support/intern-object.ts"
import { runs } from "../support/runs.ts"
import { expectJson, newWorkspace, type Workspace } from "../support/world.ts"

/**
 * The cost of idle interns, each with a daily schedule and an open question. docs/interns.md has the figures of 1,000;
 * TEST_DEPTH=deep measures and prints them.
 */

const { clock } = Intern
afterEach(() => {
  Intern.clock = clock
})

const INTERNS = Math.min(1_000, runs(4))
const AT_ONCE = 20
/** Interns for which a day is simulated alarm by alarm. */
const SAMPLE = Math.min(20, INTERNS)

/** The figures in docs/interns.md. */
const DOCUMENTED = { objectBytes: 140 * 1024, databaseBytes: 8_000, alarms: 2, rowsWritten: 90 }

async function idleIntern(workspace: Workspace, name: string): Promise<string> {
  const { as } = workspace
  const input = { name, model: "sim/agent", provision: true }
  const { id } = await expectJson<{ id: string }>(201, as.post("/interns", input))
  await eventually(async () =>
    expect(await expectJson<{ status: string }>(200, as.get(`/interns/${id}`))).toMatchObject({ status: "running" }),
  )
  await expectJson(201, as.post(`/interns/${id}/schedules`, { cron: "0 8 * * *", prompt: "$ date >> log" }))
  const object = internObject(id)
  const call = { is: "prompt", session: "waiting", mode: "manual", text: "$ rm log", isBackground: true }
  const request = new Request("http://intern/chat", { method: "POST", body: JSON.stringify(call) })
  await (await object.fetch(request)).text()
  await eventually(async () => expect((await object.peek()).open[0]?.state).toBe("paused"))
  return id
}

type Counted = { rowsRead: number; rowsWritten: number }

/** Counts the rows of all statements of an object from now on. */
async function countRows(id: string): Promise<() => Promise<Counted>> {
  const cursors: Counted[] = []
  await runInDurableObject(internObject(id), (_, { storage: { sql } }) => {
    const exec = sql.exec.bind(sql)
    Object.defineProperty(sql, "exec", {
      value: (...given: Parameters<typeof exec>) => {
        const cursor = exec(...given)
        cursors.push(cursor)
        return cursor
      },
    })
  })
  return () =>
    runInDurableObject(internObject(id), () => {
      const sum = { rowsRead: 0, rowsWritten: 0 }
      for (const { rowsRead, rowsWritten } of cursors) {
        sum.rowsRead += rowsRead
        sum.rowsWritten += rowsWritten
      }
      return sum
    })
}

/** Simulates a day of an intern: runs each alarm when it is due. Returns the number of alarms. */
async function simulateDay(id: string, from: number): Promise<number> {
  const object = internObject(id)
  let alarms = 0
  for (;;) {
    const due = await runInDurableObject(object, (_, { storage }) => storage.getAlarm())
    if (due === null || due > from + DAY_MS) return alarms
    const now = Math.max(due, from)
    Intern.clock = () => now
    await runDurableObjectAlarm(object)
    alarms += 1
    expect(alarms).toBeLessThan(100)
    await eventually(async () => {
      const { open } = await object.peek()
      expect(open.filter(({ state }) => state !== "paused")).toEqual([])
    })
  }
}

const databaseBytes = async () => (await env.DB.prepare("SELECT 1").all()).meta.size_after

test("an idle intern costs at most the documented figures", async () => {
  const workspace = await newWorkspace()
  const before = await databaseBytes()
  const ids: string[] = []
  for (let at = 0; at < INTERNS; at += AT_ONCE) {
    const names = Array.from({ length: Math.min(AT_ONCE, INTERNS - at) }, (_, index) => `i${at + index}`)
    ids.push(...(await Promise.all(names.map((name) => idleIntern(workspace, name)))))
  }
  const perIntern = ((await databaseBytes()) - before) / INTERNS
  const sizes = await Promise.all(
    ids.map((id) => runInDurableObject(internObject(id), (_, { storage }) => storage.sql.databaseSize)),
  )
  const from = Date.now()
  const days: (Counted & { alarms: number })[] = []
  for (const id of ids.slice(0, SAMPLE)) {
    Intern.clock = () => from
    const count = await countRows(id)
    const alarms = await simulateDay(id, from)
    days.push({ alarms, ...(await count()) })
  }
  const mean = (of: (day: (typeof days)[number]) => number) => days.reduce((sum, day) => sum + of(day), 0) / days.length
  const measured = {
    interns: INTERNS,
    objectBytes: Math.max(...sizes),
    databaseBytes: Math.round(perIntern),
    alarms: mean(({ alarms }) => alarms),
    rowsRead: mean(({ rowsRead }) => rowsRead),
    rowsWritten: mean(({ rowsWritten }) => rowsWritten),
  }
  if (INTERNS === 1_000) console.info(JSON.stringify(measured))
  expect(measured.objectBytes).toBeLessThanOrEqual(DOCUMENTED.objectBytes)
  expect(measured.alarms).toBeLessThanOrEqual(DOCUMENTED.alarms)
  expect(measured.rowsWritten).toBeLessThanOrEqual(DOCUMENTED.rowsWritten)
  // A page that holds only a few rows counts for all of them.
  if (INTERNS >= 100) expect(measured.databaseBytes).toBeLessThanOrEqual(DOCUMENTED.databaseBytes)
})
