import type { GuardrailRule } from "../errors/errors.ts"
import { priceToPico } from "../money/money.ts"
import type { Provider } from "../providers/provider.ts"
import type { Endpoint } from "./catalogue.ts"

/** The aliases that a call names. `standForAll`: it names no model beside them, so that what allows them allows it. */
export type JudgedAliases = { names: readonly string[]; standForAll: boolean }

/** What takes an endpoint out of the running. `name` completes "No endpoint can take this request: …". */
export type Filter = {
  name: string
  /** `region`: the one that the call must stay in, or null. */
  keeps: (endpoint: Endpoint, provider: Provider, region: string | null, aliases?: JudgedAliases) => boolean
  /** The rule that sets it for the caller; undefined for what the request itself asks for. */
  rule?: GuardrailRule
  /** With which the operator lets the endpoint take requests. */
  command?: (model: string, provider: string) => string
}

/** Whether a name that a caller wrote (a slug, a display name, `slug/quantization`) means this endpoint. */
export function isNamed(name: string, endpoint: Endpoint, provider: Provider): boolean {
  const wanted = name.toLowerCase()
  return (
    wanted === provider.slug ||
    wanted === provider.name.toLowerCase() ||
    (endpoint.quantization !== null && wanted === `${provider.slug}/${endpoint.quantization}`)
  )
}

export const FREE: Filter = {
  name: ":free: they cost",
  keeps: ({ pricing }) =>
    pricing !== null && Object.values(pricing).every((price) => price === undefined || priceToPico(price) === 0n),
}
