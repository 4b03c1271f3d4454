import { bridgedIntake } from "../bridge.ts"
import type { Intake } from "../intake.ts"
import { responsesWire } from "../wires/responses.ts"
import { responsesDialect } from "./dialect.ts"
import type { ResponsesRequest } from "./schemas.ts"
import { toChatRequest } from "./to-chat.ts"
import { toResponsesBody } from "./upstream.ts"

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
