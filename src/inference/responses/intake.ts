import { chatIntake } from "../chat/intake.ts"
import type { Intake } from "../intake.ts"
import { responsesDialect } from "./dialect.ts"
import type { ResponsesRequest } from "./schemas.ts"
import { toChatRequest } from "./to-chat.ts"

/** A responses request as the road takes it: asked on the chat wire, told as a response. */
export function responsesIntake(request: ResponsesRequest, bodyBytes: number): Intake {
  return {
    ...chatIntake(toChatRequest(request), bodyBytes),
    dialectOf: (call) => responsesDialect(request, call),
  }
}
