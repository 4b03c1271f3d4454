import type { CompletionsRequest } from "../../../formats/completions/schemas.ts"
import { toChatRequest } from "../../../formats/completions/to-chat.ts"
import { presetFields, prependInstructions } from "../../presets/completions.ts"
import type { ApiFormat } from "../api-format.ts"
import { completionsEncoder } from "./encoder.ts"
import { completionsRequest } from "./request.ts"

/** POST /completions. */
export const completionsFormat: ApiFormat<CompletionsRequest> = {
  toRequest: completionsRequest,
  toChat: toChatRequest,
  encoderFor: completionsEncoder,
  isNativeTo: () => false,
  isReadAsChat: true,
  presetFields,
  prependInstructions,
  emitsToolItems: false,
}
