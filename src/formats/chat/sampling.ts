import type { ChatRequest } from "../schemas.ts"

/** Parameters that OpenAI's models reject while they reason. */
const SAMPLING: ReadonlySet<string> = new Set([
  "temperature",
  "top_p",
  "presence_penalty",
  "frequency_penalty",
  "logit_bias",
  "logprobs",
  "top_logprobs",
])

const REASONING = /^(?:o\d|gpt-(?:[5-9]|\d\d)|codex)(?!.*-chat)/
/** Models that can be called without reasoning, and those that do not reason by default. */
const WITHOUT_REASONING = /^gpt-(?:5\.[1-9]|[6-9]|\d\d)(?!.*-(?:codex|pro))/
const NOT_BY_DEFAULT = /^gpt-5\.[1-4](?!\d|.*-(?:codex|pro))/

/** Whether OpenAI's model reasons, and so rejects `max_tokens` at any provider. */
export function isReasoningModel(upstreamId: string): boolean {
  return REASONING.test(upstreamId)
}

/** The parameters that OpenAI would reject for the model, which reasons with the effort of the request. */
export function rejectedSampling(request: ChatRequest, upstreamId: string): ReadonlySet<string> {
  const effort = request.reasoning_effort ?? request.reasoning?.effort
  const samples = effort === "none" ? WITHOUT_REASONING : effort == null ? NOT_BY_DEFAULT : undefined
  return REASONING.test(upstreamId) && !samples?.test(upstreamId) ? SAMPLING : NONE
}

const NONE: ReadonlySet<string> = new Set()
