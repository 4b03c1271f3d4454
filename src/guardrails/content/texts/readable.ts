import { GatewayError } from "../../../errors/errors.ts"
import { isArray } from "../../../support/text/json.ts"

export const TOO_DEEP =
  "The request is nested deeper than the guardrails of this key read. Nest it less than 500 levels deep."

/** Only the model of a provider can read token ids. */
export function requireText(request: object): void {
  const { input }: { input?: unknown } = request
  const isTokens = isArray(input) && input.some((one) => typeof one === "number" || isArray(one))
  if (!isTokens) return
  const rule =
    "input: a guardrail of this key filters content, and token ids cannot be read. Send text; LangChain does with check_embedding_ctx_length=False."
  throw new GatewayError("forbidden", rule, { metadata: { reason: "guardrail_unchecked" } })
}
