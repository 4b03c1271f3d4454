import { nanoToUsd } from "../../credits/money.ts"
import { errors } from "../../edge/errors.ts"
import { defaultsOf } from "../chat/dialect.ts"
import { normaliseResult } from "../chat/normalise.ts"
import { isObject } from "../chat/reading.ts"
import type { Dialect } from "../dialect.ts"
import type { CallState } from "../intake.ts"
import { routingMetadata } from "../metadata.ts"
import { DONE_FRAME } from "../stream/frames.ts"
import { advance, fail, finish, keepAlive, newEventState, type Step, start, toEventFrame } from "./events.ts"
import { toResponsesResult } from "./from-chat.ts"
import type { ResponsesRequest } from "./schemas.ts"

/** A response, told from an answer on the chat wire. Its id is the generation's, so that the one finds the other. */
export function responsesDialect(request: ResponsesRequest, call: CallState): Dialect {
  const { draft, arrival } = call
  const facts = {
    id: draft.id,
    model: draft.requestedModel,
    createdAt: draft.createdAt,
    newId: () => crypto.randomUUID().replaceAll("-", ""),
  }
  let state = newEventState(request, facts)
  let attempts: Parameters<typeof routingMetadata>[1] = []
  const say = ([next, events]: Step) => {
    state = next
    return events.map(toEventFrame)
  }

  return {
    passesNative: false,
    whole(result, told, charge) {
      const normal = normaliseResult(result, defaultsOf(call))
      const usage = isObject(normal["usage"]) ? { usage: { ...normal["usage"], cost: nanoToUsd(charge.costNano) } } : {}
      const metadata = arrival.wantsMetadata ? routingMetadata(call, told.attempts) : {}
      const response = toResponsesResult({ ...normal, ...usage }, request, { ...facts, completedAt: Date.now() })
      return { ...response, ...metadata }
    },
    open(told) {
      attempts = told.attempts
      return say(start(state))
    },
    chunk: (chunk) => say(advance(state, chunk)),
    // A comment does not reset the idle timer of every client of this wire.
    silence: () => say(keepAlive(state)),
    failure: (error) => [
      ...say(fail(state, { code: error.status, message: error.message, error_type: errors[error.code].type })),
      DONE_FRAME,
    ],
    end: (charge) => [
      ...say(
        finish(state, {
          completedAt: Date.now(),
          cost: nanoToUsd(charge.costNano),
          ...(arrival.wantsMetadata && { metadata: routingMetadata(call, attempts) }),
        }),
      ),
      DONE_FRAME,
    ],
  }
}
