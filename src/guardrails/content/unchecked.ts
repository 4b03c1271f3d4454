import { GatewayError } from "../../errors/errors.ts"

/** What could not be read within the work that a request may be to the content filters goes nowhere unread. */
export function unchecked(patterns: string[], side: keyof typeof ADVICE): GatewayError {
  return new GatewayError(
    "forbidden",
    `This ${side} could not be checked for ${patterns.join(", ")} within the scan budget of a request. ${ADVICE[side]}, or simplify the pattern.`,
    { metadata: { reason: "guardrail_unchecked", patterns } },
  )
}

const ADVICE = {
  request: "Shorten the request",
  "tool result": "Let the tool return less",
  answer: "Ask for a shorter answer",
  text: "Shorten the text",
} as const
