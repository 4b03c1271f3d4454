import { STREAMS_TO_TRUST } from "../../src/routing/health.ts"
import { afterAll, beforeAll, expect } from "vitest"
import { askForStream, type Client } from "./client.ts"
import { type Gateway, type Organization, startGateway } from "./gateway.ts"
import { type Exchange, type Script, startUpstream, type Upstream } from "./upstream.ts"

export type World = { gateway: Gateway; upstream: Upstream }

/** A gateway and its provider for the tests of one file. */
export function useWorld(bindings: Record<string, string>): World {
  const world = {} as World
  beforeAll(async () => {
    world.upstream = await startUpstream()
    world.gateway = await startGateway(world.upstream.baseUrl, bindings)
  })
  afterAll(async () => {
    await world.gateway?.stop()
    await world.upstream?.close()
  })
  return world
}

type Call = { exchange: Exchange; client: Client }

/** A stream on its way, seen from both of its ends. */
export function call(
  { gateway, upstream }: World,
  { apiKey }: Organization,
  model: string,
  script: Script,
  onData?: (client: Client) => void,
): Call {
  const exchange = upstream.expect(script)
  const body = { model, messages: [{ role: "user", content: exchange.id }] }
  return { exchange, client: askForStream(gateway.url, apiKey, body, onData) }
}

/** Streams that end well, until the endpoint's bytes are passed without being looked at; and proof that they are. */
export async function earnTrust(world: World, model: string): Promise<void> {
  const organization = await world.gateway.newOrganization()
  for (let at = 0; at < STREAMS_TO_TRUST; at++) {
    await call(world, organization, model, { pieces: ["Well"], reportsUsage: true }).client.over
  }
  await expectLane(world, model, "native")
}

/** The lane shows in what it does to a careless provider's frames: one mends them, the other does not touch them. */
export async function expectLane(world: World, model: string, lane: "native" | "scripted"): Promise<void> {
  const organization = await world.gateway.newOrganization()
  const { client } = call(world, organization, model, { pieces: ["Well"], reportsUsage: true, isCareless: true })
  await client.over
  expect(client.body().includes('"system_fingerprint":null')).toBe(lane === "native")
}

/** What was charged, by the key's counter and by the account's, in nano-USD. */
export async function usageOf(
  { gateway }: World,
  organization: Organization,
): Promise<{ key: number; account: number }> {
  const key = await gateway.get<{ usage: number }>(organization.apiKey, "/key")
  const account = await gateway.get<{ total_usage: number }>(organization.managementKey, "/credits")
  return { key: toNano(key.usage), account: toNano(account.total_usage) }
}

export function toNano(usd: number): number {
  return Math.round(usd * 1e9)
}
