import { GatewayError } from "../../errors/errors.ts"
import type { Caller } from "../../policy/call-policy.ts"
import type { DividedKey } from "../../providers/divided-keys.ts"
import { keyFilterOf } from "../../providers/key-filter.ts"
import { isObject, type Json } from "../../support/text/json.ts"
import { isDeepJson } from "../../support/text/depth.ts"
import { BODY_DEPTH_RULE, isBodyTooDeep } from "../input/body-depth.ts"
import type { Deps, RequestMeta } from "../deps.ts"
import { checkEvent, requestedTranscription } from "./events/client-events.ts"
import { toClosing, errorEvent, type EventError, parseEvent, type RealtimeEvent } from "./events/events.ts"
import { type OpenedSession, planTranscription } from "./open.ts"
import { toClientError, toClientSession, sessionOf } from "./events/provider-events.ts"
import type { Responses } from "./events/responses.ts"
import { sendText } from "./sockets.ts"
import { SessionText } from "./events/transcript.ts"
import type { Transcriptions } from "./events/transcriptions.ts"

export type RelayContext = {
  opened: OpenedSession
  client: WebSocket
  deps: Deps
  meta: RequestMeta
  caller: () => Caller
}

/** Relays events one at a time, so that holds, starts and settlements have one order. */
export class EventRelay {
  readonly #context: RelayContext
  readonly #responses: Responses
  readonly #transcriptions: Transcriptions
  readonly #text = new SessionText()
  readonly #keys: readonly DividedKey[]

  constructor(context: RelayContext, responses: Responses, transcriptions: Transcriptions) {
    this.#context = context
    this.#responses = responses
    this.#transcriptions = transcriptions
    this.#keys = keyFilterOf(context.opened.target.provider)?.divided() ?? []
  }

  /** Handles an event of the client. Rejects with the reason if the session must end. */
  async onClient(text: string): Promise<void> {
    const event = parseEvent(text)
    if (!event || isBodyTooDeep(event)) {
      const message = event ? `The event ${BODY_DEPTH_RULE}` : "Each message must be a JSON object with a type."
      return this.#emit(errorEvent({ type: "invalid_request_error", code: "invalid_event", message }))
    }
    const { target, conversation } = this.#context.opened
    const transcription = await this.#transcriptionOf(event)
    const checked = checkEvent(event, { upstreamId: target.endpoint.upstreamId, transcription })
    if ("error" in checked) return this.#emit(errorEvent(checked.error, event["event_id"]))
    if (checked.notice) this.#emit(errorEvent(checked.notice, event["event_id"]))
    conversation.add(checked.event)
    const { type } = checked.event
    if (type === "response.create") {
      const rejection = await this.#admitRequest()
      if (rejection) return this.#emit(errorEvent(rejection, event["event_id"]))
    } else if (ADDS_INPUT.has(type)) await this.#responses.admitInput()
    this.#text.add(checked.event)
    // Serialized again: a provider may resolve repeated names differently, but must read exactly what was checked.
    sendText(this.#context.opened.socket, JSON.stringify(checked.event))
  }

  /** Holds another response. Returns an error if that fails while one is held; without a held one, the session ends. */
  async #admitRequest(): Promise<EventError | undefined> {
    try {
      await this.#responses.admitRequest()
      return undefined
    } catch (thrown) {
      if (this.#responses.isHeld && thrown instanceof GatewayError) return toClosing(thrown).error
      throw thrown
    }
  }

  /** Holds the cost of the requested transcription model and returns its name at the provider. */
  async #transcriptionOf(event: RealtimeEvent): Promise<string | undefined> {
    const model = event.type === "session.update" ? requestedTranscription(event) : undefined
    if (model === undefined) return undefined
    const { deps, meta, opened, caller } = this.#context
    const target = planTranscription(model, opened.target, { deps, meta, caller: caller() })
    if (target) await this.#transcriptions.use(target)
    return target?.endpoint.upstreamId
  }

  /** Handles an event of the provider. Rejects with the reason if the session must end; false for an invalid event. */
  async onProvider(text: string): Promise<boolean> {
    const { target, conversation } = this.#context.opened
    const redacted = keyFilterOf(target.provider)?.text(text) ?? text
    const parsed = parseEvent(redacted)
    if (!parsed || isDeepJson(redacted, parsed)) return false
    const event = this.#withoutKeys(parsed)
    const clean = event === parsed ? redacted : JSON.stringify(event)
    const { type, response } = event
    if (type === "error") {
      this.#responses.requestRejected()
      this.#emit(toClientError(event, target))
    } else if (type === "session.created" || type === "session.updated") {
      conversation.session(sessionOf(event) ?? {})
      this.#emit(toClientSession(event, target))
    } else {
      if (type === "response.created" && isObject(response) && typeof response["id"] === "string") {
        await this.#responses.begin(response["id"], this.#text.take())
      } else if (type === "response.done" && isObject(response)) {
        await this.#responses.finish(response, () => this.#text.take())
      } else if (type.startsWith("response.") && type.endsWith(".delta")) this.#onDelta(event)
      sendText(this.#context.client, clean)
      await this.#holdNext(event)
    }
    return true
  }

  /** Audio is in base64, in which the key as it is sent does not occur. */
  #withoutKeys(event: RealtimeEvent): RealtimeEvent {
    if (event.type.endsWith("audio.delta")) return event
    const clean = this.#keys.reduce<Json>((found, key) => key.clean(found), event)
    return clean === event ? event : { ...clean, type: event.type }
  }

  #onDelta(event: RealtimeEvent): void {
    const { type, delta, response_id: id } = event
    if (typeof delta !== "string") return
    const isAudio = type === "response.output_audio.delta" || type === "response.audio.delta"
    const audioTokens = isAudio ? this.#context.opened.conversation.outputAudioTokens(delta.length) : 0
    const isUsedUp = this.#responses.delivered(event, { characters: isAudio ? 0 : delta.length, audioTokens })
    if (!isUsedUp) return
    sendText(this.#context.opened.socket, JSON.stringify({ type: "response.cancel", response_id: id }))
    const message = "The response was cancelled because a limit of this key or its account is used up."
    this.#emit(errorEvent({ type: "insufficient_quota", code: "insufficient_credits", message }))
  }

  /** Holds the next response. If that fails while others run, they may still release part of their holds. */
  async #holdNext(event: RealtimeEvent): Promise<void> {
    if (event.type === "conversation.item.input_audio_transcription.completed") {
      this.#text.transcribed(event["transcript"])
      return this.#transcriptions.finish(event)
    }
    if (event.type !== "response.done") return undefined
    try {
      await this.#responses.refill()
    } catch (thrown) {
      if (!this.#responses.isRunning) throw thrown
    }
  }

  #emit(event: RealtimeEvent): void {
    sendText(this.#context.client, JSON.stringify(event))
  }
}

/** Events that extend the prompt of the next response. */
const ADDS_INPUT = new Set([
  "session.update",
  "conversation.item.create",
  "input_audio_buffer.append",
  "input_audio_buffer.commit",
])
