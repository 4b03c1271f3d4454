import { responsesCostDetails } from "../usage.ts"
import { withoutCredentials } from "../tools/tool-credentials.ts"
import { toTokens } from "../chat/meter.ts"
import { isInteger, isObject, type Json, withoutNulls } from "../../support/text/json.ts"
import type { ResponsesRequest, ResponsesResult } from "./schemas.ts"
import { isFunctionTool } from "./to-chat.ts"

/** Data known before the response starts. Times are epoch milliseconds. */
export type ResponseFacts = {
  id: string
  model: string
  createdAt: number
  /** Returns the unique part of an item id. */
  newId: () => string
}

/** `code` is an HTTP status; `error_type` is the name that clients of this API family read. */
export type ResponseFailure = { code: number; message: string; error_type: string }

/** Progress of a response. */
export type Progress = {
  status: ResponsesResult["status"]
  output: Json[]
  completedAt: number | null
  incompleteReason: "max_output_tokens" | "content_filter" | null
  failure: ResponseFailure | null
  /** The usage in chat format. */
  usage: unknown
  serviceTier: string | null
  /** Routing metadata under its public names. */
  metadata: Json
}

export const NOT_STARTED: Progress = {
  status: "in_progress",
  output: [],
  completedAt: null,
  incompleteReason: null,
  failure: null,
  usage: undefined,
  serviceTier: null,
  metadata: {},
}

/** The complete response object, in any state. */
export function toResponse(request: ResponsesRequest, facts: ResponseFacts, progress: Progress): ResponsesResult {
  const { failure, incompleteReason, completedAt } = progress
  return {
    id: facts.id,
    object: "response",
    created_at: toSeconds(facts.createdAt),
    completed_at: completedAt === null ? null : toSeconds(completedAt),
    status: progress.status,
    model: facts.model,
    output: progress.output as ResponsesResult["output"],
    error: failure && { code: toErrorCode(failure.code), message: failure.message },
    ...(failure && { error_type: failure.error_type }),
    incomplete_details: incompleteReason && { reason: incompleteReason },
    ...echo(request),
    service_tier: progress.serviceTier ?? request.service_tier ?? "default",
    usage: toResponsesUsage(progress.usage),
    ...progress.metadata,
  }
}

function toSeconds(epochMs: number): number {
  return Math.floor(epochMs / 1_000)
}

/** `code` is a name in the Responses format; the status is sent as `error_type`. */
function toErrorCode(status: number): string {
  if (status === 429) return "rate_limit_exceeded"
  return status === 400 || status === 413 || status === 422 ? "invalid_prompt" : "server_error"
}

/** The request parameters that a response repeats. */
function echo(request: ResponsesRequest) {
  const { text, tools } = request
  return {
    instructions: request.instructions ?? null,
    max_output_tokens: request.max_output_tokens ?? null,
    max_tool_calls: request.max_tool_calls ?? null,
    metadata: request.metadata ?? {},
    parallel_tool_calls: request.parallel_tool_calls ?? true,
    previous_response_id: null,
    prompt_cache_key: request.prompt_cache_key ?? null,
    reasoning: request.reasoning ?? null,
    safety_identifier: request.safety_identifier ?? null,
    store: false,
    background: false,
    // Defaults of the Responses API for omitted fields: clients require numbers.
    temperature: request.temperature ?? 1,
    text: { ...withoutNulls(text ?? {}), format: text?.format ? withoutNulls(text.format) : { type: "text" } },
    tool_choice: request.tool_choice ?? "auto",
    tools: (tools ?? []).map((tool) =>
      isFunctionTool(tool)
        ? { ...tool, parameters: tool.parameters ?? null, strict: tool.strict ?? null }
        : { ...withoutCredentials(tool), type: tool.type },
    ),
    top_logprobs: request.top_logprobs ?? 0,
    top_p: request.top_p ?? 1,
    frequency_penalty: request.frequency_penalty ?? 0,
    presence_penalty: request.presence_penalty ?? 0,
    truncation: request.truncation ?? "disabled",
    user: request.user ?? null,
  }
}

/** Converts chat usage to Responses usage; null if the value is not a usage. */
function toResponsesUsage(usage: unknown): ResponsesResult["usage"] {
  const tokens = toTokens(usage)
  if (!tokens || !isObject(usage)) return null
  const total = usage["total_tokens"]
  const { cost, is_byok: isByok } = usage
  const details = responsesCostDetails(usage["cost_details"])
  return {
    input_tokens: tokens.prompt,
    input_tokens_details: { cached_tokens: tokens.cached, cache_write_tokens: tokens.cacheWrite },
    output_tokens: tokens.completion,
    output_tokens_details: { reasoning_tokens: tokens.reasoning },
    total_tokens: isInteger(total) ? total : tokens.prompt + tokens.completion,
    ...(typeof cost === "number" && { cost }),
    ...(typeof isByok === "boolean" && { is_byok: isByok }),
    ...(details && { cost_details: details }),
  }
}
