import { Candidates } from "../../../formats/gemini/candidates.ts"
import { toGeminiErrorFields } from "../../../formats/gemini/errors.ts"
import { newFraming } from "../../../formats/gemini/framing.ts"
import { toUsageMetadata } from "../../../formats/gemini/usage.ts"
import { toSingleChunk } from "../../../formats/chat/as-chunk.ts"
import { toErrorFields } from "../../../formats/chat/failure.ts"
import { GatewayError } from "../../../errors/errors.ts"
import { toProviderError } from "../../../formats/chat/provider-error.ts"
import { normalizeResult } from "../../../formats/chat/normalize/normalize.ts"
import type { ResponseEncoder, ServingInfo } from "../../../formats/encoder.ts"
import { type Charge, chargedUsage } from "../../../formats/usage.ts"
import { isObject, type Json, listOf } from "../../../support/text/json.ts"
import type { CallContext } from "../../inference-request.ts"
import { defaultsOf } from "../chat/encoder.ts"

/** A blank line: some of Google's clients take a comment for a broken event. Between the elements of an array as well. */
const HEARTBEAT = new TextEncoder().encode("\n\n")

export type GeminiOptions = {
  /** The client requested the text of the reasoning. */
  includesThoughts: boolean
  /** Not for a JSON array. */
  isSse: boolean
  /** Names of functions that the chat request replaced, by their replacement. */
  toolNames: ReadonlyMap<string, string>
}

/** Encodes the Gemini API from the chat format. */
export function geminiEncoder(
  call: CallContext,
  { includesThoughts, isSse, toolNames }: GeminiOptions,
): ResponseEncoder {
  const candidates = new Candidates(includesThoughts, toolNames)
  const framing = newFraming(isSse)
  let serving: ServingInfo | undefined
  let reported: Json | undefined
  const namesNow = () => ({ modelVersion: defaultsOf(call).model, responseId: call.draft.id })
  /** Id and model of a started stream, equal in all of its events. */
  let names: ReturnType<typeof namesNow> | undefined
  const usageIn = (charge: Charge) => ({ usageMetadata: toUsageMetadata(chargedUsage(charge, reported)) })
  const metadataOf = (info: ServingInfo | undefined) =>
    info && call.meta.wantsMetadata ? call.metadata(info.attempts) : {}

  return {
    isStateless: false,
    rejectsComments: true,
    contentType: framing.contentType,

    document(result, info, charge) {
      const failure = toProviderError(result["error"])
      // A document of this format has no error field.
      if (failure) throw new GatewayError("provider_failed", failure.message)
      if (isObject(result["usage"])) reported = result["usage"]
      const contents = candidates.advance(toSingleChunk(normalizeResult(result, defaultsOf(call, info.upstreamBody))))
      const merged = candidates.finish().map((last) => merge(contents, last))
      return { candidates: merged, ...usageIn(charge), ...namesNow(), ...metadataOf(info) }
    },

    open(info) {
      serving = info
      names = namesNow()
      return []
    },

    chunk(chunk) {
      if (isObject(chunk["usage"])) reported = chunk["usage"]
      const advanced = candidates.advance(chunk)
      return advanced.length === 0 ? [] : [framing.event({ candidates: advanced, ...names })]
    },

    heartbeat: () => [HEARTBEAT],

    failure(error, metadata, charge) {
      const usage = charge && charge.tokensFrom !== "none" ? usageIn(charge) : {}
      const fields = { ...toErrorFields(error), ...toGeminiErrorFields(error.status, error.headers) }
      return [framing.last({ error: fields, ...metadata, ...usage })]
    },

    end(charge) {
      return [framing.last({ candidates: candidates.finish(), ...usageIn(charge), ...names, ...metadataOf(serving) })]
    },
  }
}

/** A complete candidate: the parts of its content, then those of its end. */
function merge(contents: readonly Json[], last: Json): Json {
  const content = contents.find(({ index }) => index === last["index"])
  const parts = [...partsOf(content), ...partsOf(last)]
  const filled = parts.filter((part) => part["text"] !== "" || part["thoughtSignature"] !== undefined)
  return { ...last, content: { role: "model", parts: filled.length > 0 ? filled : parts } }
}

function partsOf(candidate: Json | undefined): Json[] {
  const content = candidate?.["content"]
  return listOf(isObject(content) ? content["parts"] : undefined).filter(isObject)
}
