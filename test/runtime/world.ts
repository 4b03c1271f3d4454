import { afterAll, beforeAll } from "vitest"
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
