import type { Caller } from "../policy/call-policy.ts"
import type { GatewayError } from "../errors/errors.ts"
import type { Attempt } from "../formats/attempt.ts"
import type { ResponseEncoder } from "../formats/encoder.ts"
import type { Ending, GenerationDraft } from "../ledger/generation.ts"
import type { Limit } from "../ledger/limits.ts"
import type { Target } from "../routing/target.ts"
import type { RequestMeta } from "./deps.ts"
import type { AcceptedResponse } from "./upstream/accepted-response.ts"
import type { ApiFormat } from "./endpoints/api-format.ts"
import type { HoldHeartbeat } from "./upstream/call-timers.ts"
import type { CallContext, InferenceRequest, PlannableRequest } from "./inference-request.ts"

/** A client request with its principal, its policy and its API format. Built by the route. */
export type InferenceCall<Body extends object> = {
  format: ApiFormat<Body>
  body: Body
  bodyBytes: number
  meta: RequestMeta
  caller: Caller
}

/** One normalized request for one upstream call. */
export type PreparedCall = { request: InferenceRequest; meta: RequestMeta; caller: Caller }

export type PlannedCall = PreparedCall & { targets: readonly Target[] }

/** The part of a call that planning reads. */
export type PlannableCall = Omit<PreparedCall, "request"> & { request: PlannableRequest }

/** A call whose money the ledger has reserved. */
export type HeldCall = CallContext & {
  /** The highest number of completion tokens to request from a target; undefined for no cap. */
  completionCapOf: (target: Target) => number | undefined
  /** Sent upstream in place of the end user's id. */
  pseudonym: string | undefined
  encoder: ResponseEncoder
  heartbeat: HoldHeartbeat
  /** Nano-USD that the ledger reserved. */
  heldNano: number
  /** The hold counted as a request on a free model. */
  isCountedAsFree: boolean
  /** All limits that the call counts in except the balance, including those of the provider that responded. */
  limitsAt: (target: Target | undefined) => readonly Limit[]
}

/** How the response ended: what `settle` charges and records. */
export type RelayResult = {
  ending: Ending
  /** The HTTP status that the client received, or would have received. */
  status: number
  attempts: readonly Attempt[]
  /** The response that was relayed; null if no provider responded. */
  accepted: AcceptedResponse | null
  /** The last target that returned 200: it may have started to generate. */
  reached: Target | undefined
  /** The error that the client received; absent if the call did not fail. */
  error?: GatewayError | undefined
}

/** Fields that correlate a log line with its request and generation. */
export function logFieldsOf({ id, requestId }: Pick<GenerationDraft, "id" | "requestId">) {
  return { requestId, generation: id }
}

/** The routing metadata of a call, if the client requested it. */
export function requestedMetadata(
  call: Pick<CallContext, "meta" | "metadata">,
  attempts: readonly Attempt[],
): Record<string, unknown> {
  return call.meta.wantsMetadata ? call.metadata(attempts) : {}
}
