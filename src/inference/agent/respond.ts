import { isObject, type Json } from "../../support/text/json.ts"
import type { ServingInfo } from "../../formats/encoder.ts"
import type { Charge } from "../../formats/usage.ts"
import { NO_TOKENS } from "../../money/money.ts"
import { toTokens } from "../../formats/chat/meter.ts"
import { chatReader } from "../../formats/readers/chat.ts"
import type { Agent, Job } from "./agent.ts"

/** Whether the client requested JSON. Only JSON responses are healed. */
export function isJson({ response_format: format }: Job["prepared"]["chat"]): boolean {
  return format?.type === "json_object" || format?.type === "json_schema"
}

export function chargeOf(agent: Agent): Charge {
  const { costNano, usage } = agent.total
  return { tokens: toTokens(usage) ?? NO_TOKENS, tokensFrom: "upstream", costNano, overrunNano: 0, byok: byokIn(usage) }
}

/** The BYOK cost of all rounds, from their reported usage. */
function byokIn(usage: Json | undefined): Charge["byok"] {
  const details = usage?.["cost_details"]
  if (!isObject(details)) return null
  const nanoOf = (name: string) => Math.round(Number(details[name]) * 1e9)
  return {
    costNano: nanoOf("upstream_inference_cost"),
    promptNano: nanoOf("upstream_inference_prompt_cost"),
  }
}

export function servingInfoOf(head: Json, model: string): ServingInfo {
  const provider = typeof head["provider"] === "string" ? head["provider"] : ""
  return { provider, model, reader: chatReader, attempts: [], upstreamBody: {} }
}

/** Replaces `tool_calls` by an ordinary finish reason if the client receives no call. */
export function finishOf(reason: string | null, calls: number): string | null {
  return reason === "tool_calls" && calls === 0 ? "stop" : reason
}
