import { parseJson } from "../support/json.ts"
import type { MiddlewareHandler } from "hono"
import * as z from "zod"
import { configOf } from "../config/config.ts"
import type { Env } from "../config/env.ts"
import type { App } from "../access/app.ts"
import { GatewayError } from "../errors/errors.ts"

/**
 * Regional hostnames: on one of them inference stays with the endpoints of its region, and what has no region (interns,
 * their vaults and daemons) is refused.
 */

const RULE = 'REGIONAL_HOSTS: must be a JSON object of exact hostnames and their regions, {"eu.example.com":"europe"}'
const RegionalHosts = z.record(z.string().min(1), z.string().min(1))

const remembered = new WeakMap<Env, ReadonlyMap<string, string>>()

/** The regions of this deployment's hostnames. */
export function regionalHosts(env: Env): ReadonlyMap<string, string> {
  const known = remembered.get(env)
  if (known) return known
  const parsed = RegionalHosts.safeParse(parseJson(configOf(env).REGIONAL_HOSTS))
  if (!parsed.success) throw new GatewayError("misconfigured", `${RULE}.`)
  const hosts = new Map(Object.entries(parsed.data).map(([host, region]) => [host.toLowerCase(), region]))
  remembered.set(env, hosts)
  return hosts
}

/** The region of the hostname that a request came to, or null. Exact: no suffix of a name stands for it. */
export function regionOf(request: Request, env: Env): string | null {
  const hosts = regionalHosts(env)
  if (hosts.size === 0) return null
  const { hostname } = new URL(request.url)
  // A name may be written with the dot of the root.
  return hosts.get(hostname.toLowerCase().replace(/\.$/, "")) ?? null
}

/**
 * For routes whose work belongs to no region. Stands before the key is looked at: the answer is the same for every key.
 */
export const refuseRegional: MiddlewareHandler<App> = async function refuseRegional(c, next) {
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
