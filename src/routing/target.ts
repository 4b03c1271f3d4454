import type { ByokCredential } from "../byok/usable-credentials.ts"
import type { Endpoint, Model } from "../models/catalogue.ts"
import type { PriceList } from "../money/price-list.ts"
import type { Provider } from "../providers/provider.ts"

/** An endpoint with the provider and the credential to use. */
export type Target = {
  model: Model
  endpoint: Endpoint & { pricing: PriceList }
  provider: Provider
  /** The BYOK credential that is sent instead of the gateway's key. */
  byok?: ByokCredential
  /** Number of the gateway's key that is sent, from 1, if the provider has several. */
  keyNumber?: number
  /** Other keys of the provider serve the same calls, so sessions are distributed among them. */
  sharesLoad?: true
}

export function targetKey(target: Target): string {
  return `${target.endpoint.model} ${target.endpoint.provider}`
}

/** Whether two targets are keys of one account or workspace for the same endpoint, which share its calls. */
export function isSibling(target: Target, other: Target): boolean {
  return (
    target.sharesLoad === true &&
    other.sharesLoad === true &&
    target.byok?.sortOrder === other.byok?.sortOrder &&
    targetKey(target) === targetKey(other)
  )
}

/** Key of health tracking. Separate for each key of a provider, since failures of one do not affect the others. */
export function healthKey(target: Target): string {
  const { byok, keyNumber } = target
  if (byok) return `${targetKey(target)} ${byok.id}`
  return keyNumber === undefined ? targetKey(target) : `${targetKey(target)} #${keyNumber}`
}
