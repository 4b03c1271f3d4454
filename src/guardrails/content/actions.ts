import { GatewayError } from "../../errors/errors.ts"
import type { Action } from "./text-filter.ts"

/** The kind of text that is scanned, for error messages. */
export type Side = "request" | "tool result" | "response"

/** Advice for a client whose request or response was blocked. */
const ADVICE: Readonly<Record<Side, string>> = {
  request: "Remove that text from the request.",
  "tool result": "The model did not read it. What it wrote before is charged as usual.",
  response: "The model generated the response, so it is charged as usual.",
}

/** The error of a block by these guardrails. `finding`: what was found; never the matched text. */
export function blockError(
  guardrails: ReadonlySet<string>,
  { side, finding, patterns }: { side: Side; finding: string; patterns: string[] },
): GatewayError {
  const names = [...guardrails].map((name) => `"${name}"`)
  const subject =
    names.length > 1 ? `The guardrails ${names.join(" and ")} block` : `The guardrail ${names.join("")} blocks`
  return new GatewayError("forbidden", `${subject} this ${side}: ${finding}. ${ADVICE[side]}`, {
    metadata: { reason: "guardrail_blocked", patterns },
  })
}

export const STRENGTH: readonly Action[] = ["block", "redact", "flag"]

export function strongest(actions: readonly (Action | "none")[]): Action | "none" {
  return STRENGTH.find((one) => actions.includes(one)) ?? "none"
}

/** For summaries: what was done. */
export const DONE = { block: "blocked", redact: "redacted", flag: "flagged", none: "" } as const
