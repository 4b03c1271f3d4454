import { isInteger } from "../../../support/text/json.ts"
import { fieldsOf, toFieldsDetail } from "../../responses/call-fields.ts"
import { type CallDelta, appendCallDelta, readCallDelta, routeCall } from "../../chat/call-deltas.ts"
import { textOf } from "../../responses/reasoning-details.ts"
import type { ReasoningDetail } from "../../reasoning-detail.ts"
import { encodeBlob } from "../../responses/opaque-blob.ts"
import { isNative, toServerCall } from "../thinking.ts"
import type { CallDraft, ThinkingDraft } from "./drafts.ts"
import { addDraft, replaceDraft, type Turn } from "./turn.ts"

/** Adds the content of a chunk to the drafts. */

export function onText(turn: Turn, text: string): void {
  if (text === "") return
  const { drafts } = turn.state
  const last = drafts.at(-1)
  if (last?.kind === "text") replaceDraft(turn, drafts.length - 1, { ...last, pending: last.pending + text })
  else addDraft(turn, { kind: "text", pending: text })
}

/** Takes one detail or a fragment of one. Details without a matching block type go into an opaque block. */
export function onDetail(turn: Turn, detail: ReasoningDetail): void {
  const { type } = detail
  if (type === "reasoning.text" || type === "reasoning.summary") return onThinking(turn, type, detail)
  const call = toServerCall(detail)
  if (call) return addDraft(turn, { kind: "server tool", call })
  const data = type === "reasoning.encrypted" ? stringOf(detail, "data") : null
  if (type === "reasoning.encrypted" && data === null) return
  addDraft(turn, { kind: "sealed", data: data !== null && isNative(detail) ? data : encodeBlob(detail) })
}

function onThinking(turn: Turn, type: ThinkingDraft["type"], detail: ReasoningDetail): void {
  const text = textOf(detail)
  const signature = stringOf(detail, "signature")
  if (text === "" && signature === null) return
  const { drafts } = turn.state
  const last = drafts.at(-1)
  const index = isInteger(detail["index"]) ? detail["index"] : null
  const content = { signature, format: stringOf(detail, "format"), id: stringOf(detail, "id"), index }
  if (last?.kind !== "thinking" || !fits(last, { ...content, type, text })) {
    return addDraft(turn, { kind: "thinking", type, pending: text, ...content })
  }
  replaceDraft(turn, drafts.length - 1, {
    ...last,
    pending: last.pending + text,
    signature: signature ?? last.signature,
    format: content.format ?? last.format,
    id: content.id ?? last.id,
    index: index ?? last.index,
  })
}

type Thought = Pick<ThinkingDraft, "type" | "signature" | "format" | "id" | "index"> & { text: string }

function fits(draft: ThinkingDraft, content: Thought): boolean {
  const differs = (key: "format" | "id" | "index") =>
    content[key] !== null && draft[key] !== null && content[key] !== draft[key]
  if (content.type !== draft.type || differs("format") || differs("id") || differs("index")) return false
  // A signed block is complete.
  return draft.signature === null || (content.text === "" && content.signature === draft.signature)
}

export function takeCall(turn: Turn, result: unknown): void {
  const delta = readCallDelta(result)
  const calls = turn.state.drafts.filter((draft) => draft.kind === "call")
  const found = calls[routeCall(calls, delta)]
  const { grown, added } = appendCallDelta(found ?? newCall(delta), delta)
  const draft = { ...grown, pending: grown.pending + added }
  if (found) return replaceDraft(turn, turn.state.drafts.indexOf(found), draft)
  const fields = fieldsOf(result)
  if (!fields) return addDraft(turn, draft)
  // Fields of the call that its provider verifies go into a block before it: clients remove such blocks from the end of a message.
  const callId = toCallId(turn, draft)
  addDraft(turn, { kind: "sealed", data: encodeBlob(toFieldsDetail(callId, fields)) })
  addDraft(turn, { ...draft, callId })
}

/** The provider's id, or a new one if it is missing or used by another call. */
export function toCallId({ state }: Turn, { upstreamId }: CallDraft): string {
  const isTaken = state.drafts.some((draft) => draft.kind === "call" && draft.callId === upstreamId)
  return upstreamId === null || isTaken ? `toolu_${state.facts.newId()}` : upstreamId
}

function newCall({ index, id }: CallDelta): CallDraft {
  return { kind: "call", index, upstreamId: id, callId: "", name: "", arguments: "", pending: "" }
}

function stringOf(detail: ReasoningDetail, key: string): string | null {
  const value = detail[key]
  return typeof value === "string" && value !== "" ? value : null
}
