import { isObject, type Json, objectsOf } from "../../support/json.ts"
import type { EventError, RealtimeEvent } from "./events.ts"

/** Checks events of the client before they are sent to the provider. Pure. */

/** `notice`: reports a part that was removed from the event. */
export type EventCheck = { event: RealtimeEvent; notice?: EventError } | { error: EventError }

const PASSED = new Set([
  "input_audio_buffer.append",
  "input_audio_buffer.commit",
  "input_audio_buffer.clear",
  "conversation.item.retrieve",
  "conversation.item.truncate",
  "conversation.item.delete",
  "response.cancel",
])
const CONTENT = new Set(["input_text", "input_audio", "text", "output_text", "audio", "output_audio"])
const ITEMS = new Set(["message", "function_call", "function_call_output", "item_reference"])

/** Provider names of the session's model and of its transcription model, if that has a price. */
type UpstreamNames = { upstreamId: string; transcription?: string | undefined }

/** Returns the event to send, with the provider's model names. */
export function checkEvent(event: RealtimeEvent, names: UpstreamNames): EventCheck {
  const { type } = event
  if (PASSED.has(type)) return { event }
  if (type === "session.update") return checkSession(event, names)
  if (type === "conversation.item.create") return checked(event, itemError(event["item"], "item"))
  if (type === "response.create") return checked(event, responseError(event["response"]))
  return refuse("unknown_event", `type: the gateway does not forward events of the type ${type.slice(0, 100)}.`)
}

function checkSession(event: RealtimeEvent, { upstreamId, transcription }: UpstreamNames): EventCheck {
  const { session } = event
  if (!isObject(session)) return refuse("invalid_event", "session: must be an object.")
  const { type, tools, prompt, tracing: _, ...fields } = session
  if (type !== undefined && type !== "realtime") {
    return refuse("unsupported_session", 'session.type: must be "realtime". Use /audio/transcriptions to transcribe.')
  }
  const fault = toolError(tools, "session.tools") ?? promptError(prompt, "session.prompt")
  if (fault) return { error: fault }
  const isRefused = transcription === undefined && requestedTranscription(event) !== undefined
  const passed = {
    ...(type !== undefined && { type }),
    ...withTranscription(fields, transcription),
    ...(tools !== undefined && { tools }),
    ...("model" in fields && { model: upstreamId }),
  }
  return { event: { ...event, session: passed }, ...(isRefused && { notice: NO_TRANSCRIPTION }) }
}

const NO_TRANSCRIPTION = validationError(
  "transcription_unavailable",
  "session.audio.input.transcription: the provider of the session has no such model with a price for this key, so it was removed. GET /models?output_modalities=transcription lists models.",
)

/** The requested transcription model; undefined for none. */
export function requestedTranscription({ session }: RealtimeEvent): string | undefined {
  if (!isObject(session)) return undefined
  const { input_audio_transcription: old, audio } = session
  const input = isObject(audio) ? audio["input"] : undefined
  const transcription = (isObject(input) ? input["transcription"] : undefined) ?? old
  if (transcription === null || transcription === undefined) return undefined
  const model = isObject(transcription) ? transcription["model"] : undefined
  return typeof model === "string" ? model : ""
}

/** Transcription of the input is billed separately, so it is removed if its model has no price. */
function withTranscription(session: Json, model: string | undefined): Json {
  const withModel = (value: unknown) => (isObject(value) && model !== undefined ? { ...value, model } : null)
  const { input_audio_transcription: old, audio } = session
  const input = isObject(audio) && isObject(audio["input"]) ? audio["input"] : undefined
  return {
    ...session,
    ...("input_audio_transcription" in session && { input_audio_transcription: withModel(old) }),
    ...(input &&
      "transcription" in input && {
        audio: { ...(isObject(audio) && audio), input: { ...input, transcription: withModel(input["transcription"]) } },
      }),
  }
}

function responseError(response: unknown): EventError | undefined {
  if (response === undefined || response === null) return undefined
  if (!isObject(response)) return validationError("invalid_event", "response: must be an object.")
  const { tools, prompt, input } = response
  const items = objectsOf(input).map((item) => itemError(item, "response.input"))
  return toolError(tools, "response.tools") ?? promptError(prompt, "response.prompt") ?? items.find((one) => one)
}

function itemError(item: unknown, field: string): EventError | undefined {
  if (!isObject(item)) return validationError("invalid_event", `${field}: must be an object.`)
  const { type, content } = item
  if (!ITEMS.has(String(type)))
    return validationError("unsupported_item", `${field}.type: must be one of ${[...ITEMS].join(", ")}.`)
  const other = objectsOf(content).find((part) => !CONTENT.has(String(part["type"])))
  if (!other) return undefined
  return validationError(
    "unsupported_content",
    `${field}.content: must be text or audio. Other content has no price in a session.`,
  )
}

/** Tools that the provider runs would act for the gateway's account and bypass the tool rules of this key. */
function toolError(tools: unknown, field: string): EventError | undefined {
  if (objectsOf(tools).every(({ type }) => type === "function")) return undefined
  return validationError("unsupported_tool", `${field}: must be functions, which the client runs.`)
}

/** Prompts stored in the provider's account belong to the gateway. */
function promptError(prompt: unknown, field: string): EventError | undefined {
  return prompt == null ? undefined : validationError("unsupported_prompt", `${field}: send instructions instead.`)
}

function checked(event: RealtimeEvent, fault: EventError | undefined): EventCheck {
  return fault ? { error: fault } : { event }
}

function refuse(code: string, message: string): EventCheck {
  return { error: validationError(code, message) }
}

function validationError(code: string, message: string): EventError {
  return { type: "invalid_request_error", code, message }
}
