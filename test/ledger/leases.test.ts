import * as fc from "fast-check"
import { expect, test } from "vitest"
import { Leases } from "../../src/ledger/leases.ts"
import type { GenerationDraft } from "../../src/ledger/generation.ts"
import type { HoldRequest, Registration } from "../../src/ledger/protocol.ts"

const START_MS = 1_000_000
const CALL_NANO = 100

const request = (id: string): HoldRequest => ({
  draft: { id } as GenerationDraft,
  wanted: { mostNano: CALL_NANO, leastNano: CALL_NANO },
  estimateNano: CALL_NANO,
  ttlMs: 120_000,
  chargesAccount: true,
  limits: [],
})

/** A lease with `many` calls that started at START_MS, and what was declared for them in the report at their start. */
function busy(many: number) {
  const leases = new Leases()
  const lease = leases.leaseFor(request("first"), START_MS)
  const ids = Array.from({ length: many }, (_, at) => `call-${at}`)
  for (const id of ids) {
    if (leases.admit(lease, request(id), START_MS)) continue
    const declaration = leases.requestFor(lease, request(id), START_MS)
    if (!declaration) throw new Error("No lease was requested.")
    leases.granted(lease, declaration.sequence, { ok: true, grantedNano: CALL_NANO, leasedNano: 1_000_000 }, START_MS)
    expect(leases.admit(lease, request(id), START_MS)).toBe(true)
  }
  const report = (reported: readonly string[], now: number) => {
    const [update] = leases.updates([lease], new Set(reported), now)
    if (!update) throw new Error("There is no update.")
    leases.registered(reported.map((id) => ({ draft: { id } }) as Registration))
    leases.acknowledged([lease], [update], new Set([lease.id]), now)
    return update.estimateNano
  }
  return { leases, lease, ids, report }
}

test("a declaration covers the calls that the ledger does not know, whatever the time since the last one", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 40 }),
      fc.array(fc.record({ registers: fc.nat(10), waitMs: fc.nat(5_000) }), { maxLength: 10 }),
      (many, steps) => {
        const { lease, ids, report } = busy(many)
        let now = START_MS
        for (const { registers, waitMs } of steps) {
          now += waitMs
          const declared = report(ids.splice(0, registers), now)
          expect(declared).toBeGreaterThanOrEqual(lease.unknownNano)
          expect(lease.unknownNano).toBe(ids.length * CALL_NANO)
        }
      },
    ),
  )
})

test("a declaration falls to a few calls when all are registered and none has started for two seconds", () => {
  const { ids, report } = busy(40)
  expect(report([], START_MS)).toBeGreaterThanOrEqual(40 * CALL_NANO)
  const [first = "", ...others] = ids
  // One after the other, as their timers end.
  expect(report([first], START_MS + 2_000)).toBeGreaterThanOrEqual(39 * CALL_NANO)
  expect(report(others, START_MS + 2_000)).toBeLessThanOrEqual(14 * CALL_NANO)
  expect(report([], START_MS + 7_000)).toBeLessThanOrEqual(3 * CALL_NANO)
})

test("a declaration keeps room for the calls of the last reports while reports follow each other", () => {
  const { ids, report } = busy(40)
  report([], START_MS)
  expect(report(ids, START_MS + 50)).toBeGreaterThanOrEqual(36 * CALL_NANO)
})
