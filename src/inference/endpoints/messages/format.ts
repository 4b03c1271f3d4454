import { presetWords, withInstructions } from "../../presets/messages.ts"
import type { Surface } from "../api-format.ts"
import { messagesDialect } from "./encoder.ts"
import { messagesIntake } from "./request.ts"
import type { MessagesRequest } from "../../../formats/messages/schemas.ts"
import { toChatRequest } from "../../../formats/messages/to-chat.ts"

/** POST /messages. */
export const messagesSurface: Surface<MessagesRequest> = {
  intakeOf: messagesIntake,
  toChat: toChatRequest,
  dialectOf: messagesDialect,
  isSpokenBy: ({ wire }) => wire === "anthropic",
  presetWords,
  withInstructions,
  tellsItems: false,
}
