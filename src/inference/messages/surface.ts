import { presetWords, withInstructions } from "../presets/messages.ts"
import type { Surface } from "../surface.ts"
import { messagesDialect } from "./dialect.ts"
import { messagesIntake } from "./intake.ts"
import type { MessagesRequest } from "./schemas.ts"
import { toChatRequest } from "./to-chat.ts"

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
