import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test"
import { env } from "cloudflare:workers"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { type HoldRequest, NOTHING_TO_REPORT } from "../../src/ledger/protocol.ts"
import type { Limit } from "../../src/ledger/limits.ts"
import { type Generation, unsettledGeneration } from "../../src/ledger/generation.ts"
import { newKey, newWorkspace, expectJson, type Workspace, openHolds } from "../support/world.ts"
import { newTestDraft } from "../support/draft.ts"
import { runs } from "../support/runs.ts"

const KEY = "a".repeat(64)

const draft = (id: string, organizationId = "o") => newTestDraft({ id, organizationId, workspaceId: "w", keyHash: KEY })

const spend = (id: string, costNano: number): Generation => ({
  ...unsettledGeneration(draft(id), costNano),
  ending: "complete",
})

function holdOf(id: string, mostNano: number, more: Partial<HoldRequest> = {}): HoldRequest {
  return {
    draft: draft(id),
    wanted: { leastNano: mostNano, mostNano },
    chargesAccount: true,
    limits: [],
    estimateNano: 0,
    ttlMs: 60_000,
    ...more,
  }
}

async function newLedger(creditNano: number) {
  const ledger = env.LEDGER.get(env.LEDGER.newUniqueId())
  await ledger.credit("start", creditNano)
  return ledger
}

type Stub = Awaited<ReturnType<typeof newLedger>>

const hold = async (ledger: Stub, request: HoldRequest) => (await ledger.hold(request)).verdict

/** A heartbeat whose hold expires immediately. */
async function renew(ledger: Stub, id: string, estimateNano: number): Promise<void> {
  await ledger.report({ ...NOTHING_TO_REPORT, renewals: [{ id, estimateNano, ttlMs: -1 }] })
}

/** Whether this report charged it. */
async function settle(ledger: Stub, generation: Generation): Promise<boolean> {
  const { charged } = await ledger.report({ ...NOTHING_TO_REPORT, settlements: [{ generation, leaseId: null }] })
  return charged.includes(generation.id)
}

