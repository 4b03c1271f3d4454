import { expect, test } from "vitest"
import type { Generation } from "../../src/ledger/generation.ts"
import type { FlushRequest, LedgerRpc } from "../../src/ledger/protocol.ts"
import { Reports } from "../../src/ledger/reporting/reports.ts"
import { newShared } from "../../src/ledger/shared.ts"

/** Sends settlements to a ledger that charges each. `timers`: functions that end the waits, in order. */
function reporting() {
  const sent: string[][] = []
  const timers: (() => void)[] = []
  const ledger = {
    report: async (report: FlushRequest) => {
      const charged = report.settlements.map(({ generation }) => generation.id)
      sent.push(charged)
      return { charged, alive: [] }
    },
  }
  const wait = () => new Promise<undefined>((resolve) => timers.push(() => resolve(undefined)))
  const timer = { wait, after: () => () => undefined }
  const reports = new Reports(() => ledger as unknown as DurableObjectStub<LedgerRpc>, newShared(), timer)
  const tokens = { prompt: 1, completion: 1 }
  const settlement = (id: string) => {
    const generation = { id, costNano: 1, byokCostNano: 0, tokens } as unknown as Generation
    return { generation, leaseId: null, content: undefined }
  }
  return { reports, sent, timers, settlement }
}

test("a settlement waits for others to be sent with", async () => {
  const { reports, sent, timers, settlement } = reporting()
  const settled = ["a", "b", "c"].map((id) => reports.settle(settlement(id)))
  expect([timers.length, sent]).toEqual([3, []])
  timers[0]?.()
  await settled[0]
  expect(sent).toEqual([["a", "b", "c"]])
  for (const end of timers) end()
  await Promise.all(settled)
  expect(sent).toHaveLength(1)
})

test("an urgent settlement is sent at once, with those that wait", async () => {
  const { reports, sent, timers, settlement } = reporting()
  const waiting = reports.settle(settlement("a"))
  await reports.settle(settlement("b"), true)
  expect([timers.length, sent]).toEqual([1, [["a", "b"]]])
  timers[0]?.()
  await waiting
  expect(sent).toHaveLength(1)
})
