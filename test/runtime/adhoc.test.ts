import { expect, test } from "vitest"
import { setTimeout as wait } from "node:timers/promises"
import { newModel } from "./gateway.ts"
import { call, earnTrust, useWorld, usageOf } from "./world.ts"
import { eventually } from "./eventually.ts"
const world = useWorld({ EARLY_COMMIT_MS: "100", KEEPALIVE_MS: "50", HOLD_TTL_MS: "5000" })
test("bursts", async () => {
  const trusted = newModel()
  await earnTrust(world, trusted)
  const out: Record<string, number> = {}
  let seen = 0
  const one = async (i: number, lane: number) => {
    const organization = await world.gateway.newOrganization()
    const after = Math.floor(Math.random() * 400_000)
    const { exchange, client } = call(world, organization, lane ? trusted : newModel(), { pieces: Array.from({length: 3000}, (_, n) => "x".repeat(n % 900 + 1)), paceMs: 0, reportsUsage: i % 3 > 0 }, (c) => { if (c.received() > after) c.leave() })
    await client.over
    const [row] = await eventually(async () => { const r = await world.gateway.rows(organization.id); expect(r).toHaveLength(1); return r })
    if (!row) throw new Error()
    const k = `${lane} ${row.ending}`
    out[k] = (out[k] ?? 0) + 1
    if (row.ending !== "cancelled") console.log("ODD", lane, i, row, after, client.received())
    for (const log of world.gateway.logs.slice(seen)) console.log(i, lane, row.id, row.ending, after, client.received(), log.slice(0, 300))
    seen = world.gateway.logs.length
  }
  for (let i = 0; i < 60; i++) await one(i, 0)
  for (let i = 0; i < 60; i++) await one(i, 1)
  console.log(out)
}, 220000)
