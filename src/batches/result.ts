import { isCount, isObject, type Json, parseJson } from "../support/text/json.ts"
import type { BatchProgress } from "./batch.ts"

/** The result of one run of a request. `retryAfterMs`: undefined if another run would have the same result. */
export type LineResult = {
  isSuccess: boolean
  response: { status_code: number; request_id: string; body: unknown } | null
  error: { code: string; message: string } | null
  retryAfterMs?: number
  /** The request waits to be sent in a batch of its provider. */
  isDeferred?: true
  /** A rate limit of the key, workspace or a guardrail was reached: it applies to the complete batch. */
  isRateLimited?: true
}

/** Statuses of temporary failures. */
const RETRYABLE = new Set([408, 429, 500, 502, 503, 504, 524, 529])

export function toLineResult(status: number, headers: Headers, text: string): LineResult {
  const body = parseJson(text) ?? null
  const response = { status_code: status, request_id: headers.get("x-request-id") ?? "", body }
  if (status < 300) return { isSuccess: true, response, error: null }
  const metadata = metadataOf(body)
  const delay = retryDelayOf(status, headers, metadata)
  return {
    isSuccess: false,
    response,
    error: null,
    ...(delay !== undefined && { retryAfterMs: delay }),
    ...(delay !== undefined && RATE_LIMITS.has(metadata["reason"]) && { isRateLimited: true }),
  }
}

/** The result of a request without a response. */
export function withoutResponse(code: string, message: string): LineResult {
  return { isSuccess: false, response: null, error: { code, message } }
}

/** Reasons of the gateway's rate limits. */
const RATE_LIMITS: ReadonlySet<unknown> = new Set(["key_rate_limit", "workspace_rate_limit", "guardrail_rate_limit"])

function metadataOf(body: unknown): Json {
  const error = isObject(body) && isObject(body["error"]) ? body["error"] : {}
  return isObject(error["metadata"]) ? error["metadata"] : {}
}

function retryDelayOf(status: number, headers: Headers, metadata: Json): number | undefined {
  if (!RETRYABLE.has(status) || metadata["retryable"] === false) return undefined
  const seconds = Number(headers.get("retry-after") ?? 0)
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : 0
}

/** A line of an output or error file, in the OpenAI format. */
export function toOutputLine(id: string, customId: string, { response, error }: LineResult): string {
  return JSON.stringify({ id, custom_id: customId, response, error })
}

type Tokens = Pick<BatchProgress, "inputTokens" | "cachedTokens" | "outputTokens" | "reasoningTokens">

const NO_TOKENS: Tokens = { inputTokens: 0, cachedTokens: 0, outputTokens: 0, reasoningTokens: 0 }

/** Tokens of a response, by the field names of any of the API formats. */
export function tokensOf({ response }: LineResult): Tokens {
  const body = response?.body
  const usage = isObject(body) && isObject(body["usage"]) ? body["usage"] : undefined
  if (!usage) return NO_TOKENS
  const read = (from: unknown, ...names: string[]) => numberIn(isObject(from) ? from : {}, names)
  const cached = usage["input_tokens_details"] ?? usage["prompt_tokens_details"]
  const reasoning = usage["output_tokens_details"] ?? usage["completion_tokens_details"]
  return {
    inputTokens: read(usage, "input_tokens", "prompt_tokens"),
    cachedTokens: read(cached, "cached_tokens") || read(usage, "cache_read_input_tokens"),
    outputTokens: read(usage, "output_tokens", "completion_tokens"),
    reasoningTokens: read(reasoning, "reasoning_tokens"),
  }
}

function numberIn(object: Json, names: readonly string[]): number {
  const found = names.map((name) => object[name]).find(isCount)
  return found ?? 0
}
