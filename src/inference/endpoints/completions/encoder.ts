import type { CompletionsRequest } from "../../../formats/completions/schemas.ts"
import { toTextChoices } from "../../../formats/completions/from-chat.ts"
import { toErrorFields } from "../../../formats/chat/failure.ts"
import { normalizeResult } from "../../../formats/chat/normalize/normalize.ts"
import type { ResponseEncoder, ServingInfo } from "../../../formats/encoder.ts"
import { DONE_FRAME, KEEPALIVE_FRAME, toFrame } from "../../../formats/sse/frames.ts"
import { type Charge, chargedUsage } from "../../../formats/usage.ts"
import { isObject, type Json } from "../../../support/text/json.ts"
import type { CallContext } from "../../inference-request.ts"
import { defaultsOf } from "../chat/encoder.ts"

const OBJECT = "text_completion"

/** Encodes the text completions format from the chat format. */
export function completionsEncoder(request: CompletionsRequest, call: CallContext): ResponseEncoder {
  const { wantsMetadata } = call.meta
  const dropsUsage = request.stream_options?.include_usage === false
  const echoesBody = request.debug?.echo_upstream_body === true
  let serving: ServingInfo | undefined
  let reported: Json | undefined
  /** The latest chunk with a finish reason, buffered until the usage is charged. */
  let last: Json | undefined
  const headOf = () => {
    const { id, model, created } = defaultsOf(call)
    return { id, object: OBJECT, created, model }
  }
  let head: Json | undefined
  const toChunk = (fields: Json) => ({ ...(head ?? headOf()), choices: [], ...fields })
  const usageIn = (charge: Charge) => (dropsUsage ? {} : { usage: chargedUsage(charge, reported) })

  return {
    isStateless: false,

    document(result, info, charge) {
      const { choices, object: _, ...rest } = normalizeResult(result, defaultsOf(call, info.upstreamBody))
      return {
        ...rest,
        object: OBJECT,
        choices: toTextChoices(choices),
        usage: chargedUsage(charge, result["usage"]),
        provider: info.provider,
        ...(wantsMetadata && call.metadata(info.attempts)),
      }
    },

    open(info) {
      serving = info
      head = headOf()
      return echoesBody ? [toFrame(toChunk({ debug: { echo_upstream_body: info.upstreamBody } }))] : []
    },

    chunk({ choices: parts, usage, system_fingerprint: fingerprint }) {
      if (isObject(usage)) reported = usage
      const choices = toTextChoices(parts).filter(hasOutput)
      if (choices.length === 0) return []
      const before = last ? [toFrame(last)] : []
      const chunk = toChunk({ choices, ...(typeof fingerprint === "string" && { system_fingerprint: fingerprint }) })
      last = choices.some((choice) => choice["finish_reason"] !== null) ? chunk : undefined
      return last ? before : [...before, toFrame(chunk)]
    },

    heartbeat: () => [KEEPALIVE_FRAME],

    failure(error, metadata, charge) {
      const usage = charge && charge.tokensFrom !== "none" ? usageIn(charge) : {}
      const choices = [{ index: 0, text: "", logprobs: null, finish_reason: "error" }]
      // First, as in the chat format.
      return [toFrame({ error: toErrorFields(error), ...toChunk({ choices }), ...metadata, ...usage }), DONE_FRAME]
    },

    end(charge) {
      const metadata = wantsMetadata && serving ? [toFrame(toChunk(call.metadata(serving.attempts)))] : []
      const usage = usageIn(charge)
      const closing = last || !dropsUsage ? [toFrame({ ...(last ?? toChunk({})), ...usage })] : []
      return [...closing, ...metadata, DONE_FRAME]
    },
  }
}

/** The first chunk of the chat format has only a role. */
function hasOutput({ text, finish_reason: reason, reasoning, logprobs }: Json): boolean {
  return text !== "" || reason !== null || reasoning !== undefined || logprobs !== null
}
