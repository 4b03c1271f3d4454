import { asGatewayError, GatewayError } from "../../errors/errors.ts"
import type { Attempt } from "../../formats/attempt.ts"
import type { Accepted, Outcome } from "../dispatch.ts"
import { type Call, settleAnswer, settleRefusal, toAnswering, toFailure } from "../call.ts"
import { newReading } from "../../formats/chat/meter.ts"
import { answerHeaders, timingHeaders } from "../headers.ts"

/** An answer in one JSON document. */
export function serveWhole(call: Call, asked: Promise<Outcome>): Promise<Response> {
  const work = answer(call, asked)
  // The platform drops what nothing waits for when the caller leaves, and the settlement with it.
  call.world.later(work.catch(() => undefined))
  return work
}

async function answer(call: Call, asked: Promise<Outcome>): Promise<Response> {
  const outcome = await asked
  const { later } = call.world
  if (!outcome.ok || outcome.accepted.kind === "stream") {
    const error = toFailure(call, outcome.ok ? [] : outcome.refusals, outcome.attempts)
    const ending = call.asking.signal.aborted ? "cancelled" : "refused"
    later(settleRefusal(call, outcome.attempts, ending, error.status, outcome.reached).settled)
    throw error
  }
  const { accepted, attempts } = outcome
  call.answering = accepted.target
  if (accepted.kind === "whole") accepted.wire.read(call.reading, accepted.result)
  const screened = accepted.kind === "whole" ? await screenedOf(call, accepted.result) : undefined
  if (screened !== undefined) keepAsTold(call, accepted, screened)
  const status = screened instanceof GatewayError ? screened.status : 200
  const { charge, settled } = settleAnswer(call, accepted, attempts, "complete", status)
  later(settled)
  const headers = { ...answerHeaders(call.draft.id), ...timingHeaders(call.arrival, attempts) }
  if (accepted.kind === "bytes") {
    return new Response(accepted.body, {
      headers: { ...headers, "content-type": accepted.contentType },
    })
  }
  if (!screened || screened instanceof GatewayError) throw blocked(call, screened, attempts)
  const body = call.dialect.whole(screened, toAnswering(accepted, attempts), charge)
  return Response.json(body, { headers })
}

/** The answer as the caller's guardrails let it be told, or their refusal of it. What was made is charged all the same. */
async function screenedOf(
  { intake }: Call,
  result: Record<string, unknown>,
): Promise<Record<string, unknown> | GatewayError> {
  if (!intake.screening?.readsAnswers) return result
  try {
    return await intake.screening.answer(result)
  } catch (refusal) {
    return asGatewayError(refusal)
  }
}

/** Whoever keeps what was said keeps what the guardrails let through. */
function keepAsTold(
  { reading, intake }: Call,
  { wire }: Accepted,
  screened: Record<string, unknown> | GatewayError,
): void {
  if (!reading.words || !intake.screening?.readsAnswers) return
  const told = { ...newReading(), words: { content: "", reasoning: "" } }
  if (!(screened instanceof GatewayError)) wire.read(told, screened)
  reading.words = told.words
}

function blocked(call: Call, refusal: GatewayError | undefined, attempts: readonly Attempt[]): GatewayError {
  if (!refusal) return asGatewayError(new Error("An answer in one document was none."))
  const { code, message, metadata } = refusal
  return new GatewayError(code, message, {
    ...(metadata && { metadata }),
    ...(call.arrival.wantsMetadata && { beside: call.metadata(attempts) }),
    headers: answerHeaders(call.draft.id),
  })
}
