import { isObject, type Json, objectsOf } from "../../support/json.ts"
import type { EventError, RealtimeEvent } from "./events.ts"

/** What a client may send to the provider. Pure. */

/** `notice`: what was left out of the event. */
export type Checked = { event: RealtimeEvent; notice?: EventError } | { error: EventError }

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

/** The event as it may go on, with the provider's name of the model. */
export function checkEvent(event: RealtimeEvent, upstreamId: string): Checked {
  const { type } = event
  if (PASSED.has(type)) return { event }
  if (type === "session.update") return checkSession(event, upstreamId)
  if (type === "conversation.item.create") return checked(event, itemFault(event["item"], "item"))
  if (type === "response.create") return checked(event, responseFault(event["response"]))
  return refuse("unknown_event", `type: the gateway does not pass on events of the type ${type.slice(0, 100)}.`)
}

function checkSession(event: RealtimeEvent, upstreamId: string): Checked {
  const { session } = event
  if (!isObject(session)) return refuse("invalid_event", "session: must be an object.")
  const { type, tools, prompt, tracing: _, ...fields } = session
  if (type !== undefined && type !== "realtime") {
    return refuse("unsupported_session", 'session.type: must be "realtime". Use /audio/transcriptions to transcribe.')
  }
  const fault = toolFault(tools, "session.tools") ?? promptFault(prompt, "session.prompt")
  if (fault) return { error: fault }
  const { hasTranscription, ...parts } = withoutTranscription(fields)
  const passed = {
    ...(type !== undefined && { type }),
    ...parts.session,
    ...(tools !== undefined && { tools }),
    ...("model" in fields && { model: upstreamId }),
  }
  return {
    event: { ...event, session: passed },
    ...(hasTranscription && {
      notice: newFault(
        "transcription_unavailable",
        "session.audio.input.transcription: the gateway has no price for transcription in a session and left it out.",
      ),
    }),
  }
}

/** Transcription of the input is billed apart, by another model. */
function withoutTranscription(session: Json): { session: Json; hasTranscription: boolean } {
  const { input_audio_transcription: old, audio, ...rest } = session
  const input = isObject(audio) && isObject(audio["input"]) ? audio["input"] : undefined
  const current = input?.["transcription"]
  const passed = {
    ...rest,
    ...("input_audio_transcription" in session && { input_audio_transcription: null }),
    ...("audio" in session && {
      audio: isObject(audio) && current != null ? { ...audio, input: { ...input, transcription: null } } : audio,
    }),
  }
  return { session: passed, hasTranscription: old != null || current != null }
}

function responseFault(response: unknown): EventError | undefined {
  if (response === undefined || response === null) return undefined
  if (!isObject(response)) return newFault("invalid_event", "response: must be an object.")
  const { tools, prompt, input } = response
  const items = objectsOf(input).map((item) => itemFault(item, "response.input"))
  return toolFault(tools, "response.tools") ?? promptFault(prompt, "response.prompt") ?? items.find((one) => one)
}

function itemFault(item: unknown, field: string): EventError | undefined {
  if (!isObject(item)) return newFault("invalid_event", `${field}: must be an object.`)
  const { type, content } = item
  if (!ITEMS.has(String(type)))
    return newFault("unsupported_item", `${field}.type: must be one of ${[...ITEMS].join(", ")}.`)
  const other = objectsOf(content).find((part) => !CONTENT.has(String(part["type"])))
  if (!other) return undefined
  return newFault(
    "unsupported_content",
    `${field}.content: must be text and audio. Other content has no price in a session.`,
  )
}

/** Tools that the provider runs would act for the gateway's account, past the rules for tools of this key. */
function toolFault(tools: unknown, field: string): EventError | undefined {
  if (objectsOf(tools).every(({ type }) => type === "function")) return undefined
  return newFault("unsupported_tool", `${field}: must be functions, which the client runs.`)
}

/** Prompts that are stored in the provider's account belong to the gateway. */
function promptFault(prompt: unknown, field: string): EventError | undefined {
  return prompt == null ? undefined : newFault("unsupported_prompt", `${field}: send instructions instead.`)
}

function checked(event: RealtimeEvent, fault: EventError | undefined): Checked {
  return fault ? { error: fault } : { event }
}

function refuse(code: string, message: string): Checked {
  return { error: newFault(code, message) }
}

function newFault(code: string, message: string): EventError {
  return { type: "invalid_request_error", code, message }
}
