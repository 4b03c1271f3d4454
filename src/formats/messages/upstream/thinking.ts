import { isInteger, isObject, type Json } from "../../../support/text/json.ts"
import type { ChatRequest } from "../../schemas.ts"
import type { Traits } from "./models.ts"

/** Share of the output limit for thinking, by effort. */
const SHARES: Readonly<Record<string, number>> = {
  minimal: 0.1,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.95,
  max: 0.95,
}
const MAX_SHARE = 0.95
/** The API rejects a lower budget. */
const MIN_BUDGET = 1_024
/** Room for the response if a budget has no output limit. */
const OUTPUT_TOKENS = 4_096

/** The thinking that a chat request specifies: unspecified, none, or an effort, a budget or both. */
export type ReasoningRequest = "unsaid" | "none" | { effort: string | null; budget: number | null; isHidden: boolean }

export function reasoningRequestOf({ reasoning, reasoning_effort: shorthand }: ChatRequest): ReasoningRequest {
  const reasoningFields: Json = isObject(reasoning) ? reasoning : {}
  const text = shorthand ?? reasoningFields["effort"]
  const effort = typeof text === "string" ? text : null
  const budget = isInteger(reasoningFields["max_tokens"]) ? reasoningFields["max_tokens"] : null
  if (effort === "none" || reasoningFields["enabled"] === false || budget === 0) return "none"
  if (effort === null && budget === null && reasoningFields["enabled"] !== true) return "unsaid"
  return { effort, budget, isHidden: reasoningFields["exclude"] === true }
}

/** The output limit, which includes thinking, as in the chat format. */
export function toMaxTokens(
  request: ChatRequest,
  reasoning: ReasoningRequest,
  traits: Traits,
  cap: number | undefined,
): number {
  const requestedTokens = request.max_completion_tokens ?? request.max_tokens
  const budget = typeof reasoning === "string" ? 0 : (reasoning.budget ?? 0)
  const wantedTokens = requestedTokens ?? Math.max(traits.maxTokens, budget > 0 ? budget + OUTPUT_TOKENS : 0)
  return cap === undefined ? wantedTokens : Math.min(cap, wantedTokens)
}

export type Thinking = { thinking?: Json; effort?: string }

/**
 * `thinking` and `output_config.effort`. If the provider would reject a budget (`canBudget` is false, or the limit is
 * below the minimum), the request is sent without one instead of failing.
 */
export function toThinking(
  reasoning: ReasoningRequest,
  maxTokens: number,
  traits: Traits,
  canBudget: boolean,
): Thinking {
  if (reasoning === "unsaid") return {}
  if (reasoning === "none") return traits.alwaysThinks ? { effort: "low" } : { thinking: { type: "disabled" } }
  const { effort, budget, isHidden } = reasoning
  const byBudget =
    traits.thinks === "by budget" || (traits.thinks === "either way" && effort === null && budget !== null)
  if (!byBudget) {
    // Without `display`, the newest models return no thinking text.
    const thinking = { type: "adaptive", display: isHidden ? "omitted" : "summarized" }
    return { thinking, ...(effort !== null && { effort: toEffort(effort, traits) }) }
  }
  const tokens = toBudget(effort, budget, maxTokens)
  return canBudget && tokens < maxTokens ? { thinking: { type: "enabled", budget_tokens: tokens } } : {}
}

function toBudget(effort: string | null, budget: number | null, maxTokens: number): number {
  const share = Math.floor(maxTokens * (SHARES[effort ?? "medium"] ?? MAX_SHARE))
  const fitting = budget !== null && budget >= maxTokens ? Math.floor(maxTokens * MAX_SHARE) : budget
  return Math.max(MIN_BUDGET, fitting ?? share)
}

/** The effort, or the highest supported one below it. */
export function toEffort(effort: string, { efforts }: Traits): string {
  const order = ["minimal", "low", "medium", "high", "xhigh", "max"]
  const weaker = efforts.filter((level) => order.indexOf(level) <= order.indexOf(effort))
  return weaker.at(-1) ?? "low"
}
