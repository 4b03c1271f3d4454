import { presetWords, withInstructions } from "../../presets/responses.ts"
import type { Surface } from "../api-format.ts"
import { responsesDialect } from "./encoder.ts"
import { responsesIntake } from "./request.ts"
import type { ResponsesRequest } from "../../../formats/responses/schemas.ts"
import { toChatRequest } from "../../../formats/responses/to-chat.ts"

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
