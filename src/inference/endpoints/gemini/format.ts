import type { ChatRequest } from "../../../formats/schemas.ts"
import type { ApiFormat } from "../api-format.ts"
import { chatFormat } from "../chat/format.ts"
import { chatRequest } from "../chat/request.ts"
import { geminiEncoder, type GeminiOptions } from "./encoder.ts"

/**
 * The Gemini API (`generateContent`). The route translates requests to the chat format, so that only the response has
 * another format than that of a chat completion.
 */
export function geminiFormat(options: GeminiOptions): ApiFormat<ChatRequest> {
  return {
    ...chatFormat,
    toRequest: (request, bodyBytes) => ({
      ...chatRequest(request, bodyBytes),
      encoderFor: (call) => geminiEncoder(call, options),
    }),
    encoderFor: (_, call) => geminiEncoder(call, options),
  }
}
