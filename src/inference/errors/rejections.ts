import { insertRejectedCall } from "../../calls/rejected-store.ts"
import { type GatewayError } from "../../errors/errors.ts"
import { toFailure } from "../../formats/attempt.ts"
import type { Generation, GenerationDraft } from "../../ledger/generation.ts"
import { NO_TOKENS } from "../../money/money.ts"
import { newId } from "../../support/ids.ts"
import { CACHE_HEADER } from "../../response-cache/request.ts"
import { isObject } from "../../support/text/json.ts"
import { logError, logWarning } from "../../support/log.ts"
import { MinuteGate } from "../../support/time/minute-gate.ts"
import { type IncomingCall, requestMetaOf } from "../context.ts"
import { newDraft, sessionIdOf } from "../draft.ts"
import { findingsOf } from "../screening/stages.ts"

/** Limit per key, minute and isolate: the first few suffice for a diagnosis, and a retry loop must not fill D1. */
export const REJECTIONS_PER_MINUTE = 60
const MAX_KEYS = 10_000
const MAX_NAME_LENGTH = 200

const gate = new MinuteGate(REJECTIONS_PER_MINUTE, MAX_KEYS)

type Rejected = { error: GatewayError; apiType: GenerationDraft["apiType"]; body: unknown }

/**
 * Records a call that was rejected before its hold, after the response was sent. A call with a hold has a generation,
 * whose id is in its error.
 */
export function recordRejection(incoming: IncomingCall, rejected: Rejected): void {
  const { caller, env, executionCtx, requestId } = incoming
  if (caller.organizationId === "" || rejected.error.headers?.["x-generation-id"] !== undefined) return
  const count = gate.take(caller.keyHash, Date.now())
  if (count === undefined) return
  if (count === REJECTIONS_PER_MINUTE) {
    logWarning("rejected calls of a key are no longer recorded this minute", { keyHash: caller.keyHash })
  }
  const insert = insertRejectedCall(env.DB, toRejectedCall(incoming, rejected))
  executionCtx.waitUntil(
    insert.catch((cause: unknown) => logError("rejected call was not recorded", { requestId }, cause)),
  )
}

function toRejectedCall(incoming: IncomingCall, { error, apiType, body }: Rejected): Generation {
  const { model, stream, session_id: sessionId, user } = isObject(body) ? body : {}
  const text = (value: unknown) => (typeof value === "string" ? value.slice(0, MAX_NAME_LENGTH) : null)
  const meta = metaOf(incoming)
  const requestedModel = text(model) ?? ""
  const { broadcast: _, ...draft } = newDraft(
    {
      apiType,
      requestedModel,
      streamed: stream === true,
      sessionId: sessionIdOf(text(sessionId), meta.sessionId),
      promptEstimate: 0,
      user: text(user),
    },
    meta,
    incoming.caller,
  )
  const reason = error.metadata?.reason
  const guardrails = findingsOf(error)
  return {
    ...draft,
    id: `rej-${newId()}`,
    model: requestedModel,
    provider: null,
    upstreamId: null,
    isByok: false,
    tokens: NO_TOKENS,
    tokensFrom: "none",
    costNano: 0,
    byokCostNano: 0,
    finishReason: null,
    ending: "refused",
    status: error.status,
    latencyMs: null,
    generationMs: null,
    serviceTier: null,
    attempts: [],
    error: { ...toFailure(error), ...(reason !== undefined && { reason }) },
    ...(guardrails.length > 0 && { guardrails }),
  }
}

/** Invalid headers may be the reason for the rejection. */
function metaOf(incoming: IncomingCall) {
  try {
    return requestMetaOf(incoming)
  } catch {
    const { request, ...rest } = incoming
    const headers = new Headers(request.headers)
    headers.delete("x-session-id")
    headers.delete(CACHE_HEADER)
    return requestMetaOf({ ...rest, request: new Request(request.url, { headers }) })
  }
}
