import type { Limit } from "./limits.ts"
import type { HoldRequest } from "./protocol.ts"
import type { RateLimit } from "./rates.ts"

/** By list of limits: a caller has the same list for all of its calls. */
const signatures = new WeakMap<readonly (Limit | RateLimit)[], string>()

/** The callers that may share a lease. */
export type LimitedBy = Pick<HoldRequest, "chargesAccount" | "limits" | "rates">

export function signatureOf({ chargesAccount, limits, rates }: LimitedBy): string {
  const signature = rates ? textOf(limits) + textOf(rates.limits) : textOf(limits)
  return chargesAccount ? signature : `own key ${signature}`
}

function textOf(limits: readonly (Limit | RateLimit)[]): string {
  let text = signatures.get(limits)
  if (text === undefined) {
    text = JSON.stringify(limits)
    signatures.set(limits, text)
  }
  return text
}
