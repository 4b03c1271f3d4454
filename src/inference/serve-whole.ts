import type { Outcome } from "./ask.ts"
import { type Call, settleAnswer, settleRefusal, toAnswering, toFailure } from "./call.ts"
import { answerHeaders } from "./headers.ts"

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
  const { charge, settled } = settleAnswer(call, accepted, attempts, "complete", 200)
  later(settled)
  if (accepted.kind === "bytes") {
    return new Response(accepted.body, {
      headers: { ...answerHeaders(call.draft.id), "content-type": accepted.contentType },
    })
  }
  const body = call.dialect.whole(accepted.result, toAnswering(accepted, attempts), charge)
  return Response.json(body, { headers: answerHeaders(call.draft.id) })
}
