import { translatedRequest } from "../translate.ts"
import type { InferenceRequest } from "../../inference-request.ts"
import { responsesReader } from "../../../formats/readers/responses.ts"
import { responsesEncoder } from "./encoder.ts"
import type { ResponsesRequest } from "../../../formats/responses/schemas.ts"
import { toChatRequest } from "../../../formats/responses/to-chat.ts"
import { toResponsesBody } from "../../../formats/responses/upstream.ts"

/** A responses request as the road takes it. */
export function responsesRequest(request: ResponsesRequest, bodyBytes: number): InferenceRequest {
  return translatedRequest({
    request,
    bodyBytes,
    toChat: toChatRequest,
    isNativeTo: (provider) => provider.responses === true,
    buildNativeRequest: (outgoing) => ({
      reader: responsesReader,
      path: "/responses",
      body: toResponsesBody(request, outgoing),
    }),
    maxTokens: request.max_output_tokens,
    encoderFor: responsesEncoder,
  })
}
