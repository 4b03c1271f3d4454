import { expect, test } from "vitest"
import { eventually } from "../support/eventually.ts"
import { newModel } from "./gateway.ts"
import type { Script } from "./upstream.ts"
import { call, usageOf, useSetup } from "./setup.ts"

const HOLD_TTL_MS = 1_500
const setup = useSetup({ HOLD_TTL_MS: String(HOLD_TTL_MS) })

const short: Script = { pieces: ["All", " is", " well"], reportsUsage: true }
/** Several times the lifetime of a hold and of a lease. */
const long: Script = { pieces: Array.from({ length: 60 }, (_, at) => `piece ${at} `), paceMs: 80, reportsUsage: true }

test("a stream that lasts longer than its lease is charged once, and nothing is charged for the lease", async () => {
  const { gateway } = setup
  const organization = await gateway.newOrganization()
  const model = newModel()
  for (let at = 0; at < 5; at++) await call(setup, organization, model, short).client.over
  await call(setup, organization, model, long).client.over
  const rows = await eventually(async () => {
    const found = await gateway.rows(organization.id)
    expect(found.length).toBeGreaterThanOrEqual(6)
    expect(await gateway.holds(organization.id)).toEqual([])
    return found
  })
  expect(rows.map(({ ending }) => ending)).toEqual(Array.from({ length: 6 }, () => "complete"))
  const spent = rows.reduce((sum, row) => sum + row.cost_nano, 0)
  expect(await usageOf(setup, organization)).toEqual({ key: spent, account: spent })
  expect(gateway.logs.filter((line) => line.includes("hold expired"))).toEqual([])
})
