import { isConfined, type Principal } from "../access/principal.ts"
import { GatewayError } from "../errors/errors.ts"
import type { AppliedGuardrails } from "../guardrails/applied.ts"

export const CACHE_HEADER = "x-response-cache"
export const MAX_TTL_SECONDS = 604_800
const DEFAULT_TTL_SECONDS = 3_600

/** How a call uses the response cache. */
export type CacheRequest = {
  ttlSeconds: number
  /** Does not read the cache, but replaces its entry. */
  isRefresh: boolean
  /** Also for requests with tools: a stored response can make the client run a tool again. */
  includesTools: boolean
  /** Shares entries only with calls of this scope; null for those that all keys of the workspace share. */
  scope: string | null
}

/** The key of a cached call, and its guardrails. */
export type CachingCaller = Pick<
  Principal,
  "keyHash" | "counterHash" | "internId" | "source" | "kind" | "externalUser"
> & {
  guardrails: AppliedGuardrails | null
}

/** The header as a regular expression of JSON Schema, which has no flag for both cases. */
export const CACHE_DIRECTIVES = (() => {
  const directive = String.raw`\s*([Oo][Nn]|[Oo][Ff]{2}|[Rr][Ee][Ff][Rr][Ee][Ss][Hh]|[Tt][Oo]{2}[Ll][Ss]|[Tt]{2}[Ll]=\d{1,6})\s*`
  return `^${directive}(,${directive})*$`
})()

const RULE = `${CACHE_HEADER}: accepts on, off, refresh, tools and ttl=<seconds, 1 to ${MAX_TTL_SECONDS}>, separated by commas.`

/**
 * The cache option of the header, otherwise of the preset or workspace (a number of seconds); undefined for no caching.
 * Calls under a guardrail that enforces zero data retention are never cached.
 */
export function cacheRequestOf(
  header: string | null,
  settingSeconds: number | null,
  caller: CachingCaller,
): CacheRequest | undefined {
  if (header === null && settingSeconds === null) return undefined
  const request = parse(header ?? "on", settingSeconds ?? DEFAULT_TTL_SECONDS)
  return request && !enforcesZeroRetention(caller.guardrails) ? { ...request, scope: scopeOf(caller) } : undefined
}

/**
 * Keys that do not see what others of the workspace made would learn from a hit that another key sent the same request,
 * and receive its response. A key that replaces another keeps its entries.
 */
function scopeOf(caller: CachingCaller): string | null {
  if (!isConfined(caller)) return null
  return caller.internId ?? caller.counterHash ?? caller.keyHash
}

function parse(header: string, defaultSeconds: number): Omit<CacheRequest, "scope"> | undefined {
  const directives = header.split(",").map((one) => one.trim().toLowerCase())
  const request = { ttlSeconds: defaultSeconds, isRefresh: false, includesTools: false }
  let isOff = false
  for (const directive of directives) {
    const seconds = /^ttl=(\d{1,6})$/.exec(directive)?.[1]
    if (directive === "off") isOff = true
    else if (directive === "refresh") request.isRefresh = true
    else if (directive === "tools") request.includesTools = true
    else if (seconds !== undefined && Number(seconds) >= 1 && Number(seconds) <= MAX_TTL_SECONDS) {
      request.ttlSeconds = Number(seconds)
    } else if (directive !== "on") throw new GatewayError("invalid_request", RULE)
  }
  return isOff ? undefined : request
}

function enforcesZeroRetention(guardrails: AppliedGuardrails | null): boolean {
  const enforced = ({ rules }: AppliedGuardrails["list"][number]) =>
    Object.entries(rules).some(([name, value]) => name.startsWith("enforce_zdr") && value === true)
  return guardrails?.list.some(enforced) ?? false
}
