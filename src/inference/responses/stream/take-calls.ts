import { type CallDelta, isRepeat, routeCall } from "../../chat/call-deltas.ts"
import { type CallDraft, itemAt, type ItemStatus } from "./drafts.ts"
import { inputIn } from "../tool-names.ts"
import { takeLate } from "./take-reasoning.ts"
import { addItem, closeOpen, emit, replaceCall, type Turn } from "./turn.ts"

export function takeCall(turn: Turn, delta: CallDelta): void {
  const { state } = turn
  const found = routeCall(state.calls, delta)
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
