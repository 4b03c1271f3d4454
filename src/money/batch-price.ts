import { formatPico } from "./cost-lines.ts"
import { priceToPico } from "./money.ts"
import type { Pricing } from "./pricing.ts"

/** Prices of requests in a batch of a provider, exact; a fraction of a pico-USD is rounded up. */
export function batchPricing(pricing: Pricing, percent: number): Pricing {
  const reduce = (price: string) => formatPico((priceToPico(price) * BigInt(percent) + 99n) / 100n)
  const reduced = Object.entries(pricing).map(([name, price]) => [name, reduce(price)])
  return { ...pricing, ...Object.fromEntries(reduced) }
}
