import { priceToPico } from "../money/money.ts"
import type { ProviderPreferences } from "../formats/provider-preferences.ts"
import { isNamed } from "../models/lists/endpoint-filter.ts"
import { PERCENTILES, type Percentiles, type Statistics } from "./health.ts"
import type { Sort } from "./names.ts"
import { healthKey, type Target, targetKey } from "./target.ts"

/** State of endpoints, and chance. */
export type OrderInput = {
  isCooling: (target: string) => boolean
  statisticsOf?: (target: string) => Statistics
  /** The target that signed reasoning in the conversation. */
  pinnedTo?: string | undefined
  /** Random number above 0 and up to 1, which decides between otherwise equal endpoints. */
  chance: (target: string) => number
}

/**
 * Orders targets, best first. The endpoint that signed the conversation comes first; endpoints that failed recently
 * come last. Between them, BYOK credentials come before the gateway's keys, and fallback credentials after them; within
 * each, endpoints outside the preferred speed come last. `order` is a preference, not a filter: named providers come
 * first, others remain as fallbacks. Equal targets are drawn with weights of the inverse square of their price, unless
 * a sort is requested.
 */
export function inOrder(
  targets: readonly Target[],
  preferences: ProviderPreferences,
  variantSort: Sort | undefined,
  deps: OrderInput,
): Target[] {
  if (targets.length < 2) return [...targets]
  const order = preferences.order ?? []
  const sort = sortOf(preferences) ?? variantSort
  // Computed from up to a hundred samples each time, so only for requests that sort by them.
  const statisticsOf = usesStatistics(sort, preferences) ? deps.statisticsOf : undefined
  const rank = ({ endpoint, provider }: Target) => {
    const scope = order.findIndex((name) => isNamed(name, endpoint, provider))
    return scope === -1 ? order.length : scope
  }
  // One draw per endpoint for all its keys, which keep their order.
  const chances = new Map<string, number>()
  const chanceOf = (key: string) => {
    const chance = chances.get(key) ?? deps.chance(key)
    chances.set(key, chance)
    return chance
  }
  return targets
    .map((target) => {
      const key = targetKey(target)
      const statistics = statisticsOf?.(key) ?? UNKNOWN
      const score =
        sort === undefined && order.length === 0
          ? drawPriority(target, chanceOf(key))
          : scoreBy(sort ?? "price", target, statistics)
      return {
        target,
        score,
        price: priceOf(target),
        // A session stays with one key, as with one endpoint: vendors keep prompt caches per account.
        keyDraw: target.sharesLoad ? deps.chance(healthKey(target)) : 0,
        isPinned: key === deps.pinnedTo,
        isCooling: deps.isCooling(healthKey(target)),
        turn: precedenceOf(target),
        isSlow: isOutside(statistics, preferences),
        rank: rank(target),
      }
    })
    .toSorted(
      (a, b) =>
        Number(b.isPinned) - Number(a.isPinned) ||
        Number(a.isCooling) - Number(b.isCooling) ||
        a.turn - b.turn ||
        Number(a.isSlow) - Number(b.isSlow) ||
        a.rank - b.rank ||
        a.score - b.score ||
        a.price - b.price ||
        sortOrderOf(a.target) - sortOrderOf(b.target) ||
        a.keyDraw - b.keyDraw,
    )
    .map(({ target }) => target)
}

const sortOrderOf = ({ byok: credential }: Target) => credential?.sortOrder ?? 0

function precedenceOf({ byok }: Target): number {
  if (!byok) return 1
  return byok.isFallback ? 2 : 0
}

export function sortOf({ sort }: ProviderPreferences): Sort | undefined {
  return (typeof sort === "object" ? sort?.by : sort) ?? undefined
}

function usesStatistics(sort: Sort | undefined, preferences: ProviderPreferences): boolean {
  const { preferred_max_latency: maxLatency, preferred_min_throughput: minThroughput } = preferences
  return (sort !== undefined && sort !== "price") || maxLatency != null || minThroughput != null
}

const UNKNOWN: Statistics = { latencyMs: null, tokensPerSecond: null, failures: 0 }

function priceOf({ endpoint: { pricing } }: Target): number {
  return Number(priceToPico(pricing.prompt) + priceToPico(pricing.completion))
}

/** Exponential race: each target is first with a probability proportional to its weight. */
function drawPriority(target: Target, chance: number): number {
  return -Math.log(chance) * priceOf(target) ** 2
}

/** Lower is better. Unmeasured targets come first: otherwise they would never be measured. */
function scoreBy(sort: Sort, target: Target, { latencyMs, tokensPerSecond, failures }: Statistics): number {
  if (sort === "latency") return latencyMs?.p50 ?? 0
  if (sort === "throughput") return tokensPerSecond ? -tokensPerSecond.p50 : Number.NEGATIVE_INFINITY
  return sort === "exacto" ? failures : priceOf(target)
}

type Preference = number | Partial<Record<string, unknown>> | null | undefined

/** Only measured targets can be outside. Preferences are in seconds and tokens per second. */
function isOutside({ latencyMs, tokensPerSecond }: Statistics, preferences: ProviderPreferences): boolean {
  const misses = (
    preference: Preference,
    result: Percentiles | null,
    isMissed: (result: number, limit: number) => boolean,
  ) =>
    result !== null &&
    PERCENTILES.some((name) => {
      const limit = typeof preference === "number" ? (name === "p50" ? preference : undefined) : preference?.[name]
      return typeof limit === "number" && isMissed(result[name], limit)
    })
  return (
    misses(preferences.preferred_max_latency, latencyMs, (result, limit) => result > limit * 1_000) ||
    misses(preferences.preferred_min_throughput, tokensPerSecond, (result, limit) => result < limit)
  )
}
