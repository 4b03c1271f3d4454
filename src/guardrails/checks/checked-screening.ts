import type { Json } from "../../support/text/json.ts"
import { GatewayError } from "../../errors/errors.ts"
import { requireText } from "../content/texts/readable.ts"
import type { Screening } from "../screening.ts"
import type { Checker } from "./checker.ts"
import { StreamCheck } from "./stream-check.ts"
import { requestTexts, responseTexts, textsOf, toolTexts, withTexts } from "./texts.ts"

/** Content filters with checks after them, so that a check receives what the filters redacted. */
export function withChecks(filters: Screening, checker: Checker): Screening {
  const checked = async <Body>(
    side: "request" | "tool result",
    body: Body,
    map: ReturnType<typeof requestTexts> | ReturnType<typeof toolTexts>,
  ): Promise<Body> => {
    const changed = await checker.check(side, textsOf(map))
    if (!changed) return body
    const result = withTexts(map, changed)
    if (result !== undefined) return result as Body
    const rule = `A check of a guardrail redacted a JSON text of this ${side}, which is not JSON any more.`
    throw new GatewayError("forbidden", rule, { metadata: { reason: "guardrail_blocked" } })
  }
  return {
    ...filters,
    async request(request) {
      const filtered = await filters.request(request)
      if (checker.guardsInput) requireText(filtered)
      return checked("request", filtered, requestTexts(filtered))
    },
    async toolResult(result) {
      const filtered = await filters.toolResult(result)
      return checked("tool result", filtered, toolTexts(filtered))
    },
    readsOutput: filters.readsOutput || checker.readsOutput,
    responseFilter: () =>
      filters.responseFilter(
        checker.readsOutput
          ? new StreamCheck(checker.blocksOutput, (texts) => checker.check("response", texts))
          : undefined,
      ),
    async response(result: Json) {
      const filtered = filters.readsOutput ? await filters.response(result) : result
      if (checker.readsOutput) await checker.check("response", textsOf(responseTexts(filtered)))
      return filtered
    },
    stages: () => checker.stages(filters.stages()),
  }
}
