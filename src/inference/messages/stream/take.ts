import { type ReasoningDetail, textOf } from "../../responses/reasoning-details.ts"
import { type CallDelta, readCallDelta } from "../../responses/stream/take-calls.ts"
import { carry, isNative, toServerCall } from "../thinking.ts"
import type { CallDraft, ThinkingDraft } from "./drafts.ts"
import { isWholeObject } from "./tell.ts"
import { addDraft, replaceDraft, type Turn } from "./turn.ts"

/** Takes what a chunk says into the drafts that it belongs to. */

export function takeText(turn: Turn, text: string): void {
  if (text === "") return
  const { drafts } = turn.state
  const last = drafts.at(-1)
  if (last?.kind === "text") replaceDraft(turn, drafts.length - 1, { ...last, pending: last.pending + text })
  else addDraft(turn, { kind: "text", pending: text })
}

/** One detail, or a fragment of one. What no block of this wire says is carried in one that is opaque. */
export function takeDetail(turn: Turn, detail: ReasoningDetail): void {
  const { type } = detail
  if (type === "reasoning.text" || type === "reasoning.summary") return takeThought(turn, type, detail)
  const call = toServerCall(detail)
  if (call) return addDraft(turn, { kind: "server tool", call })
  const data = type === "reasoning.encrypted" ? stringOf(detail, "data") : null
  if (type === "reasoning.encrypted" && data === null) return
  addDraft(turn, { kind: "sealed", data: data !== null && isNative(detail) ? data : carry(detail) })
}

function takeThought(turn: Turn, type: ThinkingDraft["type"], detail: ReasoningDetail): void {
  const text = textOf(detail)
  const signature = stringOf(detail, "signature")
  if (text === "" && signature === null) return
  const { drafts } = turn.state
  const last = drafts.at(-1)
  const index = Number.isSafeInteger(detail["index"]) ? (detail["index"] as number) : null
  const said = { signature, format: stringOf(detail, "format"), id: stringOf(detail, "id"), index }
  if (last?.kind !== "thinking" || !fits(last, { ...said, type, text })) {
    return addDraft(turn, { kind: "thinking", type, pending: text, ...said })
  }
  replaceDraft(turn, drafts.length - 1, {
    ...last,
    pending: last.pending + text,
    signature: signature ?? last.signature,
    format: said.format ?? last.format,
    id: said.id ?? last.id,
    index: index ?? last.index,
  })
}

type Thought = Pick<ThinkingDraft, "type" | "signature" | "format" | "id" | "index"> & { text: string }

function fits(draft: ThinkingDraft, said: Thought): boolean {
  const differs = (key: "format" | "id" | "index") =>
    said[key] !== null && draft[key] !== null && said[key] !== draft[key]
  if (said.type !== draft.type || differs("format") || differs("id") || differs("index")) return false
  // What is signed is whole.
  return draft.signature === null || (said.text === "" && said.signature === draft.signature)
}

export function takeCall(turn: Turn, told: unknown): void {
  const delta = readCallDelta(told)
  const calls = turn.state.drafts.filter((draft) => draft.kind === "call")
  const found = calls[route(calls, delta)]
  if (!found) {
    const { index, id, name, arguments: piece } = delta
    const begun = { index, upstreamId: id, callId: "", name: name ?? "", arguments: piece, pending: piece }
    return addDraft(turn, { kind: "call", ...begun })
  }
  const added = isRepeat(found, delta) ? "" : delta.arguments
  replaceDraft(turn, turn.state.drafts.indexOf(found), {
    ...found,
    upstreamId: found.upstreamId ?? delta.id,
    name: found.name || (delta.name ?? ""),
    arguments: found.arguments + added,
    pending: found.pending + added,
  })
}

/**
 * Which call a delta continues; -1 for a new one. The index decides, unless the id belongs to another call or names
 * one that the index does not; a delta with neither goes on with the last call.
 */
function route(calls: readonly CallDraft[], delta: CallDelta): number {
  const byIndex = delta.index === null ? -1 : calls.findIndex(({ index }) => index === delta.index)
  const byId = delta.id === null ? -1 : calls.findIndex(({ upstreamId }) => upstreamId === delta.id)
  const indexed = calls[byIndex]
  const isSame = indexed && (byIndex === byId || delta.id === null || indexed.upstreamId === null)
  const continued = delta.name === null ? (indexed ? byIndex : calls.length - 1) : -1
  const found = isSame ? byIndex : byId === -1 ? continued : byId
  const call = calls[found]
  return call && byIndex !== byId && beginsAnother(call, delta) ? -1 : found
}

/** A second name, where the first call is whole already: some providers count every parallel call as number 0. */
function beginsAnother(call: CallDraft, delta: CallDelta): boolean {
  if (delta.name === null || call.name === "") return false
  if (delta.name !== call.name) return true
  return delta.arguments !== "" && !isRepeat(call, delta) && isWholeObject(call.arguments)
}

/** Some providers send a finished call once more with the finish reason. */
function isRepeat(call: CallDraft, delta: CallDelta): boolean {
  return delta.arguments.startsWith("{") && delta.arguments === call.arguments && isWholeObject(call.arguments)
}

function stringOf(detail: ReasoningDetail, key: string): string | null {
  const value = detail[key]
  return typeof value === "string" && value !== "" ? value : null
}
