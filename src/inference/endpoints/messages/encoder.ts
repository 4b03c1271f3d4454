import { defaultsOf } from "../chat/encoder.ts"
import { usageOf, costFields, type Costs, type Charge, withoutCosts } from "../../../formats/usage.ts"
import { normalizeResult, withoutGatewayFields } from "../../../formats/chat/normalize/normalize.ts"
import { isObject, type Json } from "../../../support/text/json.ts"
import type { ServingInfo, ResponseEncoder } from "../../../formats/encoder.ts"
import type { CallContext } from "../../inference-request.ts"
import { hasEventName, KEEPALIVE_FRAME, toEventFrame } from "../../../formats/sse/frames.ts"
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
import type { MessagesEvent, MessagesRequest } from "../../../formats/messages/schemas.ts"
import { isCustomTool } from "../../../formats/messages/to-chat.ts"
import { replacedNames } from "../../../formats/tools/tool-aliases.ts"

/** Encodes the Messages format: a provider's own events, or events translated from the chat format. */
export function messagesEncoder({ tools }: MessagesRequest, call: CallContext): ResponseEncoder {
  const { meta } = call
  const facts = factsOf(tools, call)
  let state = newEventState(facts)
  let serving: ServingInfo | undefined
  /** Final native events, buffered until the settlement. */
  let last: Json[] = []
  let hasCall = false
  const isNative = () => serving?.reader.name === "messages"
  const encode = ([next, events]: Step) => {
    state = next
    return events.map(toEventFrame)
  }
  const closing = (charge: Charge, reported: ServingInfo | undefined) => ({
    costs: costsOf(charge),
    metadata: meta.wantsMetadata ? call.metadata(reported?.attempts ?? []) : {},
  })

  return {
    isStateless: false,
    document(result, reported, charge) {
      const { costs, metadata } = closing(charge, reported)
      if (reported.reader.name === "messages")
        return rewritten(result, { model: facts.model, usage: asCharged(charge, result["usage"], costs), ...metadata })
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
      return isNative() ? [] : encode(start(state))
    },
    chunk(event, frame) {
      if (!isNative()) return encode(advance(state, event))
      if (typeof event["type"] !== "string") return []
      if (event["type"] === "message_delta" || event["type"] === "message_stop") {
        last.push(event)
        return []
      }
      hasCall ||= isObject(event["content_block"]) && event["content_block"]["type"] === "tool_use"
      if (startsMessage(event)) return [withModel(event, facts.model, frame)]
      return [withEventName(event as MessagesEvent, frame)]
    },
    // Before the first event, only comments are allowed.
    heartbeat: () => (!serving ? [KEEPALIVE_FRAME] : isNative() ? [PING] : encode(keepAlive(state))),
    failure: (error, metadata) => [toEventFrame({ ...toMessagesError(error.status, error.message), ...metadata })],
    end(charge) {
      const { costs, metadata } = closing(charge, serving)
      if (!isNative()) return encode(finish(state, { ...costs, metadata, usage: usageOf(charge, state.usage) }))
      const frames = finalEvents(last, hasCall).map((event) => {
        const isDelta = event["type"] === "message_delta"
        const usage = () => asCharged(charge, event["usage"], costs)
        return toEventFrame((isDelta ? rewritten(event, { usage: usage(), ...metadata }) : event) as MessagesEvent)
      })
      last = []
      return frames
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
    newId: () => crypto.randomUUID().replaceAll("-", ""),
    toolNames: replacedNames((tools ?? []).filter(isCustomTool).map(({ name }) => name)),
  }
}

const rewritten = (reported: Json, fields: Json): Json => ({ ...withoutGatewayFields(reported), ...fields })

/** The charged tokens, with the other fields that the provider reported. */
function asCharged({ tokens }: Charge, reported: unknown, costs: Costs): Json {
  const usage = withoutCosts(reported)
  const { prompt, cached, cacheWrite, completion } = tokens
  // The format counts cached tokens separately from the input, and a final event may omit the input.
  const input =
    "input_tokens" in usage || !("output_tokens" in usage) ? { input_tokens: prompt - cached - cacheWrite } : {}
  return { ...usage, ...input, output_tokens: completion, ...costs }
}

/** The format has no field for BYOK, so it is added only for calls with a BYOK credential. */
function costsOf(charge: Charge): Costs {
  const { is_byok: isByok, ...costs } = costFields(charge)
  return isByok ? { ...costs, is_byok: true } : costs
}

/** The final events. Clients take the stop reason and the usage from `message_delta`, which some servers omit. */
function finalEvents(last: readonly Json[], hasCall: boolean): Json[] {
  const delta = { stop_reason: hasCall ? "tool_use" : "end_turn", stop_sequence: null }
  const events = last.some(({ type }) => type === "message_delta") ? last : [{ type: "message_delta", delta }, ...last]
  // A stream that ended after its stop reason is complete.
  const isStopped = last.some(({ type }) => type === "message_stop")
  return isStopped ? [...events] : [...events, { type: "message_stop" }]
}

const PING = toEventFrame({ type: "ping" })

/** Clients of this format know an event by the name of its frame. */
function withEventName(event: MessagesEvent, frame: Uint8Array | undefined): Uint8Array {
  return frame && hasEventName(frame) ? frame : toEventFrame(event)
}

type MessageStart = Json & { message: Json }

function startsMessage(event: Json): event is MessageStart {
  return event["type"] === "message_start" && isObject(event["message"])
}

/** The first event with the gateway's model name. */
function withModel(event: MessageStart, model: string, frame: Uint8Array | undefined): Uint8Array {
  const message = withoutGatewayFields(event.message)
  const isNormal = message === event.message && message["model"] === model
  if (isNormal) return withEventName({ ...event, type: "message_start" }, frame)
  return toEventFrame({ ...event, type: "message_start", message: { ...message, model } })
}
