import { asGatewayError, GatewayError } from "../../errors/errors.ts"
import { newMeter } from "../../formats/chat/meter.ts"
import type { ResponseFilter } from "../../guardrails/content/response-filter.ts"
import type { Screening } from "../../guardrails/screening.ts"
import type { Json } from "../../support/text/json.ts"
import type { HeldCall } from "../call.ts"
import type { AcceptedResponse } from "../upstream/accepted-response.ts"

/** Step 7: the output guardrails of a call. Generated tokens are charged whether or not they pass. */
export type OutputFilter = {
  /** The document after the guardrails, or the error that blocks it. */
  filterDocument: (accepted: AcceptedResponse, document: Json) => Promise<Json | GatewayError>
  newStreamFilter: () => ResponseFilter
}

/** Null if no guardrail of the key reads responses. */
export function outputFilterFor(call: HeldCall, screening: Screening): OutputFilter | null {
  if (!screening.readsOutput) return null
  return {
    newStreamFilter: () => screening.responseFilter(),
    filterDocument: async (accepted, document) => {
      const filtered = await screening.response(document).catch(asGatewayError)
      saveFilteredTranscript(call, accepted, filtered)
      return filtered
    },
  }
}

/** Content logging stores the text after the guardrails. */
function saveFilteredTranscript(
  { meter }: HeldCall,
  { reader }: AcceptedResponse,
  filtered: Json | GatewayError,
): void {
  if (!meter.transcript) return
  const passed = { ...newMeter(), transcript: { content: "", reasoning: "" } }
  if (!(filtered instanceof GatewayError)) reader.read(passed, filtered)
  meter.transcript = passed.transcript
}
