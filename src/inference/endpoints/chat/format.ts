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
  // No provider's own tools are asked for on this wire.
  isNativeTo: () => false,
  presetFields,
  prependInstructions,
  emitsToolItems: false,
}
