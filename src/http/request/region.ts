import { parseJson } from "../../support/text/json.ts"
import type { MiddlewareHandler } from "hono"
import * as z from "zod"
import { configOf } from "../../config/config.ts"
import type { Env } from "../../config/env.ts"
import type { App } from "../../access/app.ts"
import { GatewayError } from "../../errors/errors.ts"
import { requestedHost } from "./hostname.ts"

/**
 * Regional hostnames: inference on such a hostname uses only endpoints of its region, and resources without region
 * (interns, their vaults and daemons) are rejected.
 */

const RULE = 'REGIONAL_HOSTS: must be a JSON object of exact hostnames and their regions, {"eu.example.com":"europe"}'
const RegionalHosts = z.record(z.string().min(1), z.string().min(1))

const remembered = new WeakMap<Env, ReadonlyMap<string, string>>()

/** The regions of this deployment's hostnames. */
export function regionalHosts(env: Env): ReadonlyMap<string, string> {
  const cached = remembered.get(env)
  if (cached) return cached
  const parsed = RegionalHosts.safeParse(parseJson(configOf(env).REGIONAL_HOSTS))
  if (!parsed.success) throw new GatewayError("misconfigured", `${RULE}.`)
  const hosts = new Map(Object.entries(parsed.data).map(([host, region]) => [host.toLowerCase(), region]))
  remembered.set(env, hosts)
  return hosts
}

/** The region of the requested hostname, or null. Hostnames must match exactly. */
export function regionOf(request: Pick<Request, "url">, env: Env): string | null {
  const hosts = regionalHosts(env)
  if (hosts.size === 0) return null
  return hosts.get(requestedHost(request)) ?? null
}

/**
 * For routes without a region. Runs before authentication: the response is the same for every key.
 */
export const rejectRegional: MiddlewareHandler<App> = async function rejectRegional(c, next) {
  const region = regionOf(c.req.raw, c.env)
  if (region !== null) {
    throw new GatewayError(
      "forbidden",
      `Interns, vaults, daemons and MCP servers are not served on the regional hostname of ${region}. Use the main hostname.`,
      { metadata: { reason: "regional_hostname", retryable: false } },
    )
  }
  return next()
}
