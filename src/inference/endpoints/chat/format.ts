import type { ChatRequest } from "../../../formats/schemas.ts"
import { presetFields, prependInstructions } from "../../presets/chat.ts"
import type { ApiFormat } from "../api-format.ts"
import { chatEncoder } from "./encoder.ts"
import { chatRequest } from "./request.ts"

/** POST /chat/completions. */
export const chatFormat: ApiFormat<ChatRequest> = {
  toRequest: chatRequest,
  toChat: (request) => request,
  encoderFor: chatEncoder,
  // The chat format has no vendor tools.
  isNativeTo: () => false,
  presetFields,
  prependInstructions,
  isReadAsChat: true,
  emitsToolItems: false,
}
