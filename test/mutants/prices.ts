import type { Mutant } from "./mutant.ts"

const LIST = "src/money/price-list.ts"
const UNIT = "test/money/price-list.test.ts"
const CALLS = "test/inference/price-overrides.worker.test.ts"
const TOOLS = "test/inference/provider-tools.worker.test.ts"
const SEARCHES = "test/inference/provider-searches.worker.test.ts"

/** Faults with which a call would be charged at another price, or held for less than it can cost. */
export const priceMutants: readonly Mutant[] = [
  {
    name: "price: a long prompt begins at the threshold",
    file: LIST,
    from: `promptTokens <= tokens`,
    to: `promptTokens < tokens`,
    test: UNIT,
  },
  {
    name: "price: the upper bound is the lowest price",
    file: LIST,
    from: `priceToPico(price) > priceToPico(other)`,
    to: `priceToPico(price) < priceToPico(other)`,
    test: UNIT,
  },
  {
    name: "price: a tier applies to every call",
    file: LIST,
    from: `if (tier !== undefined && tier !== serviceTier) return false`,
    to: ``,
    test: UNIT,
  },
  {
    name: "price: the requested tier is charged, not the reported one",
    file: "src/inference/accounting/charge.ts",
    from: `serviceTier: serviceTier ?? priced.serviceTier`,
    to: `serviceTier: priced.serviceTier ?? serviceTier`,
    test: CALLS,
  },
  {
    name: "price: the hold ignores the requested tier",
    file: "src/inference/accounting/cost-bound.ts",
    from: `serviceTier: pricedTier(request.service_tier)`,
    to: `serviceTier: pricedTier(null)`,
    test: CALLS,
  },
  {
    name: "price: the hold ignores searches",
    file: "src/inference/endpoints/translate.ts",
    from: `toolUnits: toolUnitsOf(request)`,
    to: `toolUnits: {}`,
    test: SEARCHES,
  },
  {
    name: "price: opened pages are charged as searches",
    file: "src/formats/readers/responses.ts",
    from: `|| item["action"]["type"] === "search"`,
    to: `|| true`,
    test: SEARCHES,
  },
  {
    name: "price: the gateway's key runs tools without a price",
    file: "src/inference/plan.ts",
    from: `target.byok !== undefined || isPriced(target)`,
    to: `true`,
    test: TOOLS,
  },
  {
    name: "price: the gateway's key reads storage of providers",
    file: "src/inference/plan.ts",
    from: `const owned = targets.filter(({ byok }) => byok !== undefined)`,
    to: `const owned = targets.slice()`,
    test: "test/inference/provider-storage.worker.test.ts",
  },
]
