import { type CallDelta, appendCallDelta, isCompleteObject, routeCall } from "../../chat/call-deltas.ts"
import { type CallDraft, itemAt, type ItemStatus } from "./drafts.ts"
import { inputIn } from "../tool-names.ts"
import { onLateReasoning } from "./on-reasoning.ts"
import { addItem, closeOpen, emit, replaceCall, type Turn } from "./turn.ts"

export function takeCall(turn: Turn, delta: CallDelta): void {
  const { state } = turn
  const found = routeCall(state.calls, delta)
  const openCall = state.calls[found]
  if (openCall && isClosed(openCall)) return
  if (!openCall) closeComplete(turn)
  const at = openCall ? found : state.calls.length
  const { grown, added } = appendCallDelta(openCall ?? newCall(turn, delta), delta)
  state.calls = openCall ? state.calls.with(at, grown) : [...state.calls, grown]
  if (grown.position !== null) emitArguments(turn, grown, grown.position, added)
  else if (grown.name !== "" && grown.arguments !== "") emitCall(turn, at)
}

/** Clients expect one call after the other. A call with incomplete arguments stays open: some providers interleave. */
function closeComplete(turn: Turn): void {
  turn.state.calls.forEach(({ name, arguments: text }, at) => {
    if (name !== "") emitCall(turn, at)
    if (isCompleteObject(text)) closeCall(turn, at, "completed")
  })
}

function isClosed({ status }: CallDraft): boolean {
  return status !== "in_progress"
}

export function isOpenCall({ state }: Turn, at: number): boolean {
  const call = state.calls[at]
  return call !== undefined && !isClosed(call)
}

function newCall({ state }: Turn, { index, id }: CallDelta): CallDraft {
  return {
    type: "function_call",
    id: `fc_${state.facts.newId()}`,
    status: "in_progress",
    index,
    upstreamId: id,
    callId: "",
    name: "",
    arguments: "",
    position: null,
  }
}

/** The provider's id, or a new one if it is missing or used by another call. */
function toCallId({ state }: Turn, { upstreamId }: CallDraft): string {
  const isTaken = state.calls.some((call) => call.callId === upstreamId)
  return upstreamId === null || isTaken ? `call_${state.facts.newId()}` : upstreamId
}

/**
 * The item event has the name, so a call is buffered until its name is complete: until its arguments, another call or
 * the end of the stream.
 */
export function emitCall(turn: Turn, at: number): void {
  const call = turn.state.calls[at]
  if (!call || call.position !== null) return
  closeOpen(turn)
  onLateReasoning(turn)
  const result = { ...call, callId: toCallId(turn, call), position: turn.state.items.length }
  replaceCall(turn, at, { ...result, arguments: "" })
  addItem(turn, { type: "function_call", call: at })
  replaceCall(turn, at, result)
  emitArguments(turn, result, result.position, result.arguments)
}

function emitArguments(turn: Turn, call: CallDraft, position: number, delta: string): void {
  if (delta === "" || turn.state.names.get(call.name)?.kind === "custom") return
  emit(turn, "response.function_call_arguments.delta", { item_id: call.id, output_index: position, delta })
}

/** A call without arguments gets an empty object; truncated arguments stay unchanged. */
const NO_ARGUMENTS = "{}"

export function closeCall(turn: Turn, at: number, status: ItemStatus): void {
  const call = turn.state.calls[at]
  if (!call || call.position === null || isClosed(call)) return
  const scope = { item_id: call.id, output_index: call.position }
  const { name } = call
  const toolName = turn.state.names.get(name)
  let callArguments = call.arguments
  if (toolName?.kind === "custom") {
    const input = inputIn(callArguments)
    emit(turn, "response.custom_tool_call_input.delta", { ...scope, delta: input })
    emit(turn, "response.custom_tool_call_input.done", { ...scope, input })
  } else {
    if (callArguments === "" && status === "completed") {
      callArguments = NO_ARGUMENTS
      emitArguments(turn, call, call.position, callArguments)
    }
    emit(turn, "response.function_call_arguments.done", {
      ...scope,
      name: toolName?.name ?? name,
      arguments: callArguments,
    })
  }
  replaceCall(turn, at, { ...call, status, arguments: callArguments })
  const item = itemAt(turn.state, call.position)
  emit(turn, "response.output_item.done", { output_index: call.position, item })
}
