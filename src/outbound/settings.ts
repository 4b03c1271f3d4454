import { GatewayError } from "../errors/errors.ts"
import { configOf } from "../config/config.ts"
import type { Env } from "../config/env.ts"
import { dnsOverHttps, type Network } from "./resolve.ts"
import type { OutboundDeps } from "./send.ts"

const TIMEOUT_MS = 10_000

/** Resolver for outbound requests. `isGuarded`: the network of the deployment blocks private addresses. */
export function networkOf(env: Env, send: typeof fetch): Network {
  const url = new URL(configOf(env).WEB_FETCH_DNS_URL)
  const resolve = dnsOverHttps(url.href, send)
  const { PUBLIC_NETWORK: network } = env
  if (!network) return { resolve, isGuarded: configOf(env).STAGE === "production" }
  return { resolve, isGuarded: true, publicFetch: (...one) => network.fetch(...one) }
}

/** The hosts, with or without a port, that the operator listed in a variable. */
export function hostsIn(env: Env, name: "WEB_FETCH_ALLOWED_HOSTS" | "PRIVATE_HOSTS"): ReadonlySet<string> {
  const { [name]: list } = configOf(env)
  const entries = list.split(",").map((entry) => entry.trim())
  return new Set(entries.filter((entry) => entry !== "").map((entry) => toEntry(entry, name)))
}

/** In the spelling of `URL`, which hosts of requests have when they are looked up. */
function toEntry(entry: string, name: string): string {
  const url = /[/@?#\s*]/.test(entry) ? null : URL.parse(`http://${entry}`)
  if (!url) {
    throw new GatewayError(
      "misconfigured",
      `${name}: must be hosts like wiki.example or 10.0.0.5:8080, separated by commas.`,
    )
  }
  const host = url.hostname.replace(/\.+$/, "")
  const port = /:(\d+)$/.exec(entry)?.[1]
  return port === undefined || entry.endsWith("]") ? host : `${host}:${Number(port)}`
}

/** For requests to addresses that clients configure: destinations and directories. */
export function outboundDeps(env: Env): OutboundDeps {
  const send: typeof fetch = (...one) => fetch(...one)
  return {
    fetch: send,
    ...networkOf(env, send),
    privateHosts: hostsIn(env, "PRIVATE_HOSTS"),
    timeoutMs: TIMEOUT_MS,
  }
}
