import * as fc from "fast-check"
import { expect, test } from "vitest"
import { piecesOf } from "./client.ts"
import { eventually } from "../support/eventually.ts"
import { runs } from "../support/runs.ts"
import { newModel } from "./gateway.ts"
import { countTokens, type Script } from "./upstream.ts"
import { call, toNano, usageOf, useWorld } from "./world.ts"

// A provider that is silent is noticed soon to have nobody waiting; holds outlast every call.
const world = useWorld({ EARLY_COMMIT_MS: "100", KEEPALIVE_MS: "50", HOLD_TTL_MS: "60000" })

type Departure = Required<Pick<Script, "pieces" | "paceMs" | "silenceMs" | "reportsUsage">> & { afterBytes: number }

/** As soon as the request is written. */
const AT_ONCE = -1

/** Bytes count from the first of the status line; 0 is as soon as the provider was asked, before anything came back. */
const departures: fc.Arbitrary<Departure> = fc.record({
  pieces: fc.array(fc.string({ unit: fc.constantFrom("a", "é", "🌍", '"', "\n"), minLength: 1, maxLength: 9 }), {
    minLength: 1,
    maxLength: 40,
    size: "max",
  }),
  paceMs: fc.integer({ min: 1, max: 6 }),
  silenceMs: fc.constantFrom(0, 0, 0, 250),
  reportsUsage: fc.boolean(),
  afterBytes: fc.oneof(
    fc.constantFrom(AT_ONCE, 0),
    fc.integer({ min: 1, max: 400 }),
    fc.integer({ min: 400, max: 9_000 }),
  ),
})

type Left = { organizationId: string; ending: string }

async function leave(model: string, { afterBytes, ...script }: Departure): Promise<Left> {
  const organization = await world.gateway.newOrganization()
  const { exchange, client } = call(world, organization, model, script, (reader) => {
    if (reader.received() >= afterBytes) reader.leave()
  })
  if (afterBytes === AT_ONCE) client.socket.once("connect", client.leave)
  await exchange.asked
  if (afterBytes === 0) client.leave()
  await client.over
  await eventually(() => expect(exchange.closed).toBe(true))
  await eventually(async () => expect(await world.gateway.holds(organization.id)).toEqual([]))
  const [generation, ...others] = await eventually(async () => {
    const rows = await world.gateway.rows(organization.id)
    expect(rows).not.toEqual([])
    return rows
  })
  if (!generation) throw new Error("There is no generation.")
  expect(others).toEqual([])

  const delivered = countTokens(piecesOf(client.body()))
  const { tokens } = generation
  expect(tokens).toBeGreaterThanOrEqual(delivered)
  expect(tokens).toBeLessThanOrEqual(countTokens(exchange.generated))
  if (exchange.generated.length < script.pieces.length) expect(generation.ending).toBe("cancelled")
  expect(await usageOf(world, organization)).toEqual({ key: generation.cost_nano, account: generation.cost_nano })

  type Receipt = { total_cost: number; tokens_prompt: number; tokens_completion: number }
  const receipt = await world.gateway.get<Receipt>(organization.apiKey, `/generation?id=${generation.id}`)
  expect(receipt.tokens_completion).toBe(tokens)
  expect(toNano(receipt.total_cost)).toBe(receipt.tokens_prompt * 1_000 + receipt.tokens_completion * 2_000)
  return { organizationId: organization.id, ending: generation.ending }
}

/** Nothing was recorded late, nothing went wrong on the way, and the runs were what they were meant to be. */
async function conclude(left: readonly Left[]): Promise<void> {
  expect(world.gateway.logs).toEqual([])
  for (const { organizationId } of left) expect(await world.gateway.rows(organizationId)).toHaveLength(1)
  // Others were complete before the client left.
  expect(left.filter(({ ending }) => ending === "cancelled").length).toBeGreaterThan(left.length / 4)
}

// A counterexample is told with its seed; it is not made smaller, since each try takes a stream's time.
const settings = { numRuns: runs(0.4), endOnFailure: true }

test.each([
  ["a slow stream", {}],
  ["a burst", { paceMs: 0 }],
])("a client that disconnects from %s, at any byte, pays once for what was delivered", async (_, script) => {
  const left: Left[] = []
  const property = fc.asyncProperty(departures, async (departure) => {
    left.push(await leave(newModel(), { ...departure, ...script }))
  })
  await fc.assert(property, settings)
  await conclude(left)
})
