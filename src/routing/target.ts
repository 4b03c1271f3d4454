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
}

export function targetKey(target: Target): string {
  return `${target.endpoint.model} ${target.endpoint.provider}`
}

/** Key of health tracking. A BYOK credential has its own: its failures do not count against the endpoint. */
export function healthKey(target: Target): string {
  return target.byok ? `${targetKey(target)} ${target.byok.id}` : targetKey(target)
}
