import { GatewayError } from "../../errors/errors.ts"

/** Error for a text that exceeded the work limit of the content filters: it is blocked, never passed unchecked. */
export function uncheckedError(patterns: string[], side: keyof typeof ADVICE): GatewayError {
  return new GatewayError(
    "forbidden",
    `This ${side} could not be checked for ${patterns.join(", ")} within the scan budget of a request. ${ADVICE[side]}, or simplify the pattern.`,
    { metadata: { reason: "guardrail_unchecked", patterns } },
  )
}

const ADVICE = {
  request: "Shorten the request",
  "tool result": "Let the tool return less",
  response: "Request a shorter response",
  text: "Shorten the text",
} as const
