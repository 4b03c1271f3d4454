import { GatewayError } from "../../errors/errors.ts"

/** What could not be read within the work that a request may be to the content filters goes nowhere unread. */
export function unchecked(patterns: string[], side: "request" | "answer" | "text"): GatewayError {
  const advice = side === "answer" ? "Ask for a shorter answer" : `Shorten the ${side}`
  return new GatewayError(
    "forbidden",
    `This ${side} could not be checked for ${patterns.join(", ")} within the scan budget of a request. ${advice}, or simplify the pattern.`,
    { metadata: { reason: "guardrail_unchecked", patterns } },
  )
}