describe("the ledger", () => {
  test("any order of holds, settlements and expiries stays within the limit and charges every call", async () => {
    const step = fc.oneof(
      fc.record({
        do: fc.constant("hold" as const),
        id: fc.integer({ min: 0, max: 8 }),
        nano: fc.integer({ min: 0, max: 60 }),
      }),
      fc.record({
        do: fc.constant("settle" as const),
        id: fc.integer({ min: 0, max: 8 }),
        nano: fc.integer({ min: 0, max: 60 }),
      }),
      fc.record({ do: fc.constant("expire" as const), id: fc.integer({ min: 0, max: 8 }), nano: fc.constant(0) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.integer({ min: 0, max: 60 }), async (steps, keyLimit) => {
        const ledger = await newLedger(100)
        const limits: Limit[] = [{ scope: `key:${KEY}`, limitNano: keyLimit, interval: null, includeByok: false }]
        const open = new Map<string, number>()
        let [spent, turn] = [0, 0]
        for (const { do: act, id: slot, nano } of steps) {
          const id = [...open.keys()][slot] ?? `g${turn++}`
          if (act === "hold" && !open.has(id)) {
            const held = [...open.values()].reduce((sum, amount) => sum + amount, 0)
            const fits = spent + held + nano <= Math.min(100, keyLimit)
            const verdict = await hold(ledger, holdOf(id, nano, { limits, estimateNano: nano }))
            expect(verdict.ok).toBe(fits)
            if (verdict.ok) open.set(id, nano)
          } else if (act === "settle") {
            const cost = Math.min(nano, open.get(id) ?? nano)
            const settled = await settle(ledger, spend(id, cost))
            expect(settled).toBe(open.has(id))
            if (open.delete(id)) spent += cost
          } else if (act === "expire" && open.has(id)) {
            await runInDurableObject(
              ledger,
              (_, { storage }) => void storage.sql.exec("UPDATE holds SET expires_at = 0 WHERE id = ?", id),
            )
            await runDurableObjectAlarm(ledger)
            spent += open.get(id) ?? 0
            open.delete(id)
          }
          const { spentNano, heldNano } = await ledger.balance()
          expect(spentNano).toBe(spent)
          expect(spentNano + heldNano).toBeLessThanOrEqual(Math.min(100, keyLimit))
          expect((await ledger.holds()).length).toBe(open.size)
        }
      }),
      { numRuns: runs(0.6) },
    )
  })

  test("a repeated settlement of a generation changes nothing", async () => {
    const ledger = await newLedger(100)
    await hold(ledger, holdOf("g", 10))
    expect(await settle(ledger, spend("g", 7))).toBe(true)
    expect(await settle(ledger, spend("g", 7))).toBe(false)
    expect((await ledger.balance()).spentNano).toBe(7)
  })

  test("a cost above the hold is charged up to the hold, and the rest is recorded", async () => {
    const ledger = await newLedger(100)
    await hold(ledger, holdOf("g", 10))
    await settle(ledger, spend("g", 25))
    expect(await ledger.balance()).toMatchObject({ spentNano: 10, heldNano: 0 })
    expect(await ledger.generation("g")).toMatchObject({ costNano: 10, overrunNano: 15 })
  })

  test("a hold is granted what is left, down to its minimum", async () => {
    const ledger = await newLedger(100)
    expect(await hold(ledger, holdOf("a", 0, { wanted: { leastNano: 10, mostNano: 70 } }))).toEqual({
      ok: true,
      grantedNano: 70,
    })
    expect(await hold(ledger, holdOf("b", 0, { wanted: { leastNano: 10, mostNano: 70 } }))).toEqual({
      ok: true,
      grantedNano: 30,
    })
    expect(await hold(ledger, holdOf("c", 0, { wanted: { leastNano: 10, mostNano: 70 } }))).toMatchObject({
      ok: false,
      scope: "account",
    })
  })

  test("holds, counters and the outbox survive the object's eviction", async () => {
    const ledger = await newLedger(100)
    await hold(ledger, holdOf("a", 10))
    await hold(ledger, holdOf("b", 20))
    await settle(ledger, spend("b", 5))
    const { evictDurableObject } = await import("cloudflare:test")
    await evictDurableObject(ledger)
    expect(await ledger.balance()).toMatchObject({ creditedNano: 100, spentNano: 5, heldNano: 10 })
    expect(await ledger.generation("b")).toMatchObject({ costNano: 5 })
  })

  test("a hold that is never settled is charged at its last estimate, and recorded", async () => {
    const workspace = await newWorkspace()
    const id = `gen-${crypto.randomUUID()}`
    await workspace.ledger.hold(
      holdOf(id, 1_000, {
        draft: { ...draft(id, workspace.organizationId), workspaceId: workspace.workspaceId },
        estimateNano: 100,
      }),
    )
    await renew(workspace.object, id, 300)
    await runDurableObjectAlarm(workspace.object)
    expect(await openHolds(workspace)).toEqual([])
    const { data } = await expectJson<{ data: object }>(200, workspace.as.get(`/generation?id=${id}`))
    expect(data).toMatchObject({ total_cost: 3e-7, ending: "unsettled" })
  })

  test("generations are written to the database once, also after an outage", async () => {
    const ledger = await newLedger(100)
    const id = `gen-${crypto.randomUUID()}`
    await hold(ledger, holdOf(id, 10))
    await settle(ledger, spend(id, 7))
    await env.DB.exec("ALTER TABLE generations RENAME TO away")
    try {
      await runDurableObjectAlarm(ledger)
      expect(await ledger.generation(id)).toMatchObject({ costNano: 7 })
    } finally {
      await env.DB.exec("ALTER TABLE away RENAME TO generations")
    }
    await runDurableObjectAlarm(ledger)
    const rows = await env.DB.prepare("SELECT cost_nano FROM generations WHERE id = ?").bind(id).all()
    expect(rows.results).toEqual([{ cost_nano: 7 }])
    expect(await ledger.generation(id)).toBeNull()
  })

  test("a settlement that is too large to send fails without affecting other calls", async () => {
    const workspace = await newWorkspace()
    const oversized = { ...spend("monster", 1), finishReason: "x".repeat(40_000_000) }
    const settling = workspace.ledger.settle(oversized).catch(() => "refused")
    await expectJson(200, workspace.as.chat("sim/echo", "Hi"))
    await expectJson(200, workspace.as.get("/key"))
    expect(await settling).toBe("refused")
    await expectJson(200, workspace.as.chat("sim/echo", "Hi"))
  })

  test("a report that cannot be stored changes nothing, and its valid parts can be charged later", async () => {
    const ledger = await newLedger(100)
    await hold(ledger, holdOf("a", 10))
    await hold(ledger, holdOf("b", 20))
    // A bigint has no JSON, so it cannot be stored.
    const unwritable = { ...spend("b", 1), finishReason: 1n as unknown as string }
    const settlements = [spend("a", 7), unwritable].map((generation) => ({ generation, leaseId: null }))
    const refused = await runInDurableObject(ledger, (object) => {
      try {
        object.report({ ...NOTHING_TO_REPORT, settlements })
      } catch {
        return true
      }
      return false
    })
    expect(refused).toBe(true)
    expect(await ledger.balance()).toMatchObject({ spentNano: 0, heldNano: 30 })
    expect(await settle(ledger, spend("a", 7))).toBe(true)
    expect(await ledger.balance()).toMatchObject({ spentNano: 7, heldNano: 20 })
  })

  test("a hold of a clock that was years ahead is charged its estimate when the clock is right again", async () => {
    const ledger = await newLedger(100)
    await hold(ledger, holdOf("a", 10, { estimateNano: 4 }))
    await runInDurableObject(ledger, (_, { storage }) => {
      storage.sql.exec("UPDATE holds SET expires_at = ?", Date.now() + 3_650 * 86_400_000)
    })
    await runDurableObjectAlarm(ledger)
    expect(await ledger.balance()).toMatchObject({ heldNano: 0, spentNano: 4 })
  })

  test("an expired lease cannot be extended", async () => {
    const ledger = await newLedger(1_000_000)
    const lease = { id: "lease-1", wantNano: 1_000, isHeld: false, estimateNano: 4, sequence: 1 }
    expect(await hold(ledger, holdOf("a", 10, { lease }))).toEqual({ ok: true, grantedNano: 10, leasedNano: 1_000 })
    const more = { ...lease, isHeld: true, sequence: 2 }
    expect(await hold(ledger, holdOf("b", 10, { lease: more }))).toMatchObject({ leasedNano: 1_000 })
    expect(await ledger.balance()).toMatchObject({ heldNano: 2_000 })
    await renew(ledger, "lease-1", 0)
    await runDurableObjectAlarm(ledger)
    expect(await ledger.balance()).toMatchObject({ heldNano: 0, spentNano: 0 })
    expect(await hold(ledger, holdOf("c", 10, { lease: more }))).toEqual({ ok: true, grantedNano: 10 })
  })

  test("a lease whose isolate crashed is charged its estimate, and recorded", async () => {
    const ledger = await newLedger(1_000_000)
    const lease = { id: "lease-1", wantNano: 1_000, isHeld: false, estimateNano: 4, sequence: 1 }
    await hold(ledger, holdOf("a", 10, { lease, estimateNano: 4 }))
    await renew(ledger, "lease-1", 4)
    await runDurableObjectAlarm(ledger)
    expect(await ledger.balance()).toMatchObject({ heldNano: 0, spentNano: 4 })
    // A late settlement is covered by that charge.
    const settlements = [{ generation: spend("a", 9), leaseId: "lease-1" }]
    expect(await ledger.report({ ...NOTHING_TO_REPORT, settlements })).toEqual({ charged: [], alive: [] })
    expect(await ledger.balance()).toMatchObject({ heldNano: 0, spentNano: 4 })
  })

  test("a call of a lease is charged once, for any order and number of reports", async () => {
    const ledger = await newLedger(1_000_000)
    const lease = { id: "lease-1", wantNano: 1_000, isHeld: false, estimateNano: 4, sequence: 1 }
    await hold(ledger, holdOf("a", 10, { lease }))
    const leases = [{ id: "lease-1", estimateNano: 0, sequence: 2, ttlMs: 60_000, isReturned: false }]
    const settled = { ...NOTHING_TO_REPORT, settlements: [{ generation: spend("a", 7), leaseId: "lease-1" }], leases }
    expect(await ledger.report(settled)).toEqual({ charged: ["a"], alive: ["lease-1"] })
    expect(await ledger.report(settled)).toEqual({ charged: [], alive: ["lease-1"] })
    const late = { draft: draft("a"), leaseId: "lease-1", amountNano: 10, estimateNano: 5, ttlMs: 60_000 }
    await ledger.report({ ...NOTHING_TO_REPORT, registrations: [late], leases })
    expect((await ledger.holds()).map(({ id, amountNano }) => [id, amountNano])).toEqual([["lease-1", 993]])
    expect(await ledger.balance()).toMatchObject({ spentNano: 7, heldNano: 993 })
  })

  test("a lease is not granted from held money", async () => {
    const ledger = await newLedger(100_000)
    await hold(ledger, holdOf("a", 99_000))
    const lease = { id: "lease-1", wantNano: 1_000, isHeld: false, estimateNano: 4, sequence: 1 }
    expect(await hold(ledger, holdOf("b", 10, { lease }))).toEqual({ ok: true, grantedNano: 10 })
    expect(await ledger.balance()).toMatchObject({ heldNano: 99_010 })
  })

  test("near a limit no lease is granted: every call has a separate hold", async () => {
    const ledger = await newLedger(1_000)
    const lease = { id: "lease-1", wantNano: 1_000, isHeld: false, estimateNano: 4, sequence: 1 }
    expect(await hold(ledger, holdOf("a", 10, { lease }))).toEqual({ ok: true, grantedNano: 10 })
    expect(await ledger.balance()).toMatchObject({ heldNano: 10 })
  })

  test("credit is added once for an id", async () => {
    const ledger = await newLedger(100)
    await ledger.credit("top-up", 50)
    await ledger.credit("top-up", 50)
    expect((await ledger.balance()).creditedNano).toBe(150)
  })
})

describe("two hundred concurrent calls", () => {
  const total = (workspace: Workspace) => workspace.ledger.balance()

  async function sendMany(as: Workspace["as"], more: Record<string, unknown> = {}) {
    const answers = await Promise.all(
      Array.from({ length: 200 }, async () => {
        const response = await as.chat("sim/echo", "Say it again and again..", { max_tokens: 16, ...more })
        await response.text()
        return response.status
      }),
    )
    const ok = answers.filter((status) => status === 200).length
    expect(answers.every((status) => status === 200 || status === 402)).toBe(true)
    return { ok, refused: answers.length - ok }
  }

  test("never exceed a key's limit: the rest gets 402", async () => {
    const workspace = await newWorkspace()
    const { as, hash } = await newKey(workspace, { limit: 0.005 })
    const { ok, refused } = await sendMany(as)
    expect(refused).toBeGreaterThan(0)
    expect(ok).toBeGreaterThan(0)
    const [counters] = await workspace.ledger.usage([hash])
    expect(counters?.total.spent).toBe(ok * 22_000)
    expect(counters?.total.spent).toBeLessThanOrEqual(5_000_000)
    expect(await openHolds(workspace)).toEqual([])
  })

  test("never exceed the account's balance", async () => {
    const workspace = await newWorkspace(0.004)
    const { ok } = await sendMany(workspace.as)
    const { spentNano } = await total(workspace)
    expect(spentNano).toBe(ok * 22_000)
    expect(spentNano).toBeLessThanOrEqual(4_000_000)
  })

  test("that are streamed count like JSON", async () => {
    const workspace = await newWorkspace(0.004)
    const { ok } = await sendMany(workspace.as, { stream: true })
    expect(ok).toBeGreaterThan(0)
    const { spentNano } = await total(workspace)
    expect(spentNano).toBe(ok * 22_000)
  })
})
