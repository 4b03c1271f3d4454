import type { Json } from "../../support/text/json.ts"
import { toSingleChunk } from "../chat/as-chunk.ts"
import { advance, finish, newEventState } from "./events.ts"
import type { ResponseFacts } from "./response.ts"
import type { ResponsesRequest, ResponsesResult } from "./schemas.ts"

/**
 * Converts a chat completion to a response through the stream encoder, so that documents and streams give the same
 * result. `earlier`: messages before the result's own, one per turn.
 */
export function toResponsesResult(
  result: Json,
  request: ResponsesRequest,
  facts: ResponseFacts & { completedAt: number },
  earlier: readonly Json[] = [],
): ResponsesResult {
  const before = earlier.map((message) => ({ choices: [{ index: 0, message }] }))
  let state = newEventState(request, facts)
  for (const turn of [...before, result]) [state] = advance(state, toSingleChunk(turn))
  const [, events] = finish(state, { completedAt: facts.completedAt })
  return events.at(-1)?.["response"] as ResponsesResult
}
