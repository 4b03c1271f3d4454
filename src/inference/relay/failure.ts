import { asGatewayError, GatewayError } from "../../errors/errors.ts"
import type { Attempt } from "../../formats/attempt.ts"
import type { AcceptedResponse, DispatchResult } from "../dispatch.ts"
import type { ServingInfo } from "../../formats/encoder.ts"
import type { Rejection } from "../../providers/refusal.ts"
import type { HeldCall, RelayResult } from "../call.ts"
import { answerHeaders } from "../headers.ts"

/** The error of a call that every target rejected. */
export function dispatchError(
  call: HeldCall,
  rejections: readonly Rejection[],
  attempts: readonly Attempt[],
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
    ...(call.meta.wantsMetadata && { extraFields: call.metadata(attempts) }),
    headers: {
      ...answerHeaders(call.draft.id),
      ...(hint !== undefined && { "retry-after": String(Math.ceil(hint / 1_000)) }),
    },
  })
}

/** How a call ends that no provider answered. */
export function rejectedResult(call: HeldCall, result: DispatchResult, error: GatewayError): RelayResult {
  const { attempts, wasReached } = result
  const ending = call.dispatchAbort.aborted ? "cancelled" : "refused"
  return { ending, status: error.status, attempts, accepted: null, wasReached, error }
}

export function toServingInfo(
  { target, reader, upstreamBody }: AcceptedResponse,
  attempts: readonly Attempt[],
): ServingInfo {
  return { provider: target.provider.name, model: target.model.id, reader, attempts, upstreamBody }
}
