import { presetFields, prependInstructions } from "../../presets/responses.ts"
import type { ApiFormat } from "../api-format.ts"
import { responsesEncoder } from "./encoder.ts"
import { responsesRequest } from "./request.ts"
import type { ResponsesRequest } from "../../../formats/responses/schemas.ts"
import { toChatRequest } from "../../../formats/responses/to-chat.ts"

/** POST /responses. */
export const responsesFormat: ApiFormat<ResponsesRequest> = {
  toRequest: responsesRequest,
  toChat: toChatRequest,
  encoderFor: responsesEncoder,
  isNativeTo: (provider) => provider.responses === true,
  presetFields,
  prependInstructions,
  isReadAsChat: false,
  emitsToolItems: true,
}
