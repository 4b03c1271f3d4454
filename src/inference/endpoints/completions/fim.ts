import { asChatRequest } from "../../../formats/completions/to-chat.ts"
import type { CompletionsRequest } from "../../../formats/completions/schemas.ts"
import type { ApiFormat } from "../api-format.ts"
import { chatEncoder } from "../chat/encoder.ts"
import { completionsFormat } from "./format.ts"
import { completionsRequest } from "./request.ts"

/** POST /fim/completions of Mistral's API: the request is a text completion, the response a chat completion. */
export const fimFormat: ApiFormat<CompletionsRequest> = {
  ...completionsFormat,
  toRequest: (request, bodyBytes) => ({
    ...completionsRequest(request, bodyBytes),
    encoderFor: (call) => chatEncoder(asChatRequest(request, []), call),
  }),
  encoderFor: (request, call) => chatEncoder(asChatRequest(request, []), call),
}
