import { isArray, isObject, type Json } from "../../../support/text/json.ts"
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
  if (type === "conversation.item.create") return toCheck(event, itemError(event["item"], "item"))
  if (type === "response.create") return checkResponse(event)
  return rejectEvent("unknown_event", `type: the gateway does not forward events of the type ${type.slice(0, 100)}.`)
}

function checkSession(event: RealtimeEvent, { upstreamId, transcription }: UpstreamNames): EventCheck {
  const { session } = event
  if (!isObject(session)) return rejectEvent("invalid_event", "session: must be an object.")
  const { type, tools, prompt, tracing: _, ...fields } = session
  if (type !== undefined && type !== "realtime") {
    return rejectEvent(
      "unsupported_session",
      'session.type: must be "realtime". Use /audio/transcriptions to transcribe.',
    )
  }
  const fault = toolError(tools, "session.tools") ?? promptError(prompt, "session.prompt") ?? inputError(fields)
  if (fault) return { error: fault }
  const ignoresTranscription = transcription === undefined && requestedTranscription(event) !== undefined
  const passed = {
    ...(type !== undefined && { type }),
    ...withTranscription(fields, transcription),
    ...(tools !== undefined && { tools }),
    ...("model" in fields && { model: upstreamId }),
  }
  return { event: { ...event, session: passed }, ...(ignoresTranscription && { notice: NO_TRANSCRIPTION }) }
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

/** Settings in another shape could be read by a provider, but not by the gateway. */
function inputError({ audio, input_audio_transcription: old }: Json): EventError | undefined {
  const input = isObject(audio) ? audio["input"] : audio
  const transcription = isObject(input) ? input["transcription"] : undefined
  const invalid = [
    ["session.audio", audio],
    ["session.audio.input", input],
    ["session.audio.input.transcription", transcription],
    ["session.input_audio_transcription", old],
  ].find(([, value]) => value != null && !isObject(value))
  return invalid && validationError("invalid_event", `${String(invalid[0])}: must be an object.`)
}

/** A response uses the model of its session. */
function checkResponse(event: RealtimeEvent): EventCheck {
  const { response } = event
  if (response === undefined || response === null) return { event }
  if (!isObject(response)) return rejectEvent("invalid_event", "response: must be an object.")
  const { model: _, ...settings } = response
  return toCheck({ ...event, response: settings }, responseError(settings))
}

function responseError({ tools, prompt, input }: Json): EventError | undefined {
  const fault = toolError(tools, "response.tools") ?? promptError(prompt, "response.prompt")
  if (fault || input == null) return fault
  if (!isArray(input)) return validationError("invalid_event", "response.input: must be an array.")
  return input.map((item) => itemError(item, "response.input")).find((one) => one)
}

function itemError(item: unknown, field: string): EventError | undefined {
  if (!isObject(item)) return validationError("invalid_event", `${field}: must be an object.`)
  const { type, content, output } = item
  if (typeof type !== "string" || !ITEMS.has(type))
    return validationError("unsupported_item", `${field}.type: must be one of ${[...ITEMS].join(", ")}.`)
  if (output != null && typeof output !== "string")
    return validationError("invalid_event", `${field}.output: must be a string.`)
  if (content == null) return undefined
  if (isArray(content) && content.every(isReadable)) return undefined
  return validationError(
    "unsupported_content",
    `${field}.content: must be a list of text and audio. Other content has no price in a session.`,
  )
}

function isReadable(part: unknown): boolean {
  return isObject(part) && typeof part["type"] === "string" && CONTENT.has(part["type"])
}

/** Tools that the provider runs would act for the gateway's account and bypass the tool rules of this key. */
function toolError(tools: unknown, field: string): EventError | undefined {
  if (tools == null) return undefined
  if (isArray(tools) && tools.every((tool) => isObject(tool) && tool["type"] === "function")) return undefined
  return validationError("unsupported_tool", `${field}: must be functions, which the client runs.`)
}

/** Prompts stored in the provider's account belong to the gateway. */
function promptError(prompt: unknown, field: string): EventError | undefined {
  return prompt == null ? undefined : validationError("unsupported_prompt", `${field}: send instructions instead.`)
}

function toCheck(event: RealtimeEvent, fault: EventError | undefined): EventCheck {
  return fault ? { error: fault } : { event }
}

function rejectEvent(code: string, message: string): EventCheck {
  return { error: validationError(code, message) }
}

function validationError(code: string, message: string): EventError {
  return { type: "invalid_request_error", code, message }
}
