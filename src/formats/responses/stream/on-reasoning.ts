import { encodeBlob } from "../opaque-blob.ts"
import { GATEWAY_ID_PREFIX, textOf } from "../reasoning-details.ts"
import type { ReasoningDetail } from "../../reasoning-detail.ts"
import type { ReasoningDraft } from "./drafts.ts"
import { addItem, closeBlock, closeOpen, emit, replaceItem, type Turn } from "./turn.ts"

const KINDS = ["reasoning.text", "reasoning.summary", "reasoning.encrypted"]

/** Adds a detail, or a fragment of one, to its reasoning item. */
export function onDetail(turn: Turn, detail: ReasoningDetail): void {
  const { state } = turn
  if (isEmpty(detail)) return
  const open = state.open === null ? undefined : state.items[state.open]
  if (open?.type === "message") {
    state.late = [...state.late, detail]
    return
  }
  const fitting = open?.type === "reasoning" && fits(open, detail)
  if (!fitting) closeOpen(turn)
  if (!fitting && !canStand(turn, detail)) return addCarried(turn, detail)
  if (state.open === null) state.open = addItem(turn, newReasoning(stringOf(detail, "id") ?? newGatewayId(turn)))
  grow(turn, detail)
}

/** Adds the complete detail as a separate item, which the client sends back. */
export function addCarried(turn: Turn, detail: ReasoningDetail): void {
  closeOpen(turn)
  turn.state.open = addItem(turn, { ...newReasoning(newGatewayId(turn)), encrypted: encodeBlob(detail) })
  closeOpen(turn)
}

/** Adds reasoning that was buffered until the end of a message. */
export function onLateReasoning(turn: Turn): void {
  const { late } = turn.state
  if (late.length === 0) return
  turn.state.late = []
  for (const detail of late) onDetail(turn, detail)
  closeOpen(turn)
}

function isEmpty(detail: ReasoningDetail): boolean {
  if (detail.type === "reasoning.encrypted") return stringOf(detail, "data") === undefined
  return KINDS.includes(detail.type) && textOf(detail) === "" && stringOf(detail, "signature") === undefined
}

/** Whether a detail continues an item. An item has summaries, texts and encrypted content, in this order. */
function fits(draft: ReasoningDraft, detail: ReasoningDetail): boolean {
  const id = stringOf(detail, "id")
  const format = stringOf(detail, "format")
  if (id !== undefined && id !== draft.id) return false
  if (format !== undefined && draft.format !== null && format !== draft.format) return false
  if (draft.encrypted !== null || !KINDS.includes(detail.type)) return false
  if (detail.type === "reasoning.encrypted") return true
  if (detail.type === "reasoning.summary") return draft.content.length === 0 && draft.signature === null
  const [block] = draft.content
  if (block && isOther(block.index, detail["index"])) return false
  // A signed item is complete.
  const signature = stringOf(detail, "signature") ?? draft.signature
  return draft.signature === null || (textOf(detail) === "" && signature === draft.signature)
}

function isOther(index: unknown, other: unknown): boolean {
  return typeof index === "number" && typeof other === "number" && index !== other
}

/** Whether a detail can become a separate item: of a known type, with an id that no other item has. */
function canStand({ state }: Turn, detail: ReasoningDetail): boolean {
  const id = stringOf(detail, "id")
  const isTaken = state.items.some((draft) => draft.type !== "function_call" && draft.id === id)
  return KINDS.includes(detail.type) && !isTaken
}

function newReasoning(id: string): ReasoningDraft {
  const nothing = { summary: [], content: [], encrypted: null, signature: null, format: null }
  return { type: "reasoning", id, status: "in_progress", ...nothing }
}

function newGatewayId({ state }: Turn): string {
  return `${GATEWAY_ID_PREFIX}${state.facts.newId()}`
}

function grow(turn: Turn, detail: ReasoningDetail): void {
  const at = turn.state.open
  const draft = at === null ? undefined : turn.state.items[at]
  if (at === null || draft?.type !== "reasoning") return
  const text = textOf(detail)
  const fields = {
    ...draft,
    format: stringOf(detail, "format") ?? draft.format,
    signature: stringOf(detail, "signature") ?? draft.signature,
    encrypted: detail.type === "reasoning.encrypted" ? (stringOf(detail, "data") ?? null) : draft.encrypted,
  }
  replaceItem(turn, at, fields)
  if (text === "") return
  const piece = { at, index: detail["index"], text }
  if (detail.type === "reasoning.summary") appendSummary(turn, fields, piece)
  else appendContent(turn, fields, piece)
}

/** Text for the item at `at`, in the block with the provider's `index`. */
type Piece = { at: number; index: unknown; text: string }

function appendSummary(turn: Turn, draft: ReasoningDraft, { at, index, text }: Piece): void {
  const last = draft.summary.at(-1)
  const continues = last !== undefined && !isOther(last.index, index)
  if (!continues) closeBlock(turn, at, draft)
  const blocks = continues ? draft.summary.slice(0, -1) : draft.summary
  const scope = { item_id: draft.id, output_index: at, summary_index: blocks.length }
  if (!continues) {
    emit(turn, "response.reasoning_summary_part.added", { ...scope, part: { type: "summary_text", text: "" } })
  }
  emit(turn, "response.reasoning_summary_text.delta", { ...scope, delta: text })
  const extended = { index: index ?? last?.index, text: (continues ? last.text : "") + text }
  replaceItem(turn, at, { ...draft, summary: [...blocks, extended] })
}

function appendContent(turn: Turn, draft: ReasoningDraft, { at, index, text }: Piece): void {
  const [block] = draft.content
  const scope = { item_id: draft.id, output_index: at, content_index: 0 }
  if (!block) {
    closeBlock(turn, at, draft)
    emit(turn, "response.content_part.added", { ...scope, part: { type: "reasoning_text", text: "" } })
  }
  emit(turn, "response.reasoning_text.delta", { ...scope, delta: text })
  replaceItem(turn, at, { ...draft, content: [{ index: index ?? block?.index, text: (block?.text ?? "") + text }] })
}

function stringOf(detail: ReasoningDetail, key: string): string | undefined {
  const value = detail[key]
  return typeof value === "string" && value !== "" ? value : undefined
}
