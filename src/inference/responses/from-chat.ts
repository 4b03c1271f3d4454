import { toWholeChunk } from "../chat/as-chunk.ts"
import { advance, finish, newEventState } from "./events.ts"
import type { ResponseFacts } from "./response.ts"
import type { ResponsesRequest, ResponsesResult } from "./schemas.ts"

type Json = Record<string, unknown>

/**
 * A whole chat completion as a response: what its stream would have ended with, by the same machine, so that an answer
 * is the same however it was asked for.
 */
export function toResponsesResult(
  result: Json,
  request: ResponsesRequest,
  facts: ResponseFacts & { completedAt: number },
): ResponsesResult {
  const [spoken] = advance(newEventState(request, facts), toWholeChunk(result))
  const [, events] = finish(spoken, { completedAt: facts.completedAt })
  return events.at(-1)?.["response"] as ResponsesResult
}
