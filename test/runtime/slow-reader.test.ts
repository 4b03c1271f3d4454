import { expect, test } from "vitest"
import type { Client } from "./client.ts"
import { eventually } from "../support/eventually.ts"
import { newModel } from "./gateway.ts"
import { call, useSetup } from "./setup.ts"

const setup = useSetup({})

/** Tens of megabytes, more than all socket buffers hold; each piece differs. */
const PIECES = Array.from({ length: 3_000 }, (_, at) => `${String(at).padStart(6, "0")} ${"é".repeat(5_000)} `)
/** Bytes that the reader takes before it pauses again. */
const SIP = 2 * 1024 * 1024
const OUTAGE_INTERVAL_MS = 10

async function readSlowly(model: string): Promise<void> {
  const organization = await setup.gateway.newOrganization()
  let rests = 0
  const rest = (reader: Client) => {
    if (rests > reader.received() / SIP) return
    rests += 1
    reader.socket.pause()
    if (rests > 1) setTimeout(() => reader.socket.resume(), OUTAGE_INTERVAL_MS)
  }
  const { exchange, client } = call(setup, organization, model, { pieces: PIECES, reportsUsage: true }, rest)

  // Nothing is read: the gateway stops reading from the provider, otherwise its memory would be the buffer.
  let before = -1
  await eventually(() => {
    const now = exchange.sent.length
    const isStill = exchange.isHeldBack && now === before
    before = now
    expect(isStill).toBe(true)
  })
  expect(exchange.generated.length).toBeLessThan(PIECES.length)

  client.socket.resume()
  await client.over
  const sent = exchange.sent.replaceAll(`"model":"${model.replace(/^.*\//, "")}"`, `"model":"${model}"`)
  // The usage is sent with its cost before [DONE].
  const beforeUsage = sent.slice(0, sent.lastIndexOf("data: ", sent.lastIndexOf("data: [DONE]") - 1))
  expect(client.body().startsWith(beforeUsage)).toBe(true)
  expect(client.body().slice(beforeUsage.length)).toMatch(/^data: \{[^\n]+"cost":[^\n]+\n\ndata: \[DONE\]\n\n$/)
}

test("a slow reader applies backpressure to the provider, and gets every byte in order", () => readSlowly(newModel()))
