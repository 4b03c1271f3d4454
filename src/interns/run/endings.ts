import type { Ending, Finish } from "./run.ts"

/** Finishes of runs that did not end by themselves. */

export const CONNECTION_LOST: Finish = {
  reason: "error",
  error: {
    reason: "stream_severed",
    message: "The connection to the intern broke before the end of the run was confirmed.",
  },
}

const NOT_WORTH_REPEATING = /\b(?:400|401|402|403|404|413|422)\b/
const INVALID = -32_000

/**
 * The agent reported a failure. `code` is the JSON-RPC code, `status` the HTTP status of the failed model call, if
 * known.
 */
export function turnFailure(message: string, status: number | null, code: number): Finish {
  const isFinal = code === INVALID || NOT_WORTH_REPEATING.test(status === null ? message : String(status))
  const error = { message: `The turn failed: ${message.slice(0, 500)}`, retryable: !isFinal }
  return { reason: "error", error: { reason: "turn_failed", ...error, ...(status !== null && { status }) } }
}

/** The agent confirmed the end of a run that was cancelled. */
export function finishOf(ending: Ending | null): Finish {
  switch (ending) {
    case "timeout":
      return failedFinish("timeout", "The turn took longer than 300 seconds.")
    case "not_opened":
      return failedFinish("no_answer", "The intern did not open a session within 60 seconds.")
    default:
      return failedFinish("run_ended", "The run has ended: it was cancelled.")
  }
}

function failedFinish(reason: "timeout" | "no_answer" | "run_ended", message: string): Finish {
  return { reason: "error", error: { reason, message } }
}
