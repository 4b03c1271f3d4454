import { picoToNano, priceToPico } from "../../money/money.ts"
import { GatewayError } from "../../errors/errors.ts"
import { configOf, credential } from "../../config/config.ts"
import type { Env } from "../../config/env.ts"
import { BASE_URL_RULE, BaseUrl } from "../../config/base-url.ts"
import { engines, type EngineName, engineNames } from "./engines.ts"

export type SearchSettings = {
  /** The configured engines, in order of preference. */
  engines: ReadonlyMap<EngineName, { baseUrl: string; apiKey: string | undefined }>
  preferred: EngineName
  /** Nano-USD charged for a search. */
  priceNano: number
  timeoutMs: number
}

const TIMEOUT_MS = 15_000

/** Search engines with configuration; undefined if there are none. */
export function configuredSearch(env: Env): SearchSettings | undefined {
  const configured = new Map(engineNames.flatMap((name) => toConfigured(name, env) ?? []))
  const [first] = configured.keys()
  const engine = configOf(env).WEB_SEARCH_ENGINE
  if (engine !== undefined && !configured.has(engine as EngineName)) throw unusableError(engine)
  if (first === undefined) return undefined
  return {
    engines: configured,
    preferred: (engine as EngineName | undefined) ?? first,
    priceNano: picoToNano(priceToPico(configOf(env).WEB_SEARCH_PRICE)),
    timeoutMs: TIMEOUT_MS,
  }
}

/** The variable that enables an engine: its API key, or the base URL of a self-hosted server. */
export function variableOf(name: EngineName): `${string}_API_KEY` | "SEARXNG_BASE_URL" {
  return name === "searxng" ? "SEARXNG_BASE_URL" : `${name.toUpperCase()}_API_KEY`
}

export const SEARCH_VARIABLES = engineNames
  .map(variableOf)
  .join(", ")
  .replace(/, (\w+)$/, " or $1")

function toConfigured(name: EngineName, env: Env) {
  const baseName = `${name.toUpperCase()}_BASE_URL` as const
  const apiKey = credential(env, `${name.toUpperCase()}_API_KEY`)
  const override = credential(env, baseName)
  if (credential(env, variableOf(name)) === undefined) return undefined
  const parsed = BaseUrl.safeParse(override ?? engines[name].baseUrl)
  if (!parsed.success) throw new GatewayError("misconfigured", `${baseName}: ${BASE_URL_RULE}.`)
  return [[name, { baseUrl: parsed.data, apiKey }] as const]
}

function unusableError(engine: string): GatewayError {
  const name = engineNames.find((one) => one === engine)
  const rule = name ? `${name} needs ${variableOf(name)}` : `accepts ${engineNames.join(", ")}`
  return new GatewayError("misconfigured", `WEB_SEARCH_ENGINE: ${rule}.`)
}
