import { asGatewayError, GatewayError } from "../../errors/errors.ts"
import type { Rejection } from "../../providers/responses/rejection.ts"

/** Error of a call that every target rejected. `extraFields`: routing metadata, if the client requested it. */
export function rejectionError(
  rejections: readonly Rejection[],
  headers: Record<string, string>,
  extraFields?: Record<string, unknown>,
): GatewayError {
  const rejection = rejections.find((rejection) => !rejection.retryable) ?? rejections.at(-1)
  if (!rejection) return asGatewayError(new Error("A call ended without a response or a rejection."))
  const hints = rejections.map((rejection) => rejection.retryAfterMs)
  const hint = hints.every((ms) => ms !== null) ? Math.min(...hints) : undefined
  return new GatewayError(rejection.code, rejection.message, {
    metadata: rejection.error?.metadata ?? {
      ...(rejection.providerCode !== null && { provider_code: rejection.providerCode }),
      provider_name: rejection.provider,
    },
    ...(extraFields && { extraFields }),
    headers: {
      ...headers,
      ...(hint !== undefined && { "retry-after": String(Math.ceil(hint / 1_000)) }),
      ...rejection.error?.headers,
    },
  })
}
