import * as fc from "fast-check"
import { expect, test } from "vitest"
import { piecesOf } from "./client.ts"
import { eventually } from "../support/eventually.ts"
import { runs } from "../support/runs.ts"
import { newModel } from "./gateway.ts"
import { countTokens, type Script } from "./upstream.ts"
import { call, toNano, usageOf, useSetup } from "./setup.ts"

// A silent provider's stream is soon noticed to have no client; holds outlast every call.
const setup = useSetup({ EARLY_COMMIT_MS: "100", KEEPALIVE_MS: "50", HOLD_TTL_MS: "60000" })

type Disconnect = Required<Pick<Script, "pieces" | "paceMs" | "silenceMs" | "reportsUsage">> & { afterBytes: number }

/** As soon as the request is written. */
const AT_ONCE = -1

/** Bytes count from the status line; 0 is as soon as the provider received the call, before any response. */
const disconnects: fc.Arbitrary<Disconnect> = fc.record({
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

async function leave(model: string, { afterBytes, ...script }: Disconnect): Promise<Left> {
  const organization = await setup.gateway.newOrganization()
  const { exchange, client } = call(setup, organization, model, script, (reader) => {
    if (reader.received() >= afterBytes) reader.leave()
  })
  if (afterBytes === AT_ONCE) client.socket.once("connect", client.leave)
  await exchange.arrived
  if (afterBytes === 0) client.leave()
  await client.over
  await eventually(() => expect(exchange.closed).toBe(true))
  await eventually(async () => expect(await setup.gateway.holds(organization.id)).toEqual([]))
  const [generation, ...others] = await eventually(async () => {
    const rows = await setup.gateway.rows(organization.id)
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
  expect(await usageOf(setup, organization)).toEqual({ key: generation.cost_nano, account: generation.cost_nano })

  type Receipt = { total_cost: number; tokens_prompt: number; tokens_completion: number }
  const receipt = await setup.gateway.get<Receipt>(organization.apiKey, `/generation?id=${generation.id}`)
  expect(receipt.tokens_completion).toBe(tokens)
  expect(toNano(receipt.total_cost)).toBe(receipt.tokens_prompt * 1_000 + receipt.tokens_completion * 2_000)
  return { organizationId: organization.id, ending: generation.ending }
}

/** Nothing was recorded late, no error was logged, and enough runs were cancelled. */
async function checkRun(left: readonly Left[]): Promise<void> {
  expect(setup.gateway.logs).toEqual([])
  for (const { organizationId } of left) expect(await setup.gateway.rows(organizationId)).toHaveLength(1)
  // Others completed before the client disconnected.
  const cancelled = left.filter(({ ending }) => ending === "cancelled").length
  expect(cancelled).toBeGreaterThanOrEqual(Math.max(1, Math.floor(left.length / 8)))
}

/** Cancelled in every run: the provider is silent when the client disconnects. */
const duringSilence: Disconnect = {
  pieces: ["a", "é", "🌍"],
  paceMs: 1,
  silenceMs: 250,
  reportsUsage: true,
  afterBytes: 0,
}

// A counterexample is reported with its seed and not shrunk, because each try takes a stream's time.
const settings = { numRuns: runs(0.4), endOnFailure: true, examples: [[duringSilence]] as [Disconnect][] }

test.each([
  ["a slow stream", {}],
  ["a burst", { paceMs: 0 }],
])("a client that disconnects from %s, at any byte, is charged once for the delivered content", async (_, script) => {
  const left: Left[] = []
  const property = fc.asyncProperty(disconnects, async (disconnect) => {
    left.push(await leave(newModel(), { ...disconnect, ...script }))
  })
  await fc.assert(property, settings)
  await checkRun(left)
})
