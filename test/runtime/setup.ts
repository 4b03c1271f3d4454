import { afterAll, beforeAll } from "vitest"
import { requestStream, type Client } from "./client.ts"
import { type Gateway, type Organization, startGateway } from "./gateway.ts"
import { type Exchange, type Script, startUpstream, type Upstream } from "./upstream.ts"

export type Setup = { gateway: Gateway; upstream: Upstream }

/** A gateway and its provider for the tests of one file. */
export function useSetup(bindings: Record<string, string>): Setup {
  const setup = {} as Setup
  beforeAll(async () => {
    setup.upstream = await startUpstream()
    setup.gateway = await startGateway(setup.upstream.baseUrl, bindings)
  })
  afterAll(async () => {
    await setup.gateway?.stop()
    await setup.upstream?.close()
  })
  return setup
}

type Call = { exchange: Exchange; client: Client }

/** A stream in flight, seen from both ends. */
export function call(
  { gateway, upstream }: Setup,
  { apiKey }: Organization,
  model: string,
  script: Script,
  onData?: (client: Client) => void,
): Call {
  const exchange = upstream.expect(script)
  const body = { model, messages: [{ role: "user", content: exchange.id }] }
  return { exchange, client: requestStream(gateway.url, apiKey, body, onData) }
}

/** The charged nano-USD by the key's counter and by the account's. */
export async function usageOf(
  { gateway }: Setup,
  organization: Organization,
): Promise<{ key: number; account: number }> {
  const key = await gateway.get<{ usage: number }>(organization.apiKey, "/key")
  const account = await gateway.get<{ total_usage: number }>(organization.managementKey, "/credits")
  return { key: toNano(key.usage), account: toNano(account.total_usage) }
}

export function toNano(usd: number): number {
  return Math.round(usd * 1e9)
}
