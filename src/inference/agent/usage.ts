import { isObject, type Json } from "../../support/text/json.ts"

/** Adds two usages key by key: counts and costs are summed, other fields come from the later usage. */
export function addUsage(total: Json | undefined, usage: Json | undefined): Json | undefined {
  if (!total || !usage) return total ?? usage
  const sum: Json = { ...total }
  for (const [key, value] of Object.entries(usage)) {
    const before = sum[key]
    if (typeof value === "number" && typeof before === "number") sum[key] = add(before, value)
    else if (isObject(value) && isObject(before)) sum[key] = addUsage(before, value)
    else if (value !== null && value !== undefined) sum[key] = value
  }
  return sum
}

/** Costs are decimal fractions: added in nano-USD, their sum is exact. */
function add(a: number, b: number): number {
  if (Number.isInteger(a) && Number.isInteger(b)) return a + b
  return (Math.round(a * 1e9) + Math.round(b * 1e9)) / 1e9
}

export function costNanoOf(usage: Json | undefined): number {
  const cost = usage?.["cost"]
  return typeof cost === "number" && Number.isFinite(cost) ? Math.round(cost * 1e9) : 0
}

export function tokensOf(usage: Json | undefined): number {
  const total = usage?.["total_tokens"]
  return typeof total === "number" && Number.isFinite(total) ? total : 0
}
