import * as fc from "fast-check"
import { expect, test } from "vitest"
import { nanoToUsd, usdToNano } from "../../src/money/money.ts"
import { eventually } from "../support/eventually.ts"
import { openSession, requestSession, TestSession } from "../support/realtime.ts"
import { begun, delta, ended, nanoOf, runSteps, type ScriptedUsage, usageOf } from "../support/realtime-steps.ts"
import { runs } from "../support/runs.ts"
import { expectJson, newKey, newWorkspace, openHolds } from "../support/world.ts"

const part = fc.nat(4_000)
const usage: fc.Arbitrary<ScriptedUsage> = fc
  .record({
    text: part,
    audio: part,
    outText: fc.nat(1_000),
    outAudio: fc.nat(1_000),
    shares: fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true })),
  })
  .map(({ shares, ...counts }) => ({
    ...counts,
    cachedText: Math.floor(counts.text * shares[0]),
    cachedAudio: Math.floor(counts.audio * shares[1]),
  }))

/** The actions in a session, in order. `overlap`: two responses at the same time. */
const action = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("respond" as const), usage, text: fc.nat(400) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("overlap" as const), usage, text: fc.nat(400) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("no usage" as const), usage, text: fc.nat(400) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("fail" as const), usage, text: fc.constant(0) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("request" as const), usage, text: fc.constant(0) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("break" as const), usage, text: fc.nat(400) }) },
)
const sessions = fc.record({
  actions: fc.array(action, { minLength: 1, maxLength: 12 }),
  limitUsd: fc.constantFrom(0.02, 0.1, 0.5, 2, 50),
  sessions: fc.integer({ min: 1, max: 3 }),
})

type Action = typeof action extends fc.Arbitrary<infer One> ? One : never

/** Resolves when the provider has responded, or the session has closed. */
async function perform(session: TestSession, { kind, usage: used, text }: Action, at: number): Promise<void> {
  const [one, other] = [`r${at}`, `r${at}b`]
  const outputDelta = delta(one, "x".repeat(text))
  const done = () => session.events.filter(({ type }) => type === "response.done").length
  const before = done()
  const steps = {
    respond: [begun(one), outputDelta, ended(one, usageOf(used))],
    overlap: [begun(one), begun(other), outputDelta, ended(other, usageOf(used)), ended(one, usageOf(used))],
    "no usage": [begun(one), outputDelta, ended(one, null)],
    fail: [begun(one), ended(one, null, "failed")],
    request: [],
    break: [begun(one), outputDelta, { destroy: true as const }],
  }[kind]
  if (kind === "request") {
    session.send({ type: "response.create" })
    return
  }
  runSteps(session, steps)
  await eventually(() => {
    const isOver = session.closed !== undefined
    expect(isOver || (kind !== "break" && done() > before)).toBe(true)
  })
}

test("for any actions in sessions, a key stays within its limit and its charges equal its generations", async () => {
  await fc.assert(
    fc.asyncProperty(sessions, async ({ actions, limitUsd, sessions: count }) => {
      const workspace = await newWorkspace(60)
      const { key, hash } = await newKey(workspace, { limit: limitUsd })
      const opened: TestSession[] = []
      for (let one = 0; one < count; one++) {
        const response = await requestSession(key, "played/live")
        // Other sessions may hold all that is left.
        if (response.status === 402) continue
        expect(response.status).toBe(101)
        if (response.webSocket) opened.push(new TestSession(response.webSocket, ""))
      }
      for (const [at, one] of actions.entries()) {
        const session = opened[at % opened.length]
        if (session && !session.closed) await perform(session, one, at)
        const [{ total } = { total: { spent: 0 } }] = await workspace.ledger.usage([hash])
        expect(total.spent).toBeLessThanOrEqual(usdToNano(limitUsd))
      }
      for (const session of opened) if (!session.closed) session.close()
      await eventually(async () => expect(await openHolds(workspace)).toEqual([]))
      const { spentNano, heldNano } = await workspace.ledger.balance()
      expect(heldNano).toBe(0)
      expect(spentNano).toBeLessThanOrEqual(usdToNano(limitUsd))
      type Calls = { data: { cost: number; ending: string }[] }
      await eventually(async () => {
        const { data } = await expectJson<Calls>(200, workspace.manage.get("/calls?limit=100"))
        expect(data.reduce((sum, { cost }) => sum + usdToNano(cost), 0)).toBe(spentNano)
        expect(data.filter(({ ending }) => ending === "unsettled")).toEqual([])
      })
    }),
    { numRuns: runs(0.4) },
  )
}, 300_000)

test("without a limit in reach, each response is charged exactly its usage", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(usage, { minLength: 1, maxLength: 6 }), async (used) => {
      const workspace = await newWorkspace(60)
      const session = await openSession(workspace.key, "played/live")
      for (const [at, one] of used.entries()) {
        runSteps(session, [begun(`r${at}`), ended(`r${at}`, usageOf(one))])
        await session.next("response.done", at + 1)
      }
      session.close()
      await eventually(async () => expect(await openHolds(workspace)).toEqual([]))
      const { spentNano } = await workspace.ledger.balance()
      const exact = used.reduce((sum, one) => sum + Math.ceil(nanoOf(one)), 0)
      expect(nanoToUsd(spentNano)).toBe(nanoToUsd(exact))
    }),
    { numRuns: runs(0.25) },
  )
}, 120_000)
