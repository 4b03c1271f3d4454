import { newHexId } from "../../../support/ids.ts"
import { defaultsOf } from "../chat/encoder.ts"
import { usageOf, costFields, type Costs, type Charge } from "../../../formats/usage.ts"
import { normalizeResult } from "../../../formats/chat/normalize/normalize.ts"
import type { ServingInfo, ResponseEncoder } from "../../../formats/encoder.ts"
import type { CallContext } from "../../inference-request.ts"
import { KEEPALIVE_FRAME, toEventFrame } from "../../../formats/sse/frames.ts"
import { toMessagesError } from "../../../formats/messages/errors.ts"
import {
  advance,
  finish,
  keepAlive,
  type MessageFacts,
  newEventState,
  type Step,
  start,
} from "../../../formats/messages/events.ts"
import { toMessagesResult } from "../../../formats/messages/from-chat.ts"
import type { MessagesRequest } from "../../../formats/messages/schemas.ts"
import { isCustomTool } from "../../../formats/messages/to-chat.ts"
import { NativeMessage } from "./native.ts"
import { replacedNames } from "../../../formats/tools/tool-aliases.ts"

/** Encodes the Messages format: a provider's own events, or events translated from the chat format. */
export function messagesEncoder({ tools }: MessagesRequest, call: CallContext): ResponseEncoder {
  const { meta } = call
  const facts = factsOf(tools, call)
  let state = newEventState(facts)
  let serving: ServingInfo | undefined
  let native: NativeMessage | undefined
  const encode = ([next, events]: Step) => {
    state = next
    return events.map(toEventFrame)
  }
  const closing = (charge: Charge, reported: ServingInfo | undefined) => ({
    charge,
    costs: costsOf(charge),
    metadata: meta.wantsMetadata ? call.metadata(reported?.attempts ?? []) : {},
  })

  return {
    isStateless: false,
    document(result, reported, charge) {
      const { costs, metadata } = closing(charge, reported)
      if (reported.reader.name === "messages")
        return new NativeMessage(facts).document(result, closing(charge, reported))
      const usage = usageOf(charge, result["usage"])
      return toMessagesResult(normalizeResult(result, defaultsOf(call, reported.upstreamBody)), {
        ...facts,
        ...costs,
        metadata,
        usage,
      })
    },
    open(reported) {
      serving = reported
      if (reported.reader.name !== "messages") return encode(start(state))
      native = new NativeMessage(facts)
      return []
    },
    chunk: (event, frame) => (native ? native.take(event, frame) : encode(advance(state, event))),
    // Before the first event, only comments are allowed.
    heartbeat: () => (!serving ? [KEEPALIVE_FRAME] : native ? [PING] : encode(keepAlive(state))),
    failure: (error, metadata) => [toEventFrame({ ...toMessagesError(error.status, error.message), ...metadata })],
    end(charge) {
      if (native) return native.end(closing(charge, serving))
      const { costs, metadata } = closing(charge, serving)
      return encode(finish(state, { ...costs, metadata, usage: usageOf(charge, state.usage) }))
    },
  }
}

function factsOf(tools: MessagesRequest["tools"], call: CallContext): MessageFacts {
  const { draft } = call
  return {
    id: `msg_${draft.id}`,
    get model() {
      return call.servingTarget?.model.id ?? draft.requestedModel
    },
    promptEstimate: draft.promptEstimate,
    newId: newHexId,
    toolNames: replacedNames((tools ?? []).filter(isCustomTool).map(({ name }) => name)),
  }
}

/** The format has no field for BYOK, so it is added only for calls with a BYOK credential. */
function costsOf(charge: Charge): Costs {
  const { is_byok: isByok, ...costs } = costFields(charge)
  return isByok ? { ...costs, is_byok: true } : costs
}

const PING = toEventFrame({ type: "ping" })
