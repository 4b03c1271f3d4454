import { isObject, newReading, type ProviderError } from "../chat/reading.ts"
import { dataOf, FrameSplitter } from "./frames.ts"
import type { Wire } from "../wires/wire.ts"
import { readFrame } from "./lane.ts"

type Json = Record<string, unknown>
export type Choice = { index: number; message: Json; finish_reason: string | null; logprobs?: unknown }

/** A stream told as a whole answer, for a provider that streams although it was asked not to. */
export function toResult(bytes: Uint8Array, wire: Wire): { result: Json | undefined; error: ProviderError | null } {
  const reading = newReading()
  const splitter = new FrameSplitter()
  const frames = splitter.push(bytes)
  const last = splitter.finish()
  let head: Json = {}
  let usage: unknown
  const choices = new Map<number, Choice>()
  for (const frame of last && dataOf(last) ? [...frames, last] : frames) {
    const chunk = readFrame(frame, reading, wire)
    if (typeof chunk === "string") continue
    const { choices: said, usage: counted, object: _, ...rest } = chunk
    head = { ...rest, ...head }
    if (isObject(counted)) usage = counted
    if (Array.isArray(said)) for (const choice of said as unknown[]) if (isObject(choice)) mergeChoice(choices, choice)
  }
  if (reading.error) return { result: undefined, error: reading.error }
  // Without a finish it was cut: half an answer is none.
  if (reading.finishReason === null && !reading.done) return { result: undefined, error: null }
  const ordered = [...choices.values()].sort((a, b) => a.index - b.index)
  return { result: { ...head, choices: ordered, ...(usage !== undefined && { usage }) }, error: null }
}

/** Takes a choice of a chunk into the choices as far as they have grown. */
export function mergeChoice(choices: Map<number, Choice>, said: Json): void {
  const index = Number.isSafeInteger(said["index"]) ? (said["index"] as number) : 0
  const choice = choices.get(index) ?? { index, message: { role: "assistant", content: null }, finish_reason: null }
  choices.set(index, choice)
  if (typeof said["finish_reason"] === "string") choice.finish_reason = said["finish_reason"]
  if (!isObject(said["delta"])) return
  for (const [key, value] of Object.entries(said["delta"])) {
    const { message } = choice
    if (key === "role" || value === null) continue
    if (key === "tool_calls" && Array.isArray(value)) message[key] = mergeCalls(message[key], value)
    else if (typeof value === "string") message[key] = (typeof message[key] === "string" ? message[key] : "") + value
    else if (Array.isArray(value))
      message[key] = [...(Array.isArray(message[key]) ? (message[key] as unknown[]) : []), ...value]
    else message[key] = value
  }
}

/** An index is the provider's word: a far one would make an array of holes. */
const MAX_CALLS = 1_024

function mergeCalls(known: unknown, said: unknown[]): Json[] {
  const calls = Array.isArray(known) ? (known as Json[]) : []
  said.forEach((piece, position) => {
    if (!isObject(piece)) return
    const { index, function: called, ...rest } = piece
    const at = Number.isSafeInteger(index) ? (index as number) : position
    if (at < 0 || at >= MAX_CALLS) return
    const call = (calls[at] ??= { id: "", type: "function", function: { name: "", arguments: "" } })
    for (const [key, value] of Object.entries(rest)) if (value) call[key] = value
    const merged = call["function"] as { name: string; arguments: string }
    if (isObject(called)) {
      if (typeof called["name"] === "string") merged.name += called["name"]
      if (typeof called["arguments"] === "string") merged.arguments += called["arguments"]
    }
  })
  return calls
}
