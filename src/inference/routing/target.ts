import type { Endpoint, Model, Pricing } from "../../models/catalogue.ts"
import type { Provider } from "../../providers/provider.ts"

/** One place a call can go, with all that is needed to go there. */
export type Target = { model: Model; endpoint: Endpoint & { pricing: Pricing }; provider: Provider }

export function targetKey(target: Target): string {
  return `${target.endpoint.model} ${target.endpoint.provider}`
}
