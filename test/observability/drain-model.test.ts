import * as fc from "fast-check"
import { expect, test } from "vitest"
import type { Outcome } from "../../src/observability/delivery/deliver.ts"
import { type BacklogPorts, drain } from "../../src/observability/delivery/drain.ts"
import { RETRY_WINDOW_MS } from "../../src/observability/delivery/retry.ts"
import type { BatchRow } from "../../src/observability/table.ts"

/** A destination and its backlog in memory: the receiver follows a script, and the process may crash at any step. */

const CALLS = 16
const MINUTE_MS = 60_000

class Crash extends Error {}

function outcomeOf(status: number): Outcome {
  return { isTaken: status === 200, status, message: `it returned ${status}`, excerpt: "", retryAfterMs: 0 }
}

function newRow(id: string, now: number): BatchRow {
  return {
    id,
    organization_id: "o",
    workspace_id: "w",
    destination_id: "d",
    generation_ids: "[]",
    calls: CALLS,
    state: "pending",
    attempts: 0,
    rejections: 0,
    since: now,
    due_at: now,
    is_sorted: 1,
  }
}

function newSimulation(statusAt: (now: number) => number, crashesAt: (step: number) => boolean = () => false) {
  const rows = new Map<string, BatchRow>()
  const received = new Map<string, number>()
  const simulation = { now: 0, steps: 0, attempts: 0, isListed: 0, breaker: { failures: 0, pausedUntil: 0 } }
  /** Every effect is a step; the process may crash before or after it. */
  const step = async <T>(work: () => T): Promise<T> => {
    if (crashesAt(simulation.steps++)) throw new Crash()
    const result = work()
    if (crashesAt(simulation.steps++)) throw new Crash()
    return result
  }
  const pending = () => [...rows.values()].filter(({ state }) => state === "pending")
  const ports: BacklogPorts = {
    now: () => simulation.now,
    listDue: (now, limit) =>
      step(() => {
        const due = pending().filter((row) => row.due_at <= now)
        const page = due.toSorted((one, other) => one.due_at - other.due_at).slice(0, limit)
        simulation.isListed += page.length
        return page
      }),
    nextDueAt: () => step(() => (pending().length === 0 ? null : Math.min(...pending().map((row) => row.due_at)))),
    attempt: ({ id }) =>
      step(() => {
        simulation.now += 5
        simulation.attempts++
        const status = statusAt(simulation.now)
        // A receiver may accept a delivery and disconnect before it responds.
        if (status === 200 || status === 502) received.set(id, (received.get(id) ?? 0) + 1)
        return outcomeOf(status)
      }),
    save: (page) =>
      step(() => {
        for (const { id } of page.done) rows.delete(id)
        for (const { id, ...change } of page.retries) rows.set(id, { ...(rows.get(id) as BatchRow), ...change })
        simulation.breaker = page.breaker
      }),
    expire: (before, limit) =>
      step(() => {
        const old = pending().filter((row) => row.due_at <= before && row.since <= before)
        for (const row of old.slice(0, limit)) rows.set(row.id, { ...row, state: "dead", due_at: simulation.now })
      }),
  }
  /** One alarm. After a crash the platform repeats it. */
  const wake = async (): Promise<number | null> => {
    try {
      return await drain(simulation.breaker, ports)
    } catch (cause) {
      if (!(cause instanceof Crash)) throw cause
      return simulation.now + 1_000
    }
  }
  return { rows, received, simulation, wake, pending }
}

test("no call is lost and each is redelivered with the same id, for any failures and crashes", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(200, 200, 502, 503, 429), { minLength: 1, maxLength: 40 }),
      fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 20 }),
      fc.array(fc.integer({ min: 0, max: 5_000 }), { minLength: 1, maxLength: 60 }),
      async (script, crashes, arrivals) => {
        const recoversAt = 10 * MINUTE_MS
        let at = 0
        const statusAt = (now: number) => (now > recoversAt ? 200 : (script[at++ % script.length] ?? 200))
        const { rows, received, simulation, wake } = newSimulation(statusAt, (step) => crashes.includes(step))
        const ids = arrivals.map((_, index) => `batch-${index}`)
        for (const [index, gap] of arrivals.entries()) {
          simulation.now += gap
          rows.set(`batch-${index}`, newRow(`batch-${index}`, simulation.now))
          if (index % 3 === 0) await wake()
        }
        for (let next = await wake(); next !== null; next = await wake())
          simulation.now = Math.max(simulation.now + 1, next)
        expect([...received.keys()].toSorted()).toEqual(ids.toSorted())
        expect(rows.size).toBe(0)
        expect(simulation.now).toBeLessThan(recoversAt + MINUTE_MS)
      },
    ),
  )
})

test("a receiver that fails half of the time for ten minutes keeps a bounded backlog", async () => {
  let seed = 7
  const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647
  const { rows, simulation, wake, pending } = newSimulation(() => (random() < 0.5 ? 200 : 503))
  let next: number | null = 0
  let longest = 0
  // 40 calls a second: a batch of 16 every 400 ms.
  for (let arrivesAt = 0; arrivesAt < 10 * MINUTE_MS; arrivesAt += 400) {
    rows.set(`batch-${arrivesAt}`, newRow(`batch-${arrivesAt}`, arrivesAt))
    simulation.now = Math.max(simulation.now, arrivesAt)
    // Adding a batch wakes the object.
    next = Math.min(next ?? Infinity, Math.max(arrivesAt, simulation.breaker.pausedUntil))
    if (next <= simulation.now) next = await wake()
    longest = Math.max(longest, pending().length)
  }
  expect(longest * CALLS).toBeLessThan(1_600)
})

test("a dead receiver costs one attempt per pause, independent of the backlog", async () => {
  const costs = await Promise.all(
    [100, 5_000].map(async (size) => {
      const { rows, simulation, wake } = newSimulation(() => 503)
      for (let at = 0; at < size; at++) rows.set(`batch-${at}`, newRow(`batch-${at}`, 0))
      for (let next = await wake(); next !== null && simulation.now < 60 * MINUTE_MS; next = await wake())
        simulation.now = next
      return { attempts: simulation.attempts, listed: simulation.isListed }
    }),
  )
  expect(costs[0]).toEqual(costs[1])
  expect(costs[0]?.attempts).toBeLessThan(270)
})

test("after an outage of ten minutes the backlog is delivered within a minute", async () => {
  const recoversAt = 10 * MINUTE_MS
  const { rows, simulation, wake } = newSimulation((now) => (now < recoversAt ? 503 : 200))
  for (let at = 0; at < 1_500; at++) rows.set(`batch-${at}`, newRow(`batch-${at}`, at * 400))
  for (let next = await wake(); next !== null; next = await wake()) simulation.now = Math.max(simulation.now, next)
  expect(rows.size).toBe(0)
  expect(simulation.now).toBeLessThan(recoversAt + MINUTE_MS)
})

test("batches become dead letters after 24 hours and not before", async () => {
  const { rows, simulation, wake, pending } = newSimulation(() => 503)
  for (let at = 0; at < 700; at++) rows.set(`batch-${at}`, newRow(`batch-${at}`, at * MINUTE_MS))
  for (let next = await wake(); next !== null; next = await wake()) {
    for (const row of rows.values())
      if (row.state === "dead") expect(simulation.now - row.since).toBeGreaterThanOrEqual(RETRY_WINDOW_MS)
    simulation.now = Math.max(simulation.now + 1, next)
  }
  expect(pending()).toEqual([])
  expect(rows.size).toBe(700)
})
