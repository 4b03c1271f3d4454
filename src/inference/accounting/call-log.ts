import type { Config } from "../../config/variables.ts"
import type { GatewayError } from "../../errors/errors.ts"
import type { Generation } from "../../ledger/generation.ts"
import { formatUsd } from "../../money/money.ts"
import type { CallLine } from "../../support/call-line.ts"

/** Logs a settled call; `setting` is LOG_CALLS. */
export function logCall(setting: Config["LOG_CALLS"], generation: Generation, keyLabel: string): void {
  const isComplete = generation.ending === "complete"
  if (setting === "off" || (setting === "errors" && isComplete)) return
  writeCallLine(toLine(generation, keyLabel))
}

/**
 * Logs a call that failed before its hold: a limit, a guardrail, an unknown model, an invalid body. A call with a hold
 * has a generation, whose id is in its error, and is logged by `logCall`.
 */
export function logRejectedCall(setting: Config["LOG_CALLS"], error: GatewayError, call: RejectedCall): void {
  if (setting === "off" || error.headers?.["x-generation-id"] !== undefined) return
  const { status, code, message } = error
  writeCallLine({ level: "warning", message: "call", ...call, status, ending: code, error: message })
}

function writeCallLine(line: CallLine): void {
  console.log(JSON.stringify(line))
}

type RejectedCall = { request_id: string; path: string }

function toLine(generation: Generation, key: string): CallLine {
  const { tokens, ending, attempts } = generation
  const failed = attempts.filter(({ status }) => status !== 200)
  return {
    level: ending === "complete" ? "info" : "warning",
    message: "call",
    request_id: generation.requestId,
    status: generation.status,
    key,
    model: generation.model,
    provider: generation.provider,
    streamed: generation.streamed,
    duration_ms: (generation.latencyMs ?? 0) + (generation.generationMs ?? 0),
    first_token_ms: generation.latencyMs,
    prompt_tokens: tokens.prompt,
    completion_tokens: tokens.completion,
    cost: formatUsd(generation.costNano),
    generation_id: generation.id,
    ...(ending !== "complete" && { ending }),
    ...(failed.length > 0 && {
      failed_attempts: failed.map(({ provider, status }) => `${provider} ${status ?? "no response"}`),
    }),
  }
}
