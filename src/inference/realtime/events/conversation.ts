import { NO_TOKENS, type Tokens } from "../../../money/money.ts"
import { isObject, type Json, objectsOf } from "../../../support/text/json.ts"
import { UNITS_PER_TOKEN } from "../../../support/tokens.ts"
import type { RealtimeEvent } from "./events.ts"

/** Tokens of a session: the prompt of its next response, and the output of a running one. */

/** Audio per token: 100 ms of input, 50 ms of output. */
const INPUT_SECONDS_PER_TOKEN = 0.1
const OUTPUT_SECONDS_PER_TOKEN = 0.05
const PCM_BYTES_PER_SECOND = 48_000
const G711_BYTES_PER_SECOND = 8_000
/** Tokens around the instructions and each item. */
const TEMPLATE_TOKENS = 64

/** `bound`: upper bound; `text` and `audio`: estimates. */
type Context = { bound: number; text: number; audio: number }

export class Conversation {
  #context: Context = { bound: TEMPLATE_TOKENS, text: TEMPLATE_TOKENS, audio: 0 }
  #inputBytesPerSecond = PCM_BYTES_PER_SECOND
  #outputBytesPerSecond = PCM_BYTES_PER_SECOND

  /** Seconds of audio from the client since the last transcription. */
  audioSeconds = 0

  takeAudioSeconds(): void {
    this.audioSeconds = 0
  }

  /** Upper bound of the prompt tokens of the next response. */
  get bound(): number {
    return Math.ceil(this.#context.bound)
  }

  /** Estimated prompt tokens of the next response. */
  get estimate(): Tokens {
    const { text, audio } = this.#context
    return { ...NO_TOKENS, prompt: Math.ceil(text) + Math.ceil(audio), audio: Math.ceil(audio) }
  }

  /** Adds the content of a client event to the conversation. */
  add(event: RealtimeEvent): void {
    if (event.type === "input_audio_buffer.append") {
      const { audio } = event
      if (typeof audio === "string") this.#addAudio(bytesOfBase64(audio) / this.#inputBytesPerSecond)
    } else if (event.type === "conversation.item.create") this.#addItem(event["item"])
    else if (event.type === "response.create" && isObject(event["response"])) {
      const { instructions, tools, input } = event["response"]
      this.#addText({ instructions, tools })
      for (const item of objectsOf(input)) this.#addItem(item)
    } else if (event.type === "session.update" && isObject(event["session"])) {
      const { instructions, tools } = event["session"]
      this.#addText({ instructions, tools })
    }
  }

  /** Updates the session settings from the provider. */
  session(session: Json): void {
    const { audio, input_audio_format: oldInput, output_audio_format: oldOutput } = session
    const directions = isObject(audio) ? audio : {}
    const { input, output } = directions
    this.#inputBytesPerSecond = bytesPerSecond(isObject(input) ? input["format"] : oldInput)
    this.#outputBytesPerSecond = bytesPerSecond(isObject(output) ? output["format"] : oldOutput)
  }

  /** Replaces estimates by the counted prompt and output of a response, plus the content added since it began. */
  counted(tokens: Tokens, before: number): void {
    const since = Math.max(0, this.#context.bound - before)
    const audio = tokens.audio + (tokens.cachedAudio ?? 0) + (tokens.audioOutput ?? 0)
    const total = tokens.prompt + tokens.completion
    this.#context = {
      bound: total + since + TEMPLATE_TOKENS,
      text: Math.max(0, total - audio),
      audio: audio + since / 4,
    }
  }

  /** Output tokens of base64 audio. */
  outputAudioTokens(base64Length: number): number {
    return (base64Length * 0.75) / this.#outputBytesPerSecond / OUTPUT_SECONDS_PER_TOKEN
  }

  #addItem(item: unknown): void {
    if (!isObject(item)) return
    const { content, ...rest } = item
    this.#addText(rest)
    for (const { audio, ...part } of objectsOf(content)) {
      this.#addText(part)
      if (typeof audio === "string") this.#addAudio(bytesOfBase64(audio) / this.#inputBytesPerSecond)
    }
  }

  /** A text token is at least one byte. */
  #addText(value: unknown): void {
    const text = JSON.stringify(value) ?? ""
    const bytes = new TextEncoder().encode(text).byteLength
    this.#context.bound += bytes
    this.#context.text += bytes / UNITS_PER_TOKEN
  }

  #addAudio(seconds: number): void {
    const tokens = seconds / INPUT_SECONDS_PER_TOKEN
    this.audioSeconds += seconds
    this.#context.bound += tokens
    this.#context.audio += tokens
  }
}

function bytesPerSecond(format: unknown): number {
  const name = isObject(format) ? format["type"] : format
  return typeof name === "string" && /g711|pcmu|pcma/i.test(name) ? G711_BYTES_PER_SECOND : PCM_BYTES_PER_SECOND
}

function bytesOfBase64(text: string): number {
  return text.length * 0.75
}
