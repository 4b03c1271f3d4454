import { asGatewayError, GatewayError } from "../../errors/errors.ts"
import type { Attempt } from "../../formats/attempt.ts"
import type { AcceptedResponse, DispatchResult } from "../dispatch.ts"
import { type Call, settle, settleRejection, toServingInfo, failureResponse } from "../call.ts"
import { newMeter } from "../../formats/chat/meter.ts"
import { answerHeaders, timingHeaders } from "../headers.ts"

/** An answer in one JSON document. */
export function jsonResponse(call: Call, asked: Promise<DispatchResult>): Promise<Response> {
  const work = answer(call, asked)
  // The platform drops what nothing waits for when the caller leaves, and the settlement with it.
  call.deps.waitUntil(work.catch(() => undefined))
  return work
}

async function answer(call: Call, asked: Promise<DispatchResult>): Promise<Response> {
  const outcome = await asked
  const { waitUntil: later } = call.deps
  if (!outcome.ok || outcome.accepted.kind === "stream") {
    const error = failureResponse(call, outcome.ok ? [] : outcome.rejections, outcome.attempts)
    const ending = call.dispatchAbort.signal.aborted ? "cancelled" : "refused"
    later(settleRejection(call, outcome.attempts, ending, error.status, outcome.wasReached).settled)
    throw error
  }
  const { accepted, attempts } = outcome
  call.servingTarget = accepted.target
  if (accepted.kind === "whole") accepted.wire.read(call.meter, accepted.result)
  const screened = accepted.kind === "whole" ? await filterOutput(call, accepted.result) : undefined
  if (screened !== undefined) saveFilteredTranscript(call, accepted, screened)
  const status = screened instanceof GatewayError ? screened.status : 200
  const { charge, settled } = settle(call, accepted, attempts, "complete", status)
  later(settled)
  const headers = { ...answerHeaders(call.draft.id), ...timingHeaders(call.meta, attempts) }
  if (accepted.kind === "bytes") {
    return new Response(accepted.body, {
      headers: { ...headers, "content-type": accepted.contentType },
    })
  }
  if (!screened || screened instanceof GatewayError) throw blockedError(call, screened, attempts)
  const body = call.encoder.document(screened, toServingInfo(accepted, attempts), charge)
  return Response.json(body, { headers })
}

/** The answer as the caller's guardrails let it be told, or their refusal of it. What was made is charged all the same. */
async function filterOutput(
  { request: normalized }: Call,
  result: Record<string, unknown>,
): Promise<Record<string, unknown> | GatewayError> {
  if (!normalized.screening?.readsAnswers) return result
  try {
    return await normalized.screening.answer(result)
  } catch (refusal) {
    return asGatewayError(refusal)
  }
}

/** Whoever keeps what was said keeps what the guardrails let through. */
function saveFilteredTranscript(
  { meter, request: normalized }: Call,
  { wire }: AcceptedResponse,
  screened: Record<string, unknown> | GatewayError,
): void {
  if (!meter.transcript || !normalized.screening?.readsAnswers) return
  const told = { ...newMeter(), words: { content: "", reasoning: "" } }
  if (!(screened instanceof GatewayError)) wire.read(told, screened)
  meter.transcript = told.words
}

function blockedError(call: Call, refusal: GatewayError | undefined, attempts: readonly Attempt[]): GatewayError {
  if (!refusal) return asGatewayError(new Error("An answer in one document was none."))
  const { code, message, metadata } = refusal
  return new GatewayError(code, message, {
    ...(metadata && { metadata }),
    ...(call.meta.wantsMetadata && { extraFields: call.metadata(attempts) }),
    headers: answerHeaders(call.draft.id),
  })
}
