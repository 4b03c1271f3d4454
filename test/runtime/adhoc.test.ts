import { expect, test } from "vitest"
import { setTimeout as wait } from "node:timers/promises"
import { newModel } from "./gateway.ts"
import { call, earnTrust, useWorld, usageOf } from "./world.ts"
import { piecesOf } from "./client.ts"
import { countTokens } from "./upstream.ts"
import { eventually } from "./eventually.ts"
const world = useWorld({ EARLY_COMMIT_MS: "100", KEEPALIVE_MS: "50", HOLD_TTL_MS: "60000" })
test("immediately", async () => {
  const out: Record<string, number> = {}
  for (let i = 0; i < 40; i++) {
    const organization = await world.gateway.newOrganization()
    let asked = false
    const { exchange, client } = call(world, organization, newModel(), {
      pieces: Array.from({ length: 20 }, () => "abcd"),
      paceMs: 3,
      silenceMs: i % 2 ? 150 : 0,
    })
    void exchange.asked.then(() => (asked = true))
    await new Promise((r) => client.socket.once("connect", r))
    if (i % 4 > 1) await wait(i % 8)
    client.leave()
    await wait(900)
    const rows = await world.gateway.rows(organization.id)
    const holds = await world.gateway.holds(organization.id)
    const k = JSON.stringify({
      asked,
      rows: rows.map((r) => [r.ending, r.tokens > 0]),
      holds: holds.length,
      closed: exchange.closed,
    })
    out[k] = (out[k] ?? 0) + 1
  }
  console.log(out)
})
test("bursts", async () => {
  const trusted = newModel()
  await earnTrust(world, trusted)
  const out: Record<string, number> = {}
  for (let i = 0; i < 60; i++) {
    const organization = await world.gateway.newOrganization()
    const after = Math.floor(Math.random() * 400_000)
    const { exchange, client } = call(
      world,
      organization,
      i % 2 ? trusted : newModel(),
      { pieces: Array.from({ length: 3000 }, (_, n) => "x".repeat((n % 900) + 1)), paceMs: 0, reportsUsage: i % 3 > 0 },
      (c) => {
        if (c.received() > after) c.leave()
      },
    )
    await client.over
    await eventually(() => expect(exchange.closed).toBe(true))
    const [row] = await eventually(async () => {
      const r = await world.gateway.rows(organization.id)
      expect(r).toHaveLength(1)
      return r
    })
    const delivered = countTokens(piecesOf(client.body()))
    const generated = countTokens(exchange.generated)
    if (!row) throw new Error()
    const ok = row.tokens >= delivered && row.tokens <= generated
    if (!ok)
      console.log("BAD", i % 2, {
        delivered,
        tokens: row.tokens,
        generated,
        ending: row.ending,
        after,
        received: client.received(),
      })
    const k = `${i % 2} ${row.ending} ${ok}`
    out[k] = (out[k] ?? 0) + 1
    if (i < 8)
      console.log({
        lane: i % 2,
        delivered,
        tokens: row.tokens,
        generated,
        ending: row.ending,
        after,
        received: client.received(),
      })
    expect((await usageOf(world, organization)).key).toBe(row.cost_nano)
  }
  console.log(out, world.gateway.logs)
}, 120000)
