import type { Json } from "../../../support/text/json.ts"
import type { Progress, ResponseFacts } from "../response.ts"
import type { ReasoningDetail } from "../../reasoning-detail.ts"
import type { NamedTool } from "../tool-names.ts"
import type { ResponsesEvent, ResponsesRequest } from "../schemas.ts"
import {
  type CallDraft,
  type Draft,
  itemAt,
  type ItemStatus,
  type MessageDraft,
  type ReasoningDraft,
  toList,
  toPart,
} from "./drafts.ts"

export type EventState = {
  readonly request: ResponsesRequest
  readonly facts: ResponseFacts
  readonly phase: "new" | "under way" | "over"
  readonly sequence: number
  readonly items: readonly Draft[]
  readonly calls: readonly CallDraft[]
  /** Chat fields of calls that the Responses API does not have, by index in `calls`. */
  readonly callFields: ReadonlyMap<number, Json>
  /** Tools by their chat name that are more than plain functions in the Responses format. */
  readonly names: ReadonlyMap<string, NamedTool>
  /** The open reasoning or message. Calls stay open until another call follows complete arguments, or to the end. */
  readonly open: number | null
  /** Reasoning that arrived inside a message. The message is not split. */
  readonly late: readonly ReasoningDetail[]
  readonly finishReason: string | null
  readonly failure: Progress["failure"]
  readonly usage: unknown
  readonly serviceTier: string | null
  readonly metadata: Json
}

/** One step of the state machine: a copy of the state to change, and the events that the step emits. */
export type Turn = { state: { -readonly [Key in keyof EventState]: EventState[Key] }; events: ResponsesEvent[] }

export function newTurn(state: EventState): Turn {
  return { state: { ...state }, events: [] }
}

export function emit({ state, events }: Turn, type: string, fields: Json): void {
  events.push({ type, sequence_number: state.sequence, ...fields })
  state.sequence += 1
}

/** Appends an item to the output, emits the event and returns its index. */
export function addItem(turn: Turn, draft: Draft): number {
  const at = turn.state.items.length
  turn.state.items = [...turn.state.items, draft]
  emit(turn, "response.output_item.added", { output_index: at, item: itemAt(turn.state, at) })
  return at
}

export function replaceItem({ state }: Turn, at: number, draft: Draft): void {
  state.items = state.items.with(at, draft)
}

export function replaceCall({ state }: Turn, at: number, call: CallDraft): void {
  state.calls = state.calls.with(at, call)
}

/** Ends the open reasoning or message. */
export function closeOpen(turn: Turn, status: ItemStatus = "completed"): void {
  const { state } = turn
  const at = state.open
  const draft = at === null ? undefined : state.items[at]
  if (at === null || !draft) return
  if (draft.type === "message") closePart(turn, at, draft)
  if (draft.type === "reasoning") closeBlock(turn, at, draft)
  if (draft.type !== "function_call") replaceItem(turn, at, { ...draft, status })
  emit(turn, "response.output_item.done", { output_index: at, item: itemAt(state, at) })
  state.open = null
}

export type PartPosition = { item_id: string; output_index: number; content_index: number }

export function partPositionOf(draft: MessageDraft, at: number): PartPosition {
  return { item_id: draft.id, output_index: at, content_index: draft.parts.length - 1 }
}

/** Ends the open part of a message. */
export function closePart(turn: Turn, at: number, draft: MessageDraft): void {
  const part = draft.parts.at(-1)
  if (!part) return
  const scope = partPositionOf(draft, at)
  if (part.type === "refusal") emit(turn, "response.refusal.done", { ...scope, refusal: part.text })
  else emit(turn, "response.output_text.done", { ...scope, text: part.text, logprobs: toList(part.logprobs) })
  emit(turn, "response.content_part.done", { ...scope, part: toPart(part) })
}

/** Ends the open summary or text. */
export function closeBlock(turn: Turn, at: number, { id, summary, content }: ReasoningDraft): void {
  const scope = { item_id: id, output_index: at }
  const [block] = content
  const last = summary.at(-1)
  if (block) {
    const part = { type: "reasoning_text", text: block.text }
    emit(turn, "response.reasoning_text.done", { ...scope, content_index: 0, text: block.text })
    emit(turn, "response.content_part.done", { ...scope, content_index: 0, part })
  } else if (last) {
    const here = { ...scope, summary_index: summary.length - 1 }
    const part = { type: "summary_text", text: last.text }
    emit(turn, "response.reasoning_summary_text.done", { ...here, text: last.text })
    emit(turn, "response.reasoning_summary_part.done", { ...here, part })
  }
}
