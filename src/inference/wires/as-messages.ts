import type { Outgoing } from "../../providers/compatible.ts"
import type { Asked } from "../intake.ts"
import type { ChatRequest } from "../schemas.ts"

/** A chat request as a provider of the Messages wire is asked it. */
export function asMessages(_request: ChatRequest, _outgoing: Outgoing): Asked {
  throw new Error("not yet")
}
