import { priceToPico } from "../money/money.ts"
import type { ProviderPreferences } from "../formats/schemas.ts"
import { isNamed } from "../models/endpoint-filter.ts"
import { PERCENTILES, type Percentiles, type Statistics } from "./health.ts"
import type { Sort } from "./names.ts"
import type { PlanInput } from "./plan.ts"
import { healthKey, type Target, targetKey } from "./target.ts"

/**
 * Best first. What carries the conversation's own signatures comes before all; endpoints that failed lately come last.
 * Between them the caller's own keys come before the gateway's, those for a fallback after it; of each, endpoints
 * outside the preferred speed come last. `order` is a wish, not a filter: what it names comes first, the rest stands
 * behind as fallbacks. Between equals the cheaper one is likelier, as the inverse square of its price, unless a sort is
 * asked.
 */
export function inOrder(
  targets: readonly Target[],
  preferences: ProviderPreferences,
  variantSort: Sort | undefined,
  deps: PlanInput,
): Target[] {
  if (targets.length < 2) return [...targets]
  const order = preferences.order ?? []
  const sort = sortOf(preferences) ?? variantSort
  // Computed from up to a hundred samples each time, so only for requests that sort by them.
  const statisticsOf = goesByStatistics(sort, preferences) ? deps.statisticsOf : undefined
  const rank = ({ endpoint, provider }: Target) => {
    const scope = order.findIndex((name) => isNamed(name, endpoint, provider))
    return scope === -1 ? order.length : scope
  }
  // One draw for an endpoint, whatever keys it can be asked with: those stay in the order they came in.
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
          ? drawn(target, chanceOf(key))
          : scoreBy(sort ?? "price", target, statistics)
      return {
        target,
        score,
        price: priceOf(target),
        // A session stays with a key as it stays with an endpoint: vendors keep prompt caches for each account.
        keyDraw: target.sharesLoad ? deps.chance(healthKey(target)) : 0,
        isPinned: key === deps.pinnedTo,
        isCooling: deps.isCooling(healthKey(target)),
        turn: turnOf(target),
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

function turnOf({ byok: current }: Target): number {
  if (!current) return 1
  return current.isFallback ? 2 : 0
}

export function sortOf({ sort }: ProviderPreferences): Sort | undefined {
  return (typeof sort === "object" ? sort?.by : sort) ?? undefined
}

function goesByStatistics(sort: Sort | undefined, preferences: ProviderPreferences): boolean {
  const { preferred_max_latency: maxLatency, preferred_min_throughput: minThroughput } = preferences
  return (sort !== undefined && sort !== "price") || maxLatency != null || minThroughput != null
}

const UNKNOWN: Statistics = { latencyMs: null, tokensPerSecond: null, failures: 0 }

function priceOf({ endpoint: { pricing } }: Target): number {
  return Number(priceToPico(pricing.prompt) + priceToPico(pricing.completion))
}

/** An exponential race: the first of such times is each target's with a chance in proportion to its weight. */
function drawn(target: Target, chance: number): number {
  return -Math.log(chance) * priceOf(target) ** 2
}

/** Lower is better. What was not measured yet comes first: or it never would be. */
function scoreBy(sort: Sort, target: Target, { latencyMs, tokensPerSecond, failures }: Statistics): number {
  if (sort === "latency") return latencyMs?.p50 ?? 0
  if (sort === "throughput") return tokensPerSecond ? -tokensPerSecond.p50 : Number.NEGATIVE_INFINITY
  return sort === "exacto" ? failures : priceOf(target)
}

type Wish = number | Partial<Record<string, unknown>> | null | undefined

/** Only what was measured can be outside. The wishes speak of seconds and of tokens a second. */
function isOutside({ latencyMs, tokensPerSecond }: Statistics, preferences: ProviderPreferences): boolean {
  const misses = (wish: Wish, result: Percentiles | null, isMissed: (result: number, wished: number) => boolean) =>
    result !== null &&
    PERCENTILES.some((name) => {
      const wished = typeof wish === "number" ? (name === "p50" ? wish : undefined) : wish?.[name]
      return typeof wished === "number" && isMissed(result[name], wished)
    })
  return (
    misses(preferences.preferred_max_latency, latencyMs, (result, wished) => result > wished * 1_000) ||
    misses(preferences.preferred_min_throughput, tokensPerSecond, (result, wished) => result < wished)
  )
}
