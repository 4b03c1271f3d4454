import { presetWords, withInstructions } from "../presets/responses.ts"
import type { Surface } from "../surface.ts"
import { responsesDialect } from "./dialect.ts"
import { responsesIntake } from "./intake.ts"
import type { ResponsesRequest } from "./schemas.ts"
import { toChatRequest } from "./to-chat.ts"

/** POST /responses. */
export const responsesSurface: Surface<ResponsesRequest> = {
  intakeOf: responsesIntake,
  toChat: toChatRequest,
  dialectOf: responsesDialect,
  isSpokenBy: (provider) => provider.responses === true,
  presetWords,
  withInstructions,
  tellsItems: true,
}
