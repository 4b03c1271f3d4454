import { newHexId } from "../../../support/ids.ts"
import { errors, type GatewayError } from "../../../errors/errors.ts"
import { defaultsOf } from "../chat/encoder.ts"
import { usageOf, costFields } from "../../../formats/usage.ts"
import { normalizeResult } from "../../../formats/chat/normalize/normalize.ts"
import type { ServingInfo, ResponseEncoder } from "../../../formats/encoder.ts"
import type { CallContext } from "../../inference-request.ts"
import { DONE_FRAME, toEventFrame } from "../../../formats/sse/frames.ts"
import { advance, fail, finish, keepAlive, newEventState, type Step, start } from "../../../formats/responses/events.ts"
import { toResponsesResult } from "../../../formats/responses/from-chat.ts"
import { withoutToolCredentials } from "../../../formats/tools/tool-credentials.ts"
import { NativeResponse } from "./native.ts"
import type { ResponsesRequest } from "../../../formats/responses/schemas.ts"

/**
 * Encodes the Responses format: a provider's own events, or events translated from the chat format. The response id is
 * the generation id.
 */
export function responsesEncoder(request: ResponsesRequest, call: CallContext): ResponseEncoder {
  const { draft, meta } = call
  const facts = {
    id: draft.id,
    get model() {
      return call.servingTarget?.model.id ?? draft.requestedModel
    },
    createdAt: draft.createdAt,
    newId: newHexId,
  }
  let state = newEventState(request, facts)
  let native: NativeResponse | undefined
  let serving: ServingInfo | undefined
  const encode = ([next, events]: Step) => {
    state = next
    return events.map(toEventFrame)
  }
  const metadataOf = (reported: ServingInfo | undefined) =>
    meta.wantsMetadata ? call.metadata(reported?.attempts ?? []) : {}

  return {
    isStateless: false,
    document(result, reported, charge, earlier) {
      const metadata = metadataOf(reported)
      if (reported.reader.name === "responses")
        return new NativeResponse(request, facts, 0).document(result, { charge, metadata })
      const usage = { ...usageOf(charge, result["usage"]), ...costFields(charge) }
      const normal = { ...normalizeResult(result, defaultsOf(call, reported.upstreamBody)), usage }
      return { ...toResponsesResult(normal, request, { ...facts, completedAt: Date.now() }, earlier), ...metadata }
    },
    open(reported) {
      serving = reported
      const upstreamBody = withoutToolCredentials(reported.upstreamBody)
      const echo =
        request.debug?.echo_upstream_body === true ? { debug: { echo_upstream_body: upstreamBody } } : undefined
      if (reported.reader.name !== "responses")
        return [...encode(start(state)), ...(echo ? encode(advance(state, echo)) : [])]
      native = new NativeResponse(request, facts, state.sequence)
      return echo ? native.take({ type: "response.debug", ...echo }, undefined) : []
    },
    chunk: (chunk, frame) => (native ? native.take(chunk, frame) : encode(advance(state, chunk))),
    // A comment does not reset the idle timer of every Responses client.
    heartbeat: () => (native ? native.heartbeat() : encode(keepAlive(state))),
    failure: (error, metadata, charge) => {
      const charged = charge?.tokensFrom === "none" ? undefined : charge
      if (native) return [...native.failure(error, metadata, charged), DONE_FRAME]
      const frames = encode(advance(state, metadata))
      const usage = charged && { ...usageOf(charged, state.usage), ...costFields(charged) }
      return [...frames, ...encode(fail(state, toFailure(error), usage)), DONE_FRAME]
    },
    end(charge) {
      const metadata = metadataOf(serving)
      const usage = usageOf(charge, state.usage)
      const ending = { completedAt: Date.now(), ...costFields(charge), metadata, usage }
      return [...(native ? native.end({ charge, metadata }) : encode(finish(state, ending))), DONE_FRAME]
    },
  }
}

function toFailure({ code, status, message }: GatewayError) {
  return { code: status, message, error_type: errors[code].type }
}
