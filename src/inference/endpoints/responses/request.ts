import { bridgedIntake } from "../translate.ts"
import type { Intake } from "../../inference-request.ts"
import { responsesWire } from "../../../formats/readers/responses.ts"
import { responsesDialect } from "./encoder.ts"
import type { ResponsesRequest } from "../../../formats/responses/schemas.ts"
import { toChatRequest } from "../../../formats/responses/to-chat.ts"
import { toResponsesBody } from "../../../formats/responses/upstream.ts"

/** A responses request as the road takes it. */
export function responsesIntake(request: ResponsesRequest, bodyBytes: number): Intake {
  return bridgedIntake({
    request,
    bodyBytes,
    toChat: toChatRequest,
    isSpokenBy: (provider) => provider.responses === true,
    askOf: (outgoing) => ({ wire: responsesWire, path: "/responses", body: toResponsesBody(request, outgoing) }),
    maxTokens: request.max_output_tokens,
    dialectOf: responsesDialect,
  })
}
