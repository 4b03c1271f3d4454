import type { ByokCredential } from "../byok/usable-credentials.ts"
import type { Endpoint, Model } from "../models/catalogue.ts"
import type { Pricing } from "../money/pricing.ts"
import type { Provider } from "../providers/provider.ts"

/** One place a call can go, with all that is needed to go there. */
export type Target = {
  model: Model
  endpoint: Endpoint & { pricing: Pricing }
  provider: Provider
  /** The caller's own key, which is sent in place of the gateway's. */
  byok?: ByokCredential
  /** Which of the gateway's keys of the provider is sent, from 1, where it has several. */
  keyNumber?: number
  /** Other keys of the provider take the same calls, so that sessions are spread over them. */
  sharesLoad?: true
}

export function targetKey(target: Target): string {
  return `${target.endpoint.model} ${target.endpoint.provider}`
}

/** Whether these are keys of one account or workspace for the same endpoint, which share its calls. */
export function isSibling(target: Target, other: Target): boolean {
  return (
    target.sharesLoad === true &&
    other.sharesLoad === true &&
    target.byok?.sortOrder === other.byok?.sortOrder &&
    targetKey(target) === targetKey(other)
  )
}

/** Key of health tracking. Each key of several has its own: its failures do not count against the others. */
export function healthKey(target: Target): string {
  const { byok, keyNumber } = target
  if (byok) return `${targetKey(target)} ${byok.id}`
  return keyNumber === undefined ? targetKey(target) : `${targetKey(target)} #${keyNumber}`
}
