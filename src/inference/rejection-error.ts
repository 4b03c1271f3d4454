import { asGatewayError, GatewayError } from "../errors/errors.ts"
import type { Rejection } from "../providers/refusal.ts"

/** Error of a call that every target rejected. `extraFields`: routing metadata, if the client requested it. */
export function rejectionError(
  rejections: readonly Rejection[],
  headers: Record<string, string>,
  extraFields?: Record<string, unknown>,
): GatewayError {
  const shown = rejections.find((rejection) => !rejection.retryable) ?? rejections.at(-1)
  if (!shown) return asGatewayError(new Error("A call ended without a response or a rejection."))
  const hints = rejections.map((rejection) => rejection.retryAfterMs)
  const hint = hints.every((ms) => ms !== null) ? Math.min(...hints) : undefined
  return new GatewayError(shown.code, shown.message, {
    metadata: {
      ...(shown.providerCode !== null && { provider_code: shown.providerCode }),
      provider_name: shown.provider,
    },
    ...(extraFields && { extraFields }),
    headers: { ...headers, ...(hint !== undefined && { "retry-after": String(Math.ceil(hint / 1_000)) }) },
  })
}
