/** A call of a tool in a response. `arguments`: JSON as the model wrote it. */
export type TranscriptToolCall = { key: string; id: string; name: string; arguments: string }

/** Text of a response, collected while it is read. */
export type Transcript = {
  content: string
  reasoning: string
  /** Absent if the model did not refuse. */
  refusal?: string
  /** Absent for none. */
  toolCalls?: TranscriptToolCall[]
}

export type TranscriptText = "content" | "reasoning" | "refusal"

/** UTF-16 units. Longer text is cut. */
export const MAX_TRANSCRIPT = 1_000_000
const MAX_TOOL_CALLS = 256
const MAX_NAME = 256

function lengthOf({ content, reasoning, refusal = "", toolCalls = [] }: Transcript): number {
  return toolCalls.reduce(
    (sum, call) => sum + call.arguments.length,
    content.length + reasoning.length + refusal.length,
  )
}

export function appendText(transcript: Transcript, kind: TranscriptText, text: string): void {
  const room = MAX_TRANSCRIPT - lengthOf(transcript)
  if (room > 0) transcript[kind] = (transcript[kind] ?? "") + text.slice(0, room)
}

/** Adds a part of a tool call. Parts of one call have the same key. */
export function appendToolCall(transcript: Transcript, key: string, part: Record<string, unknown>): void {
  const calls = (transcript.toolCalls ??= [])
  let call = calls.find((entry) => entry.key === key)
  if (!call) {
    if (calls.length >= MAX_TOOL_CALLS) return
    call = { key, id: "", name: "", arguments: "" }
    calls.push(call)
  }
  const { id, name, arguments: input } = part
  if (typeof id === "string" && call.id === "") call.id = id.slice(0, MAX_NAME)
  // A few providers send the name in fragments, all before the arguments; others repeat it.
  if (typeof name === "string" && call.arguments === "" && name !== call.name) {
    call.name = (call.name + name).slice(0, MAX_NAME)
  }
  if (typeof input !== "string" || (input.startsWith("{") && input === call.arguments)) return
  // Some send an empty object before the arguments.
  if (call.arguments === "{}" && input.startsWith("{")) call.arguments = ""
  call.arguments += input.slice(0, Math.max(0, MAX_TRANSCRIPT - lengthOf(transcript)))
}
