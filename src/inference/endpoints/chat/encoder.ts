import type { CallContext } from "../../inference-request.ts"
import type { ServingInfo, ResponseEncoder } from "../../../formats/encoder.ts"
import type { ChatRequest } from "../../../formats/schemas.ts"
import { chargeFor } from "../../charge.ts"
import { costFields, type Charge } from "../../../formats/cost-fields.ts"
import { DONE_FRAME, KEEPALIVE_FRAME, toFrame } from "../../../formats/sse/frames.ts"
import { failureFrames } from "../../../formats/chat/failure.ts"
import { type ChunkDefaults, normalizeResult } from "../../../formats/chat/normalize.ts"
import { toTokens } from "../../../formats/chat/meter.ts"
import { isObject, type Json } from "../../../support/json.ts"

/** Encodes the chat format: chunks pass as they arrive, except for changes that the client requested. */
export function chatEncoder(request: ChatRequest, call: CallContext): ResponseEncoder {
  const { wantsMetadata } = call.meta
  const dropsUsage = request.stream_options?.include_usage === false
  const addsCost = request.usage?.include === true
  const echoesBody = request.debug?.echo_upstream_body === true
  let answering: ServingInfo | undefined

  return {
    passesNative: !wantsMetadata && !dropsUsage && !addsCost && !echoesBody,

    document(result, reported, charge) {
      const normal = normalizeResult(result, defaultsOf(call))
      const usage = isObject(normal["usage"]) ? normal["usage"] : toUsage(charge)
      normal["usage"] = { ...usage, ...costFields(charge) }
      return {
        ...normal,
        provider: reported.provider,
        ...(wantsMetadata && call.metadata(reported.attempts)),
      }
    },

    open(reported) {
      answering = reported
      const echo = { ...emptyChunk(call), debug: { echo_upstream_body: reported.upstreamBody } }
      return echoesBody ? [toFrame(echo)] : []
    },

    chunk(chunk, frame) {
      const edited = dropsUsage ? withoutUsage(chunk) : addsCost ? withCost(chunk, call) : chunk
      if (edited === undefined) return []
      return [edited === chunk && frame ? frame : toFrame(edited)]
    },

    heartbeat: () => [KEEPALIVE_FRAME],

    failure: (error, metadata) => failureFrames(error, defaultsOf(call), metadata),

    end: () =>
      wantsMetadata && answering
        ? [toFrame({ ...emptyChunk(call), ...call.metadata(answering.attempts) }), DONE_FRAME]
        : [DONE_FRAME],
  }
}

/** The charged tokens as a usage object, for a provider that reports none. */
export function toUsage({ tokens: { prompt, completion } }: Charge): Json {
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion }
}

/** Usage is always sent, unless `include_usage` is false. Drops a chunk that has nothing else. */
function withoutUsage(chunk: Json): Json | undefined {
  if (!("usage" in chunk)) return chunk
  const { usage: _, ...rest } = chunk
  return Array.isArray(rest["choices"]) && rest["choices"].length === 0 ? undefined : rest
}

function withCost(chunk: Json, call: CallContext): Json {
  if (!isObject(chunk["usage"]) || !call.servingTarget) return chunk
  const meter = { ...call.meter, tokens: toTokens(chunk["usage"]) }
  const target = call.servingTarget
  const heldNano = call.chargeLimitOf(target)
  const charge = chargeFor(meter, { target, bounds: call.request.bounds, heldNano, isComplete: true })
  return { ...chunk, usage: { ...chunk["usage"], ...costFields(charge) } }
}

function emptyChunk(call: CallContext): Json {
  const { id, model, created } = defaultsOf(call)
  return { id, object: "chat.completion.chunk", created, model, choices: [] }
}

/** Defaults for fields that a provider leaves out. */
export function defaultsOf({ meter, draft, servingTarget: answering }: CallContext): ChunkDefaults {
  return {
    id: meter.id ?? draft.id,
    model: meter.model ?? answering?.model.id ?? draft.requestedModel,
    created: meter.created ?? Math.floor(draft.createdAt / 1_000),
    calls: [],
  }
}
