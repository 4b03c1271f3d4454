import { asGatewayError, GatewayError } from "../errors/errors.ts"
import { newMeter } from "../formats/chat/meter.ts"
import type { AnswerFilter } from "../guardrails/content/answer-filter.ts"
import type { Screening } from "../guardrails/screening.ts"
import type { Json } from "../support/json.ts"
import type { HeldCall } from "./call.ts"
import type { AcceptedResponse } from "./dispatch.ts"

/** Step 7: the output guardrails of a call. What the model produced is charged, whether it passes or not. */
export type OutputFilter = {
  /** The document as the guardrails let it pass, or the error that blocks it. */
  filterDocument: (accepted: AcceptedResponse, document: Json) => Promise<Json | GatewayError>
  newStreamFilter: () => AnswerFilter
}

/** Null where no guardrail of the key reads responses. */
export function outputFilterFor(call: HeldCall, screening: Screening): OutputFilter | null {
  if (!screening.readsAnswers) return null
  return {
    newStreamFilter: () => screening.answerFilter(),
    filterDocument: async (accepted, document) => {
      const filtered = await screening.answer(document).catch(asGatewayError)
      saveFilteredTranscript(call, accepted, filtered)
      return filtered
    },
  }
}

/** Content logging keeps what the guardrails let pass. */
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
