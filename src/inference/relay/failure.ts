import type { GatewayError } from "../../errors/errors.ts"
import type { Attempt } from "../../formats/attempt.ts"
import type { DispatchResult } from "../dispatch.ts"
import type { Rejection } from "../../providers/responses/rejection.ts"
import type { HeldCall, RelayResult } from "../call.ts"
import { responseHeadersOf } from "../reply.ts"
import { rejectionError } from "../errors/rejection-error.ts"

/** Error of a call that every target rejected. */
export function dispatchError(
  call: HeldCall,
  rejections: readonly Rejection[],
  attempts: readonly Attempt[],
): GatewayError {
  const extraFields = call.meta.wantsMetadata ? call.metadata(attempts) : undefined
  return rejectionError(rejections, responseHeadersOf(call.draft.id), extraFields)
}

/** Relay result of a call that no provider served. */
export function rejectedResult(call: HeldCall, result: DispatchResult, error: GatewayError): RelayResult {
  const { attempts, reached } = result
  const ending = call.dispatchAbort.aborted ? "cancelled" : "refused"
  return { ending, status: error.status, attempts, accepted: null, reached, error }
}
