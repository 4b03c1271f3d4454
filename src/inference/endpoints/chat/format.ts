import type { ChatRequest } from "../../../formats/schemas.ts"
import { presetWords, withInstructions } from "../../presets/chat.ts"
import type { Surface } from "../api-format.ts"
import { chatDialect } from "./encoder.ts"
import { chatIntake } from "./request.ts"

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
