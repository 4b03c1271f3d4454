import { type CallDelta, appendCallDelta, type PartialCall, readCallDelta, routeCall } from "./call-deltas.ts"
import { callsIn, withoutMessage, flattenContent, growthOf } from "./normalize/provider-spellings.ts"
import { newMeter } from "./meter.ts"
import { type ProviderError } from "./provider-error.ts"
import { isArray, isInteger, isObject, type Json, listOf } from "../../support/text/json.ts"
import type { ResponseReader } from "../readers/reader.ts"
import { readItem } from "../sse/read-item.ts"
import type { StreamItem } from "../sse/stream-item.ts"

type Choice = Json & { index: number; message: Json; finish_reason: string | null }
/** A choice merged so far, with the state that assigns deltas to its calls. */
export type PartialChoice = { choice: Choice; calls: PartialCall[]; withDeltas: Set<number> }

/** A stream as a document, for a provider that streams without `stream: true`. */
export function toResult(
  items: readonly StreamItem[],
  reader: ResponseReader,
): { result: Json | undefined; error: ProviderError | null } {
  const meter = newMeter()
  let head: Json = {}
  let usage: unknown
  const choices = new Map<number, PartialChoice>()
  for (const item of items) {
    const chunk = readItem(item, meter, reader)
    if (chunk === "done") break
    // The content of a malformed event is lost.
    if (chunk === "malformed") return { result: undefined, error: meter.error }
    if (chunk === "empty" || chunk === "comment") continue
    const { choices: text, usage: usageFields, object: _, ...rest } = chunk
    head = { ...rest, ...head }
    if (isObject(usageFields)) usage = usageFields
    if (isArray(text)) for (const choice of text) if (isObject(choice)) mergeChoice(choices, choice)
  }
  if (meter.error) return { result: undefined, error: meter.error }
  // Without a finish reason the stream was cut: a partial response is not returned.
  if (meter.finishReason === null && !meter.done) return { result: undefined, error: null }
  const ordered = [...choices.values()].map(({ choice }) => choice).sort((a, b) => a.index - b.index)
  return { result: { ...head, choices: ordered, ...(usage !== undefined && { usage }) }, error: null }
}

/**
 * Merges a choice of a chunk into the accumulated choices. Returns the call index for each of its call deltas, -1 for
 * an invalid delta.
 */
export function mergeChoice(choices: Map<number, PartialChoice>, added: Json): number[] {
  const { index: position, delta: _, ...reported } = withoutMessage(added)
  const { finish_reason: finishReason, logprobs, ...rest } = reported
  const index = isInteger(position) ? position : 0
  const growing = choices.get(index) ?? newChoice(index)
  choices.set(index, growing)
  const { choice } = growing
  if (typeof finishReason === "string") choice.finish_reason = finishReason
  for (const [key, value] of Object.entries(rest)) if (value !== null) choice[key] = value
  if (isObject(logprobs)) choice["logprobs"] = mergeLogprobs(choice["logprobs"], logprobs)
  const growth = growthOf(added, index, growing.withDeltas)
  return growth ? mergeDelta(growing, flattenContent(growth)) : []
}

function newChoice(index: number): PartialChoice {
  const choice = { index, message: { role: "assistant", content: null }, finish_reason: null }
  return { choice, calls: [], withDeltas: new Set() }
}

function mergeDelta(growing: PartialChoice, delta: Json): number[] {
  const { message } = growing.choice
  let places: number[] = []
  for (const [key, value] of Object.entries(delta)) {
    if (key === "role" || value === null) continue
    const before = growing.calls.length
    if (key === "tool_calls") places = callsIn(delta).map((piece) => mergeCall(growing, piece, before))
    else if (key === "function_call" && isObject(value)) message[key] = mergeFunction(message[key], value)
    else if (typeof value === "string") message[key] = (typeof message[key] === "string" ? message[key] : "") + value
    else if (isArray(value)) message[key] = append(message[key], value)
    else message[key] = value
  }
  return places
}

/** Appends in place: a copy for each chunk would make long streams quadratic. */
function append(list: unknown, further: readonly unknown[]): unknown[] {
  if (!isArray(list)) return [...further]
  for (const one of further) list.push(one)
  return list
}

/** Concatenates the token lists of consecutive chunks. */
function mergeLogprobs(previous: unknown, text: Json): Json {
  const merged: Json = isObject(previous) ? { ...previous } : {}
  for (const [key, value] of Object.entries(text)) {
    if (isArray(value)) merged[key] = append(merged[key], value)
    else merged[key] ??= value
  }
  return merged
}

/** The deprecated form of a call, in pieces. */
function mergeFunction(previous: unknown, piece: Json): Json {
  const { grown } = appendCallDelta(
    { index: 0, upstreamId: null, ...namesOf(previous) },
    readCallDelta({ index: 0, function: piece }),
  )
  return { name: grown.name, arguments: grown.arguments }
}

function namesOf(fn: unknown): { name: string; arguments: string } {
  const { name, arguments: encoded } = readCallDelta({ function: fn })
  return { name: name ?? "", arguments: encoded }
}

function mergeCall({ choice: { message }, calls }: PartialChoice, piece: unknown, before: number): number {
  if (!isObject(piece)) return -1
  const delta = readCallDelta(piece)
  const found = routeCall(calls, delta, before)
  const at = found === -1 ? calls.length : found
  const { grown } = appendCallDelta(calls[at] ?? newCall(delta), delta)
  calls[at] = grown
  const reported = [...listOf(message["tool_calls"])]
  reported[at] = toCall(reported[at], piece, grown)
  message["tool_calls"] = reported
  return at
}

function newCall({ index, id }: CallDelta): PartialCall {
  return { index, upstreamId: id, name: "", arguments: "" }
}

/** Keeps unknown fields of a call: providers may verify them. */
function toCall(previous: unknown, reported: Json, grown: PartialCall): Json {
  const { index: _, function: piece, ...rest } = reported
  const before = isObject(previous) ? previous : { id: "", type: "function", function: {} }
  const further = Object.fromEntries(Object.entries(rest).filter(([, value]) => Boolean(value)))
  const fn = { ...(isObject(before["function"]) && before["function"]), ...(isObject(piece) && piece) }
  return {
    ...before,
    ...further,
    id: grown.upstreamId ?? "",
    function: { ...fn, name: grown.name, arguments: grown.arguments },
  }
}
