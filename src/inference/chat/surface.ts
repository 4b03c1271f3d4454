import type { ChatRequest } from "../schemas.ts"
import { presetWords, withInstructions } from "../presets/chat.ts"
import type { Surface } from "../surface.ts"
import { chatDialect } from "./dialect.ts"
import { chatIntake } from "./intake.ts"

/** POST /chat/completions. */
export const chatSurface: Surface<ChatRequest> = {
  intakeOf: chatIntake,
  toChat: (request) => request,
  dialectOf: chatDialect,
  // No provider's own tools are asked for on this wire.
  isSpokenBy: () => false,
  presetWords,
  withInstructions,
  tellsItems: false,
}
