import { isObject, type Json, objectsOf, parseJson } from "../../support/text/json.ts"
import type { RealtimeModel } from "./models.ts"

/** A scripted realtime session that echoes its input. */

type Link = { key: string; send: (event: Json) => void; close: () => void }

/** PCM of 24 kHz and 16 bits: one token is 100 ms of input and 50 ms of output. */
const BYTES_PER_SECOND = 48_000
const BYTES_PER_INPUT_TOKEN = BYTES_PER_SECOND / 10
const BYTES_PER_OUTPUT_TOKEN = BYTES_PER_SECOND / 20
const UNITS_PER_TOKEN = 4
const ENDLESS_EVENT_MS = 5

type Spoken = { text: number; audio: number }
type Response = { id: string; item: string; text: string; isAudio: boolean; metadata: unknown; sent: Spoken }

export class ScriptedSession {
  readonly #model: RealtimeModel
  readonly #link: Link
  readonly #id = newId("sess")
  #session: Json = {
    type: "realtime",
    output_modalities: ["audio"],
    instructions: "",
    audio: { input: {}, output: {} },
  }
  #input: Spoken = { text: 0, audio: 0 }
  #cached: Spoken = { text: 0, audio: 0 }
  #latest = "nothing"
  #latestItem: string | null = null
  #bufferedBytes = 0
  #running: Response | undefined
  #timer: ReturnType<typeof setInterval> | undefined

  constructor(model: RealtimeModel, link: Link) {
    this.#model = model
    this.#link = link
  }

  open(): void {
    if (this.#model.fault !== "silent") this.#send("session.created", { session: this.#described() })
  }

  stop(): void {
    clearInterval(this.#timer)
  }

  receive(text: string): void {
    const event = parseJson(text)
    if (!isObject(event) || this.#model.fault === "silent") return
    switch (event["type"]) {
      case "session.update":
        return this.#update(event["session"])
      case "conversation.item.create":
        return this.#create(event)
      case "conversation.item.delete":
        return this.#send("conversation.item.deleted", { item_id: event["item_id"] })
      case "conversation.item.truncate": {
        const { item_id, content_index, audio_end_ms } = event
        return this.#send("conversation.item.truncated", { item_id, content_index, audio_end_ms })
      }
      case "input_audio_buffer.append":
        return this.#append(event["audio"])
      case "input_audio_buffer.commit":
        return this.#commit()
      case "input_audio_buffer.clear":
        this.#bufferedBytes = 0
        return this.#send("input_audio_buffer.cleared", {})
      case "response.create":
        return this.#respond(event["response"])
      case "response.cancel":
        return this.#finish("cancelled")
      default:
        return this.#error("invalid_request_error", "invalid_value", `Unknown event ${String(event["type"])}.`, event)
    }
  }

  #described(): Json {
    return { object: "realtime.session", id: this.#id, model: this.#model.slug, ...this.#session }
  }

  #update(changes: unknown): void {
    const { instructions, ...rest } = isObject(changes) ? changes : {}
    this.#session = { ...this.#session, ...rest, ...(instructions !== undefined && { instructions }) }
    if (typeof instructions === "string") this.#input.text += tokensOf(instructions)
    this.#send("session.updated", { session: this.#described() })
  }

  #create({ item: created, previous_item_id: after }: Json): void {
    const item = isObject(created) ? created : {}
    const text = objectsOf(item["content"])
      .map((part) => part["text"])
      .filter((part) => typeof part === "string")
      .join(" ")
    this.#latest = text
    this.#input.text += tokensOf(text)
    const id = typeof item["id"] === "string" ? item["id"] : newId("item")
    const added = { ...item, id, object: "realtime.item", status: "completed" }
    const previous = this.#addItem(added, after)
    this.#send("conversation.item.done", { item: added, previous_item_id: previous })
  }

  /** Adds an item after the one that the client names, by default the latest, and returns the id of that. */
  #addItem(item: Json & { id: string }, after?: unknown): unknown {
    const previous = after === "root" ? null : (after ?? this.#latestItem)
    this.#latestItem = item.id
    this.#send("conversation.item.added", { item, previous_item_id: previous })
    return previous
  }

  #append(audio: unknown): void {
    this.#bufferedBytes += typeof audio === "string" ? Math.floor(audio.length * 0.75) : 0
    const detects = this.#inputSettings()["turn_detection"] != null
    if (!detects || this.#bufferedBytes < BYTES_PER_SECOND) return
    this.#commit()
    this.#respond(undefined)
  }

  #inputSettings(): Json {
    const { audio } = this.#session
    const input = isObject(audio) ? audio["input"] : undefined
    return isObject(input) ? input : {}
  }

  #commit(): void {
    this.#latest = `${this.#bufferedBytes} bytes of audio`
    const seconds = this.#bufferedBytes / BYTES_PER_SECOND
    this.#input.audio += Math.ceil(this.#bufferedBytes / BYTES_PER_INPUT_TOKEN)
    this.#bufferedBytes = 0
    const item = newId("item")
    this.#send("input_audio_buffer.committed", { item_id: item, previous_item_id: this.#latestItem })
    const content = [{ type: "input_audio", transcript: null }]
    const added = { id: item, object: "realtime.item", type: "message", status: "completed", role: "user", content }
    this.#send("conversation.item.done", { item: added, previous_item_id: this.#addItem(added) })
    if (this.#inputSettings()["transcription"] == null) return
    const usage = { type: "duration", seconds }
    const transcribed = { item_id: item, content_index: 0, transcript: this.#latest, usage }
    this.#send("conversation.item.input_audio_transcription.completed", transcribed)
  }

  #respond(options: unknown): void {
    if (this.#running) {
      const message = "Conversation already has an active response in progress."
      return this.#error("invalid_request_error", "conversation_already_has_active_response", message, {})
    }
    if (this.#model.fault === "key-error") {
      const message = `Incorrect API key provided: ${this.#link.key}. You can find your API key in your account.`
      return this.#error("invalid_request_error", "invalid_api_key", message, {})
    }
    const { output_modalities: chosen, metadata = null } = isObject(options) ? options : {}
    const modalities = chosen ?? this.#session["output_modalities"]
    const isAudio = Array.isArray(modalities) && modalities.includes("audio")
    const text = `You said: ${this.#latest}`
    const running = { id: newId("resp"), item: newId("item"), text, isAudio, metadata, sent: { text: 0, audio: 0 } }
    this.#running = running
    this.#send("response.created", { response: this.#responseOf(running, "in_progress") })
    const started = { ...messageOf(running, "in_progress"), content: [] }
    this.#send("response.output_item.added", { response_id: running.id, output_index: 0, item: started })
    this.#addItem(started)
    const part = isAudio ? { type: "audio", transcript: "" } : { type: "text", text: "" }
    this.#send("response.content_part.added", { ...positionOf(running), part })
    if (this.#model.fault === "endless") {
      this.#timer = setInterval(() => this.#emitText("and so on "), ENDLESS_EVENT_MS)
      return
    }
    for (const [at, piece] of (text.match(/.{1,8}/gs) ?? []).entries()) {
      if (at === 1 && this.#model.fault === "drop") return this.#link.close()
      if (at === 1 && this.#model.fault === "stall") return
      this.#emitText(piece)
    }
    this.#finish("completed")
  }

  #emitText(piece: string): void {
    const running = this.#running
    if (!running) return
    const position = positionOf(running)
    running.sent.text += tokensOf(piece)
    if (!running.isAudio) return this.#send("response.output_text.delta", { ...position, delta: piece })
    const bytes = BYTES_PER_OUTPUT_TOKEN * piece.length
    running.sent.audio += piece.length
    this.#send("response.output_audio_transcript.delta", { ...position, delta: piece })
    this.#send("response.output_audio.delta", { ...position, delta: btoa("\0".repeat(bytes)) })
  }

  #finish(status: "completed" | "cancelled"): void {
    const running = this.#running
    if (!running) return
    clearInterval(this.#timer)
    this.#running = undefined
    const position = positionOf(running)
    if (status === "completed") {
      if (running.isAudio)
        this.#send("response.output_audio_transcript.done", { ...position, transcript: running.text })
      this.#send(running.isAudio ? "response.output_audio.done" : "response.output_text.done", {
        ...position,
        ...(!running.isAudio && { text: running.text }),
      })
      const { isAudio, text } = running
      const part = isAudio ? { type: "audio", transcript: text } : { type: "text", text }
      this.#send("response.content_part.done", { ...position, part })
    }
    const item = messageOf(running, status === "completed" ? "completed" : "incomplete")
    this.#send("conversation.item.done", { item, previous_item_id: null })
    this.#send("response.output_item.done", { response_id: running.id, output_index: 0, item })
    const usage = this.#model.fault === "no-usage" ? null : this.#usageOf(running)
    this.#send("response.done", { response: { ...this.#responseOf(running, status), usage } })
  }

  #usageOf({ sent }: Response): Json {
    const input = this.#input
    const cached = this.#cached
    this.#cached = { ...input }
    this.#input = { text: input.text + sent.text, audio: input.audio + sent.audio }
    const inputTokens = input.text + input.audio
    const outputTokens = sent.text + sent.audio
    return {
      total_tokens: inputTokens + outputTokens,
      input_tokens: inputTokens,
      output_tokens: outputTokens,
      input_token_details: {
        text_tokens: input.text,
        audio_tokens: input.audio,
        cached_tokens: cached.text + cached.audio,
        cached_tokens_details: { text_tokens: cached.text, audio_tokens: cached.audio },
      },
      output_token_details: { text_tokens: sent.text, audio_tokens: sent.audio },
    }
  }

  #responseOf(response: Response, status: string): Json {
    const output = status === "completed" ? [messageOf(response, status)] : []
    const { id, metadata } = response
    return { object: "realtime.response", id, status, status_details: null, output, metadata, usage: null }
  }

  #error(type: string, code: string, message: string, { event_id: causedBy = null }: Json): void {
    this.#send("error", { error: { type, code, message, param: null, event_id: causedBy } })
  }

  #send(type: string, fields: Json): void {
    this.#link.send({ type, event_id: newId("event"), ...fields })
  }
}

function positionOf({ id, item }: Response): Json {
  return { response_id: id, item_id: item, output_index: 0, content_index: 0 }
}

function messageOf({ item: id, text, isAudio }: Response, status: string): Json & { id: string } {
  const part = isAudio ? { type: "output_audio", transcript: text } : { type: "output_text", text }
  return { id, object: "realtime.item", type: "message", status, role: "assistant", content: [part] }
}

function tokensOf(text: string): number {
  return Math.ceil(text.length / UNITS_PER_TOKEN)
}

function newId(kind: string): string {
  return `${kind}_${crypto.randomUUID().replaceAll("-", "")}`
}
