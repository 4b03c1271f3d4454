import type { Env } from "../config/env.ts"
import { hostsIn, networkOf } from "../outbound/settings.ts"
import type { ToolSettings, ToolDeps } from "./tool.ts"
import { configuredSearch } from "./web-search/configured.ts"

const FETCH_TIMEOUT_MS = 10_000
const MAX_FETCH_BYTES = 5_000_000

/** Settings of the operator for the tools. Throws if a variable is invalid, so call it only if a tool is requested. */
export function toolSettings(env: Env): ToolSettings {
  return {
    webFetch: {
      allowedHosts: hostsIn(env, "WEB_FETCH_ALLOWED_HOSTS"),
      timeoutMs: FETCH_TIMEOUT_MS,
      maxBytes: MAX_FETCH_BYTES,
    },
    webSearch: configuredSearch(env),
  }
}

/** Dependencies of the tools of one request. */
export function toolDepsOf(env: Env, { fetch, now, signal }: Pick<ToolDeps, "fetch" | "now" | "signal">): ToolDeps {
  return { fetch, now, signal, ...networkOf(env, fetch), settings: toolSettings(env) }
}
