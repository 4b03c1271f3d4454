import type { GuardrailRule } from "../../errors/errors.ts"
import { isFree } from "../../money/price-list.ts"
import type { Provider } from "../../providers/provider.ts"
import type { Endpoint } from "../catalogue.ts"

/**
 * Aliases that a call names. `coverAllModels`: the call names no other model, so a rule that allows the aliases allows
 * the call.
 */
export type RequestedAliases = { names: readonly string[]; coverAllModels: boolean }

/** Excludes endpoints. `name` completes "No endpoint can take this request: …". */
export type Filter = {
  name: string
  /** `region`: the one that the call must stay in, or null. */
  keeps: (endpoint: Endpoint, provider: Provider, region: string | null, aliases?: RequestedAliases) => boolean
  /** The rule that sets it for the principal; undefined for filters of the request itself. */
  rule?: GuardrailRule
  /** Command with which the operator can make the endpoint accept requests. */
  command?: (model: string, provider: string) => string
}

/** Whether a name from a client (a slug, a display name, `slug/quantization`) matches this endpoint. */
export function isNamed(name: string, endpoint: Endpoint, provider: Provider): boolean {
  const lowerName = name.toLowerCase()
  return (
    lowerName === provider.slug ||
    lowerName === provider.name.toLowerCase() ||
    (endpoint.quantization !== null && lowerName === `${provider.slug}/${endpoint.quantization}`)
  )
}

export const FREE: Filter = {
  name: ":free: they cost",
  keeps: ({ pricing }) => pricing !== null && isFree(pricing),
}
