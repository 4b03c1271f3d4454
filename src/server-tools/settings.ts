import { GatewayError } from "../edge/errors.ts"
import { type Env, variable } from "../env.ts"
import type { ToolSettings, ToolWorld } from "./tool.ts"
import { dnsOverHttps } from "./web-fetch/resolve.ts"
import { configuredSearch } from "./web-search/configured.ts"

const FETCH_TIMEOUT_MS = 10_000
const MAX_FETCH_BYTES = 5_000_000
const DNS_URL = "https://cloudflare-dns.com/dns-query"

/** What the operator set for the tools. Throws where a variable cannot be used, so ask only when a tool is wanted. */
export function toolSettings(env: Env): ToolSettings {
  return {
    webFetch: {
      allowedHosts: new Set(allowedHosts(variable(env, "WEB_FETCH_ALLOWED_HOSTS") ?? "")),
      timeoutMs: FETCH_TIMEOUT_MS,
      maxBytes: MAX_FETCH_BYTES,
    },
    webSearch: configuredSearch(env),
  }
}

/** The world of the tools of one request, from what a route has. */
export function toolWorld(env: Env, { fetch, now, signal }: Pick<ToolWorld, "fetch" | "now" | "signal">): ToolWorld {
  return { fetch, now, signal, resolve: dnsOverHttps(dnsEndpoint(env), fetch), settings: toolSettings(env) }
}

/** Where names are looked up before a page is fetched. */
function dnsEndpoint(env: Env): string {
  const url = URL.parse(variable(env, "WEB_FETCH_DNS_URL") ?? DNS_URL)
  if (url?.protocol === "https:" || url?.protocol === "http:") return url.href
  throw new GatewayError("misconfigured", `WEB_FETCH_DNS_URL: must be a URL of DNS over HTTPS, such as ${DNS_URL}.`)
}

function allowedHosts(list: string): string[] {
  const entries = list.split(",").map((entry) => entry.trim())
  return entries.filter((entry) => entry !== "").map(toEntry)
}

/** As `URL` spells it, which is how the host of a request is spelled when it is looked for. */
function toEntry(entry: string): string {
  const url = /[/@?#\s*]/.test(entry) ? null : URL.parse(`http://${entry}`)
  if (!url) {
    throw new GatewayError(
      "misconfigured",
      "WEB_FETCH_ALLOWED_HOSTS: must be hosts like wiki.example or 10.0.0.5:8080, parted by commas.",
    )
  }
  const host = url.hostname.replace(/\.+$/, "")
  const port = /:(\d+)$/.exec(entry)?.[1]
  return port === undefined || entry.endsWith("]") ? host : `${host}:${Number(port)}`
}
