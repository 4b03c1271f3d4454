import { appendText, appendToolCall, type Transcript } from "../../../formats/transcript.ts"
import { isObject, type Json, objectsOf } from "../../../support/text/json.ts"
import type { RealtimeEvent } from "./events.ts"

/** Content of a session for content logging and destinations: text and transcripts, never audio. */

export type Message = { role: string; content: string }

/** Limit of buffered input for the next response, in UTF-16 units. */
const MAX_INPUT = 200_000

export class SessionText {
  #messages: Message[] = []
  #length = 0

  /** Adds text of a client event. */
  add(event: RealtimeEvent): void {
    const { item, response, session } = event
    if (event.type === "conversation.item.create") this.#addItem(item)
    else if (event.type === "session.update" && isObject(session)) this.#push("system", session["instructions"])
    else if (event.type === "response.create" && isObject(response)) {
      this.#push("system", response["instructions"])
      for (const inputItem of objectsOf(response["input"])) this.#addItem(inputItem)
    }
  }

  /** Adds a transcript of audio. */
  transcribed(text: unknown): void {
    this.#push("user", text)
  }

  /** Returns and clears the input since the last response began. */
  take(): Message[] {
    const messages = this.#messages
    this.#messages = []
    this.#length = 0
    return messages
  }

  #addItem(item: unknown): void {
    if (!isObject(item)) return
    const { role, content, output, type } = item
    if (type === "function_call_output") return this.#push("tool", output)
    for (const part of objectsOf(content)) {
      const text = part["text"] ?? part["transcript"] ?? ("audio" in part ? "[audio]" : undefined)
      this.#push(typeof role === "string" ? role : "user", text)
    }
  }

  #push(role: string, text: unknown): void {
    if (typeof text !== "string" || text === "" || this.#length >= MAX_INPUT) return
    const content = text.slice(0, MAX_INPUT - this.#length)
    this.#length += content.length
    this.#messages.push({ role, content })
  }
}

const SPOKEN_TEXT = new Set([
  "response.output_text.delta",
  "response.text.delta",
  "response.output_audio_transcript.delta",
  "response.audio_transcript.delta",
])

/** Appends the text of a delta to the transcript of a response. */
export function appendDelta(transcript: Transcript, { type, delta }: RealtimeEvent): void {
  if (SPOKEN_TEXT.has(type) && typeof delta === "string") appendText(transcript, "content", delta)
}

/** Appends the calls of functions in a complete response. */
export function appendCalls(transcript: Transcript, { output }: Json): void {
  for (const { type, call_id: id, name, arguments: input } of objectsOf(output)) {
    if (type === "function_call") appendToolCall(transcript, String(id), { id, name, arguments: input })
  }
}
