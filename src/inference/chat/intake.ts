import { toUpstreamBody } from "../../providers/compatible.ts"
import { boundsOf } from "../admit.ts"
import type { Intake } from "../intake.ts"
import type { ChatRequest } from "../schemas.ts"
import { chatDialect } from "./dialect.ts"
import { isObject, newReading, readAnswer } from "./reading.ts"

/** A chat request as the road takes it. */
export function chatIntake(request: ChatRequest, bodyBytes: number): Intake {
  return {
    apiType: "completions",
    output: "text",
    routing: request,
    sessionId: request.session_id ?? null,
    user: request.user ?? null,
    bounds: boundsOf(request, bodyBytes),
    question: {
      path: "/chat/completions",
      streamed: request.stream,
      bodyFor: (provider, outgoing) => toUpstreamBody(request, provider, outgoing),
      isAnswer: hasAnswer,
    },
    dialectOf: (call) => chatDialect(request, call),
  }
}

/** A choice that says something, or at least says that it is over. */
function hasAnswer(result: Record<string, unknown>): boolean {
  const { choices } = result
  if (!Array.isArray(choices) || !choices.some(isObject)) return false
  const reading = newReading()
  readAnswer(reading, result)
  return reading.units > 0 || reading.finishReason !== null
}
