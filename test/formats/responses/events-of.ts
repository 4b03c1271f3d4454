import { type EventState, advance, finish, newEventState } from "../../../src/formats/responses/events.ts"
import type { ResponseFacts } from "../../../src/formats/responses/response.ts"
import { ResponsesRequest, type ResponsesEvent, type ResponsesResult } from "../../../src/formats/responses/schemas.ts"
import { chunkOf, runSteps } from "../steps.ts"

export { chunkOf, runSteps }

export type Json = Record<string, unknown>

export function requestOf(fields: Json = {}): ResponsesRequest {
  return ResponsesRequest.parse({ model: "maker/model", input: "Hi", ...fields })
}

export const CREATED_AT = 1_700_000_000_000
export const COMPLETED_AT = 1_700_000_005_000

export function facts(): ResponseFacts & { completedAt: number } {
  let made = 0
  const newId = () => String((made += 1))
  return { id: "resp_1", model: "maker/model", createdAt: CREATED_AT, completedAt: COMPLETED_AT, newId }
}

export function resultOf(message: Json, finishReason = "stop", further: Json = {}): Json {
  const choices = [{ index: 0, finish_reason: finishReason, message: { role: "assistant", ...message } }]
  return { id: "c", object: "chat.completion", created: 1, model: "m", choices, ...further }
}

export const USAGE = {
  prompt_tokens: 10,
  completion_tokens: 5,
  total_tokens: 15,
  prompt_tokens_details: { cached_tokens: 4 },
  completion_tokens_details: { reasoning_tokens: 2 },
  cost: 0.25,
}

/** Events of a stream of these chunks. */
export function eventsOf(chunks: readonly Json[], request = requestOf()): ResponsesEvent[] {
  return runSteps(newEventState(request, facts()), [
    ...chunks.map((chunk) => (state: EventState) => advance(state, chunk)),
    (state) => finish(state, { completedAt: COMPLETED_AT }),
  ])
}

export function finalOf(events: readonly ResponsesEvent[]): ResponsesResult {
  return events.at(-1)?.["response"] as ResponsesResult
}

export const callDelta = (call: Json, finishReason: string | null = null) =>
  chunkOf({ tool_calls: [call] }, finishReason)
