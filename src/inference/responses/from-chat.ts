import { toWholeChunk } from "../chat/as-chunk.ts"
import { advance, finish, newEventState } from "./events.ts"
import type { ResponseFacts } from "./response.ts"
import type { ResponsesRequest, ResponsesResult } from "./schemas.ts"

type Json = Record<string, unknown>

/** In a result, the messages that came before its own, one for each turn: no provider can tell any. */
export const EARLIER = Symbol("earlier")

/**
 * A whole chat completion as a response: what its stream would have ended with, by the same machine, so that an answer
 * is the same however it was asked for.
 */
export function toResponsesResult(
  result: Json & { [EARLIER]?: readonly Json[] },
  request: ResponsesRequest,
  facts: ResponseFacts & { completedAt: number },
): ResponsesResult {
  const earlier = (result[EARLIER] ?? []).map((message) => ({ choices: [{ index: 0, message }] }))
  let state = newEventState(request, facts)
  for (const turn of [...earlier, result]) [state] = advance(state, toWholeChunk(turn))
  const [, events] = finish(state, { completedAt: facts.completedAt })
  return events.at(-1)?.["response"] as ResponsesResult
}
