import { type ErrorMetadata, type ErrorName, GatewayError } from "../../errors/errors.ts"

/** All failures of interns: the HTTP status it has or would have, and whether a retry may help. */
const reasons = {
  bad_request: ["invalid_request", false],
  invalid_body: ["invalid_request", false],
  interaction_unknown: ["not_found", false],
  forbidden: ["forbidden", false],
  not_found: ["not_found", false],
  client_closed_request: ["timeout", false],
  timeout: ["timeout", true],
  no_answer: ["intern_timeout", true],
  interaction_not_pending: ["conflict", false],
  name_taken: ["conflict", false],
  idempotency_conflict: ["conflict", false],
  intern_not_running: ["conflict", false],
  intern_not_ready: ["conflict", true],
  intern_rejected: ["conflict", false],
  daemon_attached: ["conflict", false],
  busy_session: ["conflict", true],
  attachment_failed: ["gone", false],
  run_ended: ["gone", false],
  payload_too_large: ["payload_too_large", false],
  unsupported_media_type: ["unsupported_media_type", false],
  rate_limited: ["rate_limited", true],
  intern_unreachable: ["intern_unreachable", true],
  stream_severed: ["intern_unreachable", true],
  turn_failed: ["intern_unreachable", true],
  busy: ["unavailable", true],
  internal_error: ["internal", true],
} as const satisfies Record<string, readonly [ErrorName, boolean]>

/** Internal reasons. Reasons that differ only in their status share one public name. */
export type Reason = keyof typeof reasons

const RULE: Partial<Record<Reason, string>> = { no_answer: "timeout", busy_session: "busy" }

export function codeOf(reason: Reason): ErrorName {
  return reasons[reason][0]
}

/** The two keys that clients of this interface require together. */
export function metadataOf(
  reason: Reason,
  retryable: boolean = reasons[reason][1],
): Required<Pick<ErrorMetadata, "reason" | "retryable">> {
  return { reason: RULE[reason] ?? reason, retryable }
}

export function internError(reason: Reason, message: string, headers: Record<string, string> = {}): GatewayError {
  return new GatewayError(codeOf(reason), message, { metadata: metadataOf(reason), headers })
}
