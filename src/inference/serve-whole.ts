import { nanoToUsd } from "../credits/money.ts"
import type { Outcome } from "./ask.ts"
import { type Call, settleAnswer, settleRefusal, toFailure } from "./call.ts"
import { normaliseResult } from "./chat/normalise.ts"
import { isObject, readAnswer } from "./chat/reading.ts"
import { answerHeaders } from "./headers.ts"
import { routingMetadata } from "./metadata.ts"

/** An answer in one JSON document. */
export function serveWhole(call: Call, asked: Promise<Outcome>): Promise<Response> {
  const work = answer(call, asked)
  // The platform drops what nothing waits for when the caller leaves, and the settlement with it.
  call.world.later(
    work.then(
      (response) => response.settled,
      () => undefined,
    ),
  )
  return work.then(({ response }) => response)
}

async function answer(call: Call, asked: Promise<Outcome>): Promise<{ response: Response; settled: Promise<void> }> {
  const outcome = await asked
  if (!outcome.ok || outcome.accepted.kind !== "whole") {
    const error = toFailure(outcome.ok ? [] : outcome.refusals, call.draft.id)
    const ending = call.asking.signal.aborted ? "cancelled" : "refused"
    await settleRefusal(call, outcome.attempts, ending, error.status, outcome.reached).settled
    throw error
  }
  const { accepted } = outcome
  readAnswer(call.reading, accepted.result)
  const { charge, settled } = settleAnswer(call, accepted, outcome.attempts, "complete", 200)

  const { draft } = call
  const defaults = { id: draft.id, model: accepted.target.model.id, created: Math.floor(draft.createdAt / 1_000) }
  const result = normaliseResult(accepted.result, defaults)
  if (isObject(result["usage"])) {
    result["usage"] = { ...result["usage"], cost: nanoToUsd(charge.costNano), is_byok: false }
  }
  const metadata = call.arrival.wantsMetadata ? routingMetadata(call, accepted.target, outcome.attempts) : {}
  const body = { ...result, provider: accepted.target.provider.name, ...metadata }
  return { response: Response.json(body, { headers: answerHeaders(draft.id) }), settled }
}
