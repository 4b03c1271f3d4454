import type { Json } from "../../../support/text/json.ts"
import { isCompleteObject } from "../../chat/call-deltas.ts"
import { encodeBlob } from "../../responses/opaque-blob.ts"
import { isNative, resultTypeOf } from "../thinking.ts"
import type { Draft, ThinkingDraft } from "./drafts.ts"
import { toCallId } from "./on-delta.ts"
import { emit, replaceDraft, type Turn } from "./turn.ts"

/**
 * Emits ready blocks one at a time: each starts when the one before it has stopped. Deltas of a call may arrive between
 * those of others, so a call stops when its arguments are complete. At the end of the response all blocks stop.
 */
export function emitNext(turn: Turn, isEnd: boolean): void {
  const { state } = turn
  for (;;) {
    const draft = state.drafts[state.head]
    const isLast = state.head === state.drafts.length - 1
    if (!draft || (!isEnd && !isNamed(draft, isLast))) return
    if (!state.isBegun) begin(turn, draft)
    emitPending(turn)
    if (!isEnd && (isLast || !isComplete(draft))) return
    stop(turn, draft)
  }
}

/**
 * A block starts with its name, which may arrive in fragments, all before the arguments and before other blocks.
 */
function isNamed(draft: Draft, isLast: boolean): boolean {
  return draft.kind !== "call" || (draft.name !== "" && (draft.arguments !== "" || !isLast))
}

function isComplete(draft: Draft): boolean {
  return draft.kind !== "call" || isCompleteObject(draft.arguments)
}

function begin(turn: Turn, draft: Draft): void {
  turn.state.isBegun = true
  emit(turn, "content_block_start", { index: turn.state.index, content_block: toBlock(turn, draft) })
}

function toBlock(turn: Turn, draft: Draft): Json {
  switch (draft.kind) {
    case "text":
      return { type: "text", text: "" }
    case "thinking":
      return { type: "thinking", thinking: "", signature: "" }
    case "sealed":
      return { type: "redacted_thinking", data: draft.data }
    case "server tool":
      return { type: "server_tool_use", id: draft.call.id, name: draft.call.name, input: {} }
    case "call": {
      const callId = draft.callId || toCallId(turn, draft)
      replaceDraft(turn, turn.state.head, { ...draft, callId })
      const name = turn.state.facts.toolNames?.get(draft.name) ?? draft.name
      return { type: "tool_use", id: callId, name, input: {} }
    }
  }
}

function emitPending(turn: Turn): void {
  const { head, drafts } = turn.state
  const draft = drafts[head]
  if (!draft || !("pending" in draft) || draft.pending === "") return
  const { pending } = draft
  replaceDraft(turn, head, { ...draft, pending: "" })
  switch (draft.kind) {
    case "text":
      return emitDelta(turn, { type: "text_delta", text: pending })
    case "thinking":
      return emitDelta(turn, { type: "thinking_delta", thinking: pending })
    case "call":
      return emitDelta(turn, { type: "input_json_delta", partial_json: pending })
  }
}

function emitDelta(turn: Turn, delta: Json): void {
  emit(turn, "content_block_delta", { index: turn.state.index, delta })
}

function stop(turn: Turn, draft: Draft): void {
  const { state } = turn
  // Clients accept one signature per block, so it is emitted when it is complete.
  const signature = draft.kind === "thinking" ? toSignature(draft) : ""
  if (signature !== "") emitDelta(turn, { type: "signature_delta", signature })
  if (draft.kind === "server tool")
    emitDelta(turn, { type: "input_json_delta", partial_json: inputOf(draft.call.input) })
  endBlock(turn)
  if (draft.kind === "server tool" && draft.call.result !== null) {
    const { id, name, result } = draft.call
    const block = { type: resultTypeOf(name), tool_use_id: id, content: result }
    emit(turn, "content_block_start", { index: state.index, content_block: block })
    endBlock(turn)
  }
  state.head += 1
  state.isBegun = false
}

function endBlock(turn: Turn): void {
  emit(turn, "content_block_stop", { index: turn.state.index })
  turn.state.index += 1
}

function inputOf(input: Json): string {
  return JSON.stringify(input)
}

function toSignature({ type, signature, format, id }: ThinkingDraft): string {
  const detail = { type, format, id, signature }
  return isNative(detail) ? (signature ?? "") : encodeBlob(detail)
}
