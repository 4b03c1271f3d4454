import { formatPico } from "./cost-lines.ts"
import { priceToPico } from "./money.ts"
import { mapPrices, type PriceList } from "./price-list.ts"

/** Prices of requests in a batch of a provider, exact; a fraction of a pico-USD is rounded up. */
export function batchPricing(pricing: PriceList, percent: number): PriceList {
  return mapPrices(pricing, (price) => formatPico((priceToPico(price) * BigInt(percent) + 99n) / 100n))
}
