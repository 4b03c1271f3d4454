import { withoutGatewayFields } from "../../../formats/chat/normalize/normalize.ts"
import { type MessageFacts, newMessage } from "../../../formats/messages/events.ts"
import { MessageEvents } from "../../../formats/messages/native/events.ts"
import { normalizeMessage, normalizeStopReason } from "../../../formats/messages/native/message.ts"
import type { MessagesEvent } from "../../../formats/messages/schemas.ts"
import { hasEventName, toEventFrame } from "../../../formats/sse/frames.ts"
import { type Charge, type Costs, withoutCosts } from "../../../formats/usage.ts"
import { isObject, type Json, withoutNulls } from "../../../support/text/json.ts"

/** Added to a message once it has ended. */
export type Closing = { charge: Charge; costs: Costs; metadata: Json }

/** Rewrites a native message. The final events are buffered until the settlement. */
export class NativeMessage {
  readonly #facts: MessageFacts
  readonly #events: MessageEvents
  #last: Json | undefined
  #hasEnded = false
  /** The usage of `message_start`. */
  #started: Json = {}

  constructor(facts: MessageFacts) {
    this.#facts = facts
    this.#events = new MessageEvents(() => newMessage(facts))
  }

  /** `frame`: the original bytes of the event, sent if nothing changed. */
  take(event: Json, frame: Uint8Array | undefined): Uint8Array[] {
    // Clients know an event by its type: another one, such as `{}`, keeps the connection open.
    if (typeof event["type"] !== "string") return []
    return this.#events.take(event).flatMap((normal) => this.#write(normal, normal === event ? frame : undefined))
  }

  end(closing: Closing): Uint8Array[] {
    const before = this.#hasEnded ? [] : this.take({ type: "message_stop" }, undefined)
    const delta = isObject(this.#last?.["delta"]) ? this.#last["delta"] : {}
    const reason = normalizeStopReason(delta["stop_reason"], this.#events.hasCall)
    const event = {
      ...withoutGatewayFields(this.#last ?? {}),
      type: "message_delta",
      delta: { stop_sequence: null, ...delta, stop_reason: reason },
      usage: asCharged(closing, this.#last?.["usage"], this.#started),
      ...closing.metadata,
    }
    return [...before, toEventFrame(event), toEventFrame({ type: "message_stop" })]
  }

  document(message: Json, closing: Closing): Json {
    const { id } = message
    return {
      ...withoutGatewayFields(normalizeMessage(message)),
      id: typeof id === "string" && id !== "" ? id : this.#facts.id,
      model: this.#facts.model,
      usage: asCharged(closing, message["usage"], {}),
      ...closing.metadata,
    }
  }

  #write(event: Json, frame: Uint8Array | undefined): Uint8Array[] {
    const { type } = event
    if (type === "message_delta") this.#last = this.#last ? merge(this.#last, event) : event
    if (type === "message_stop") this.#hasEnded = true
    if (type === "message_delta" || type === "message_stop") return []
    if (type === "message_start" && isObject(event["message"])) return [this.#start(event, event["message"], frame)]
    // Clients of this format know an event by the name of its frame.
    return [frame && hasEventName(frame) ? frame : toEventFrame(event as MessagesEvent)]
  }

  #start(event: Json, reported: Json, frame: Uint8Array | undefined): Uint8Array {
    const { model } = this.#facts
    const { usage } = reported
    if (isObject(usage)) this.#started = usage
    const message = withoutGatewayFields(reported)
    if (message === reported && message["model"] === model && frame && hasEventName(frame)) return frame
    return toEventFrame({ ...event, type: "message_start", message: { ...message, model } })
  }
}

/** Some servers send the stop reason and the usage in two events. */
function merge(one: Json, other: Json): Json {
  const [delta, usage] = ["delta", "usage"].map((key) => ({
    ...(isObject(one[key]) && one[key]),
    ...(isObject(other[key]) && withoutNulls(other[key])),
  }))
  return { ...one, ...other, delta, usage }
}

/** The charged tokens, with the other fields that the provider reported. `started`: the usage of `message_start`. */
function asCharged({ charge: { tokens }, costs }: Closing, reported: unknown, started: Json): Json {
  const usage = withoutCosts(reported)
  const { prompt, cached, cacheWrite, completion } = tokens
  // The format counts cached tokens separately from the input, and a final event may omit what has not changed.
  const counts = {
    input_tokens: prompt - cached - cacheWrite,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: cacheWrite,
  }
  const changed = Object.entries(counts).filter(([key, count]) => key in usage || (started[key] ?? 0) !== count)
  const input = "output_tokens" in usage ? {} : { input_tokens: counts.input_tokens }
  return { ...usage, ...input, ...Object.fromEntries(changed), output_tokens: completion, ...costs }
}
