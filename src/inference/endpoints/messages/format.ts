import { presetFields, prependInstructions } from "../../presets/messages.ts"
import type { ApiFormat } from "../api-format.ts"
import { messagesEncoder } from "./encoder.ts"
import { messagesRequest } from "./request.ts"
import type { MessagesRequest } from "../../../formats/messages/schemas.ts"
import { toChatRequest } from "../../../formats/messages/to-chat.ts"

/** POST /messages. */
export const messagesFormat: ApiFormat<MessagesRequest> = {
  toRequest: messagesRequest,
  toChat: toChatRequest,
  encoderFor: messagesEncoder,
  isNativeTo: ({ format }) => format === "anthropic",
  presetFields,
  prependInstructions,
  isReadAsChat: false,
  emitsToolItems: false,
}
