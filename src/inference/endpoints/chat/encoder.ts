import { withoutToolCredentials } from "../../../formats/tools/tool-credentials.ts"
import type { CallContext } from "../../inference-request.ts"
import type { ServingInfo, ResponseEncoder } from "../../../formats/encoder.ts"
import type { ChatRequest } from "../../../formats/schemas.ts"
import { type Charge, chargedUsage } from "../../../formats/usage.ts"
import { DONE_FRAME, KEEPALIVE_FRAME, toFrame } from "../../../formats/sse/frames.ts"
import { failureFrames } from "../../../formats/chat/failure.ts"
import { type ChunkDefaults, normalizeResult } from "../../../formats/chat/normalize/normalize.ts"
import { isObject, type Json } from "../../../support/text/json.ts"

/** A chunk with usage. Sent when the charge is known. */
type UsageChunk = { chunk: Json; usage: Json }

/** Encodes the chat format: chunks pass unchanged, except for usage and fields that the client requested. */
export function chatEncoder(request: ChatRequest, call: CallContext): ResponseEncoder {
  const { wantsMetadata, hasChoiceWithUsage = false } = call.meta
  const dropsUsage = request.stream_options?.include_usage === false
  const echoesBody = request.debug?.echo_upstream_body === true
  let serving: ServingInfo | undefined
  let held: UsageChunk | undefined
  let reported: Json | undefined
  /** Id and model of the started stream: an id that the provider sends later does not change them. */
  let names: ChunkDefaults | undefined
  const emptyChunk = () => toEmptyChunk(names ?? defaultsOf(call))

  /** Releases the buffered chunk without its usage when more chunks follow. */
  const release = (): Uint8Array[] => {
    const chunk = held && withoutUsage(held.chunk)
    held = undefined
    return chunk ? [toFrame(chunk)] : []
  }
  const usageFrames = (charge: Charge): Uint8Array[] => {
    if (dropsUsage) return release()
    const chunk = held?.chunk ?? emptyChunk()
    const usage = chargedUsage(charge, held?.usage ?? reported)
    return [toFrame({ ...chunk, ...(hasChoiceWithUsage && isEmpty(chunk["choices"]) && EMPTY_CHOICE), usage })]
  }

  return {
    isStateless: true,

    document: (result, info, charge) => ({
      ...normalizeResult(result, defaultsOf(call, info.upstreamBody)),
      usage: chargedUsage(charge, result["usage"]),
      provider: info.provider,
      ...(wantsMetadata && call.metadata(info.attempts)),
    }),

    open(info) {
      serving = info
      names = defaultsOf(call)
      const echo = { ...emptyChunk(), debug: { echo_upstream_body: withoutToolCredentials(info.upstreamBody) } }
      return echoesBody ? [toFrame(echo)] : []
    },

    chunk(chunk, frame) {
      const { usage } = chunk
      const before = held ? release() : []
      if (!isObject(usage)) return [...before, frame ?? toFrame(chunk)]
      reported = usage
      if (isLast(chunk)) {
        held = { chunk, usage }
        return before
      }
      const rest = withoutUsage(chunk)
      return rest ? [...before, toFrame(rest)] : before
    },

    heartbeat: () => [KEEPALIVE_FRAME],

    failure: (error, metadata, charge) => {
      const hasUsage = charge && charge.tokensFrom !== "none" && !dropsUsage
      const usage = hasUsage ? { usage: chargedUsage(charge, reported) } : {}
      return failureFrames(error, names ?? defaultsOf(call), { ...metadata, ...usage })
    },

    end(charge) {
      const metadata =
        wantsMetadata && serving ? [toFrame({ ...emptyChunk(), ...call.metadata(serving.attempts) })] : []
      return [...usageFrames(charge), ...metadata, DONE_FRAME]
    },
  }
}

/** Whether every choice has finished, so that only the end can follow. */
function isLast({ choices }: Json): boolean {
  return !Array.isArray(choices) || choices.every((choice) => isObject(choice) && choice["finish_reason"] !== null)
}

/** Undefined for a chunk with usage only. */
function withoutUsage(chunk: Json): Json | undefined {
  const { usage: _, ...rest } = chunk
  return isEmpty(rest["choices"]) ? undefined : rest
}

const isEmpty = (choices: unknown) => Array.isArray(choices) && choices.length === 0

/** LangChain's client of this API family skips chunks without a choice, and with them the usage. */
const EMPTY_CHOICE = { choices: [{ index: 0, delta: {}, finish_reason: null }] }

function toEmptyChunk({ id, model, created }: ChunkDefaults): Json {
  return { id, object: "chat.completion.chunk", created, model, choices: [] }
}

/**
 * Id and model of a response: the provider's id and the gateway's model name. `upstreamBody`: the request that the provider
 * received.
 */
export function defaultsOf({ meter, draft, servingTarget }: CallContext, upstreamBody?: Json): ChunkDefaults {
  return {
    id: meter.id ?? draft.id,
    model: servingTarget?.model.id ?? draft.requestedModel,
    created: meter.created ?? Math.floor(draft.createdAt / 1_000),
    calls: [],
    begun: new Map(),
    withDeltas: new Set(),
    thoughts: new Map(),
    reasoned: new Set(),
    ...(upstreamBody && { upstreamBody }),
  }
}
