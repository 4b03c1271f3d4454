import { isObject } from "../../chat/reading.ts"
import { type CallDraft, itemAt, type ItemStatus } from "./drafts.ts"
import { inputIn } from "../tool-names.ts"
import { takeLate } from "./take-reasoning.ts"
import { addItem, closeOpen, emit, replaceCall, type Turn } from "./turn.ts"

/** What a delta says of a call; empty strings say nothing. */
export type CallDelta = { index: number | null; id: string | null; name: string | null; arguments: string }

export function readCallDelta(delta: unknown): CallDelta {
  const call = isObject(delta) ? delta : {}
  const called = isObject(call["function"]) ? call["function"] : {}
  const said = (value: unknown) => (typeof value === "string" && value !== "" ? value : null)
  // Some providers send the arguments as the object they encode.
  const encoded = isObject(called["arguments"]) ? JSON.stringify(called["arguments"]) : called["arguments"]
  return {
    index: Number.isSafeInteger(call["index"]) ? (call["index"] as number) : null,
    id: said(call["id"]),
    name: said(called["name"]),
    arguments: said(encoded) ?? "",
  }
}

/**
 * Which call a delta continues; -1 for a new one. The index decides, unless the id belongs to another call or names
 * one that the index does not; a delta with neither goes on with the last call.
 */
function route(calls: readonly CallDraft[], delta: CallDelta): number {
  const byIndex = delta.index === null ? -1 : calls.findIndex((call) => call.index === delta.index)
  const byId = delta.id === null ? -1 : calls.findIndex((call) => call.upstreamId === delta.id)
  const indexed = calls[byIndex]
  if (indexed && byIndex === byId) return byIndex
  const agrees = indexed && (delta.id === null || indexed.upstreamId === null)
  const continued = delta.name === null ? (indexed ? byIndex : calls.length - 1) : -1
  const found = agrees ? byIndex : byId === -1 ? continued : byId
  const call = calls[found]
  return call && beginsAnother(call, delta) ? -1 : found
}

/** A second name, where the first call is whole already: some providers count every parallel call as number 0. */
function beginsAnother(call: CallDraft, delta: CallDelta): boolean {
  if (delta.name === null || call.name === "") return false
  return delta.name !== call.name || (delta.arguments !== "" && !isRepeat(call, delta) && isWhole(call.arguments))
}

/** Some providers send a finished call once more with the finish reason. */
function isRepeat(call: CallDraft, delta: CallDelta): boolean {
  return delta.arguments.startsWith("{") && delta.arguments === call.arguments && isWhole(call.arguments)
}

function isWhole(text: string): boolean {
  if (!text.startsWith("{") || !text.trimEnd().endsWith("}")) return false
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

export function takeCall(turn: Turn, delta: CallDelta): void {
  const { state } = turn
  const found = route(state.calls, delta)
  const at = found === -1 ? state.calls.length : found
  const known = state.calls[at]
  const call = known ?? newCall(turn, delta)
  const added = isRepeat(call, delta) ? "" : delta.arguments
  const grown = {
    ...call,
    upstreamId: call.upstreamId ?? delta.id,
    name: call.name || (delta.name ?? ""),
    arguments: call.arguments + added,
  }
  state.calls = known ? state.calls.with(at, grown) : [...state.calls, grown]
  if (grown.position !== null) tellArguments(turn, grown, grown.position, added)
  else if (grown.name !== "") tellCall(turn, at)
}

function newCall({ state }: Turn, delta: CallDelta): CallDraft {
  return {
    type: "function_call",
    id: `fc_${state.facts.newId()}`,
    status: "in_progress",
    index: delta.index,
    upstreamId: delta.id,
    callId: "",
    name: "",
    arguments: "",
    position: null,
  }
}

/** The provider's id, unless it gave none or gave it to another call too. */
function toCallId({ state }: Turn, { upstreamId }: CallDraft): string {
  const isTaken = state.calls.some((call) => call.callId === upstreamId)
  return upstreamId === null || isTaken ? `call_${state.facts.newId()}` : upstreamId
}

/** The item is told with its name, so a call without one waits. */
export function tellCall(turn: Turn, at: number): void {
  const call = turn.state.calls[at]
  if (!call || call.position !== null) return
  closeOpen(turn)
  takeLate(turn)
  const told = { ...call, callId: toCallId(turn, call), position: turn.state.items.length }
  replaceCall(turn, at, { ...told, arguments: "" })
  addItem(turn, { type: "function_call", call: at })
  replaceCall(turn, at, told)
  tellArguments(turn, told, told.position, told.arguments)
}

function tellArguments(turn: Turn, call: CallDraft, position: number, delta: string): void {
  if (delta === "" || turn.state.names.get(call.name)?.kind === "custom") return
  emit(turn, "response.function_call_arguments.delta", { item_id: call.id, output_index: position, delta })
}

export function closeCall(turn: Turn, at: number, status: ItemStatus): void {
  const call = turn.state.calls[at]
  if (!call || call.position === null) return
  const place = { item_id: call.id, output_index: call.position }
  const { name, arguments: whole } = call
  const named = turn.state.names.get(name)
  if (named?.kind === "custom") {
    const input = inputIn(whole)
    emit(turn, "response.custom_tool_call_input.delta", { ...place, delta: input })
    emit(turn, "response.custom_tool_call_input.done", { ...place, input })
  } else emit(turn, "response.function_call_arguments.done", { ...place, name: named?.name ?? name, arguments: whole })
  replaceCall(turn, at, { ...call, status })
  const item = itemAt(turn.state, call.position)
  emit(turn, "response.output_item.done", { output_index: call.position, item })
}
