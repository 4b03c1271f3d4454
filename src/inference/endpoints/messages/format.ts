import { presetFields, prependInstructions } from "../../presets/messages.ts"
import type { ApiFormat } from "../api-format.ts"
import { messagesDialect } from "./encoder.ts"
import { messagesRequest } from "./request.ts"
import type { MessagesRequest } from "../../../formats/messages/schemas.ts"
import { toChatRequest } from "../../../formats/messages/to-chat.ts"

/** POST /messages. */
export const messagesFormat: ApiFormat<MessagesRequest> = {
  toRequest: messagesRequest,
  toChat: toChatRequest,
  encoderFor: messagesDialect,
  isNativeTo: ({ wire }) => wire === "anthropic",
  presetFields,
  prependInstructions,
  emitsToolItems: false,
}
