import { expect, test } from "vitest"
import { piecesOf } from "./client.ts"
import { eventually } from "../support/eventually.ts"
import { newModel, type Row } from "./gateway.ts"
import type { Script } from "./upstream.ts"
import { call, usageOf, useSetup } from "./setup.ts"

const HOLD_TTL_MS = 1_500
const setup = useSetup({ HOLD_TTL_MS: String(HOLD_TTL_MS) })

const IN_FLIGHT = 50
const COMPLETED = 5
const ROUNDS = 3

const fullAnswer: Script = { pieces: ["All", " is", " well"], reportsUsage: true }
/** Longer than the test: the runtime is killed during the stream. */
const endless: Script = { pieces: Array.from({ length: 10_000 }, (_, at) => `piece ${at} `), paceMs: 20 }
const unanswered: Script = { pieces: ["Too late"], silenceMs: 60_000 }

test("a runtime killed with 50 streams in flight charges and records each once after its restart", async () => {
  const { gateway } = setup
  const organization = await gateway.newOrganization()
  const model = newModel()
  let made = 0
  for (let round = 0; round < ROUNDS; round++) {
    for (let at = 0; at < COMPLETED; at++) await call(setup, organization, model, fullAnswer).client.over
    // One in five has no response yet, so its client knows no id.
    const calls = Array.from({ length: IN_FLIGHT }, (_, at) =>
      call(setup, organization, model, at % 5 === 0 ? unanswered : endless),
    )
    await Promise.all(calls.map(({ exchange }) => exchange.arrived))
    const answered = calls.filter(({ exchange }) => exchange.script === endless)
    await eventually(() => {
      for (const { client } of answered) expect(piecesOf(client.body()).length).toBeGreaterThan(2)
    })
    // Calls of some duration have separate holds.
    await eventually(async () => expect(await gateway.holds(organization.id)).toHaveLength(IN_FLIGHT))
    await gateway.killRuntime()
    await Promise.all(calls.map(({ client }) => client.over))
    made += COMPLETED + IN_FLIGHT

    // From the database, which the ledger's alarm fills: no request wakes the ledger.
    const attributed = (rows: readonly Row[]) => rows.filter(({ ending }) => ending !== "unattributed")
    const rows = await eventually(async () => {
      const found = await gateway.rows(organization.id)
      expect(attributed(found).length).toBeGreaterThanOrEqual(made)
      expect(await gateway.holds(organization.id)).toEqual([])
      return found
    })
    expect(new Set(attributed(rows).map(({ id }) => id)).size).toBe(made)
    expect(attributed(rows)).toHaveLength(made)
    const spent = rows.reduce((sum, row) => sum + row.cost_nano, 0)
    expect(spent).toBeGreaterThan(0)
    expect(await usageOf(setup, organization)).toEqual({ key: spent, account: spent })
    expect(rows.filter(({ ending }) => ending === "complete")).toHaveLength((round + 1) * COMPLETED)
    for (const { client } of answered) {
      const id = client.header("x-generation-id")
      const receipt = await gateway.get<{ ending: string; total_cost: number }>(
        organization.apiKey,
        `/generation?id=${id}`,
      )
      expect(receipt.ending).toBe("unsettled")
      expect(receipt.total_cost).toBeGreaterThan(0)
    }
  }

  const { client } = call(setup, organization, model, fullAnswer)
  await client.over
  expect(piecesOf(client.body())).toEqual(fullAnswer.pieces)
  await eventually(async () => {
    const complete = (await gateway.rows(organization.id)).filter(({ ending }) => ending === "complete")
    expect(complete).toHaveLength(ROUNDS * COMPLETED + 1)
  })
})

test("a runtime killed between a response and its report is charged an estimate for the unreported calls", async () => {
  const { gateway } = setup
  const organization = await gateway.newOrganization()
  const model = newModel()
  for (let at = 0; at < COMPLETED; at++) await call(setup, organization, model, fullAnswer).client.over
  const completeRows = async () => (await gateway.rows(organization.id)).filter(({ ending }) => ending === "complete")
  await eventually(async () => expect(await completeRows()).toHaveLength(COMPLETED))
  const [cost = 0] = (await completeRows()).map((row) => row.cost_nano)

  let reported = COMPLETED
  for (let round = 0; round < ROUNDS; round++) {
    // A lease that covers the following calls.
    for (let at = 0; at < 2; at++) await call(setup, organization, model, fullAnswer).client.over
    const kill = gateway.aimAtRuntime()
    const { promise: killed, resolve } = Promise.withResolvers<void>()
    const answered = new Set<string>()
    const calls = Array.from({ length: 4 }, () =>
      call(setup, organization, model, fullAnswer, (client) => {
        if (!client.body().includes("[DONE]") || answered.size > 0) return
        answered.add(client.header("x-generation-id") ?? "")
        resolve(kill())
      }),
    )
    await Promise.all(calls.map(({ client }) => client.over))
    await killed
    await eventually(async () => expect(await gateway.holds(organization.id)).toEqual([]))
    const rows = await eventually(async () => {
      const found = await gateway.rows(organization.id)
      const lost = found.filter(({ ending }) => ending === "unattributed")
      expect(lost.length + found.filter(({ id }) => answered.has(id)).length).toBeGreaterThan(round)
      return found
    })
    const spent = rows.reduce((sum, row) => sum + row.cost_nano, 0)
    reported += 3
    // Two calls before the kill, and the completed one.
    expect(spent).toBeGreaterThanOrEqual(reported * cost)
    expect(await usageOf(setup, organization)).toEqual({ key: spent, account: spent })
  }
  expect((await gateway.rows(organization.id)).some(({ ending }) => ending === "unattributed")).toBe(true)
})
