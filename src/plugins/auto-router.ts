import { matcher } from "../support/text/wildcard.ts"

export const COST_TIERS = ["low", "medium", "high", "xhigh", "max"] as const
export type CostTier = (typeof COST_TIERS)[number]

export type Candidate = {
  id: string
  /** USD per token, as decimal strings. */
  promptPrice: string
  completionPrice: string
  /** Unix seconds. */
  created: number
  /** Tokens; 0 when unknown. */
  contextLength: number
  inputModalities: readonly string[]
  supportedParameters: readonly string[]
}

export type AutoRouterPreferences = {
  allowed_models?: readonly string[] | null | undefined
  excluded_models?: readonly string[] | null | undefined
  cost_tier?: CostTier | null | undefined
  /** Superseded by `cost_tier`: 0 for quality to 10 for cost. */
  cost_quality_tradeoff?: number | null | undefined
  pin_model?: boolean | null | undefined
}

/** Features of a request that need no model to compute. */
export type Facts = {
  promptTokens: number
  needsTools: boolean
  needsImages: boolean
  needsStructured: boolean
  hasCode: boolean
  /** Model of the latest assistant message. */
  lastAssistantModel: string | undefined
}

/** Share of prompt tokens in the blended price: about three tokens read for one written. */
const PROMPT_SHARE = 3
const BAND = 20

/**
 * Models to try, best first; none if nothing fits. Models are ranked by price, and a tier is a fifth of the ranking:
 * the band of its percentiles or, if that is empty, the nearest. Within a band the newest comes first, as the best
 * known measure of quality; then the cheaper; then by name.
 */
export function chooseModels(
  candidates: readonly Candidate[],
  preferences: AutoRouterPreferences,
  facts: Facts,
): string[] {
  const isWanted = toModelFilter(preferences)
  const ranked = candidates
    .filter((one) => isWanted(one.id) && canServe(one, facts))
    .map((one) => ({ ...one, price: blendedPrice(one) }))
    .filter(({ price }) => price >= 0)
    .sort((one, other) => one.price - other.price || compare(one.id, other.id))
    .map((one, index, all) => ({ ...one, percentile: all.length === 1 ? 0 : (100 * index) / (all.length - 1) }))
  const pinned = preferences.pin_model ? ranked.find(({ id }) => id === facts.lastAssistantModel) : undefined
  const chosen = inBand(ranked, preferences, facts)
    .sort((one, other) => other.created - one.created || one.price - other.price || compare(one.id, other.id))
    .map(({ id }) => id)
  return pinned ? [pinned.id, ...chosen.filter((id) => id !== pinned.id)] : chosen
}

/** Exclusion wins. Without a list of allowed models, all are allowed. */
function toModelFilter({
  allowed_models: allowed,
  excluded_models: excluded,
}: AutoRouterPreferences): (id: string) => boolean {
  const isAllowed = allowed && allowed.length > 0 ? matcher(allowed) : () => true
  const isExcluded = matcher(excluded ?? [])
  return (id) => isAllowed(id) && !isExcluded(id)
}

function canServe(candidate: Candidate, facts: Facts): boolean {
  const { contextLength, inputModalities, supportedParameters } = candidate
  const supports = (...names: string[]) => names.some((name) => supportedParameters.includes(name))
  if (contextLength > 0 && facts.promptTokens >= contextLength) return false
  if (facts.needsImages && !inputModalities.includes("image")) return false
  if (facts.needsTools && !supports("tools")) return false
  return !facts.needsStructured || supports("structured_outputs", "response_format")
}

function inBand<T extends { percentile: number }>(
  ranked: readonly T[],
  preferences: AutoRouterPreferences,
  facts: Facts,
): T[] {
  const { cost_tier: tier, cost_quality_tradeoff: tradeoff } = preferences
  if (tier == null && tradeoff != null) {
    // As documented: 10 keeps about the cheapest tenth, 0 all but the most expensive tenth.
    const ceiling = 90 - 8 * tradeoff
    return ranked.filter(({ percentile }) => percentile <= ceiling)
  }
  const from = COST_TIERS.indexOf(tier ?? tierFor(facts)) * BAND
  const distance = ({ percentile }: T) => {
    if (percentile < from) return from - percentile
    // The last band includes its upper end, the others do not.
    if (percentile < from + BAND || from + BAND === 100) return 0
    return Math.max(percentile - (from + BAND), Number.EPSILON)
  }
  const nearest = ranked.reduce((least, one) => Math.min(least, distance(one)), Infinity)
  return ranked.filter((one) => distance(one) === nearest)
}

const LONG_PROMPT = 2_000
const VERY_LONG_PROMPT = 16_000

/** One tier up for each sign of difficulty: a long prompt, a very long one, tools, code, a response schema. */
export function tierFor(facts: Facts): CostTier {
  const signs = [
    facts.promptTokens > LONG_PROMPT,
    facts.promptTokens > VERY_LONG_PROMPT,
    facts.needsTools,
    facts.hasCode,
    facts.needsStructured,
  ].filter(Boolean).length
  return COST_TIERS[Math.min(signs, 3)] ?? "low"
}

const CODE =
  /```|^\s*(?:import |from \w+ import|def \w+\(|class \w+|function \w*\(|const \w+ =|#include|SELECT .+ FROM|public static)|[;{}]\s*$|=>/m

/** Whether a text contains code, judged by patterns that prose does not have. */
export function looksLikeCode(text: string): boolean {
  return CODE.test(text.slice(0, 20_000))
}

/** For ranking only, never for charging. NaN, of an invalid price, fails every comparison and drops the model. */
function blendedPrice({ promptPrice, completionPrice }: Candidate): number {
  const [prompt, completion] = [Number(promptPrice), Number(completionPrice)]
  return prompt < 0 || completion < 0 ? -1 : (PROMPT_SHARE * prompt + completion) / (PROMPT_SHARE + 1)
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
