import { isObject, type Json, listOf, withoutNulls } from "../../../support/text/json.ts"
import { itemAt, type Logprobs, type MessageDraft, type PartDraft, toPart } from "./drafts.ts"
import {
  addItem,
  closeOpen,
  closePart,
  emit,
  type PartPosition,
  partPositionOf,
  replaceItem,
  type Turn,
} from "./turn.ts"

const encoder = new TextEncoder()

export function onText(turn: Turn, text: string, logprobs: readonly unknown[]): void {
  const entries = logprobs.flatMap(toLogprob)
  if (text === "" && entries.length === 0) return
  const scope = openPart(turn, "output_text")
  emit(turn, "response.output_text.delta", { ...scope, delta: text, logprobs: entries })
  appendToPart(turn, text, entries)
}

export function onRefusal(turn: Turn, text: string): void {
  if (text === "") return
  const scope = openPart(turn, "refusal")
  emit(turn, "response.refusal.delta", { ...scope, delta: text })
  appendToPart(turn, text, [])
}

/** Adds citations to a message. Ignored for a message without text. */
export function onAnnotations(turn: Turn, annotations: readonly unknown[]): void {
  for (const reported of annotations) {
    const annotation = toAnnotation(reported)
    const at = turn.state.items.findLastIndex(({ type }) => type === "message")
    const draft = turn.state.items[at]
    if (!annotation || draft?.type !== "message" || turn.state.open !== at) continue
    const part = draft.parts.at(-1)
    if (part?.type !== "output_text") continue
    emit(turn, "response.output_text.annotation.added", {
      ...partPositionOf(draft, at),
      annotation_index: part.annotations.length,
      annotation,
    })
    const extended = { ...part, annotations: [...part.annotations, annotation] }
    replaceItem(turn, at, { ...draft, parts: [...draft.parts.slice(0, -1), extended] })
  }
}

/** Chat nests citations in a separate object. Clients reject a citation without positions. */
function toAnnotation(reported: unknown): Json | undefined {
  if (!isObject(reported) || typeof reported["type"] !== "string") return undefined
  const { type, url_citation: citation, ...rest } = reported
  const fields = isObject(citation) ? citation : rest
  if (type !== "url_citation") return { type, ...fields }
  if (typeof fields["url"] !== "string") return undefined
  return { type, title: "", start_index: 0, end_index: 0, ...withoutNulls(fields) }
}

/** The part of the open message for this type of text. Starts one if needed. */
function openPart(turn: Turn, type: PartDraft["type"]): PartPosition {
  const { at, draft } = openMessage(turn)
  const last = draft.parts.at(-1)
  if (last?.type === type) return partPositionOf(draft, at)
  if (last) closePart(turn, at, draft)
  const part: PartDraft = type === "refusal" ? { type, text: "" } : { type, text: "", logprobs: null, annotations: [] }
  const extended = { ...draft, parts: [...draft.parts, part] }
  replaceItem(turn, at, extended)
  const scope = partPositionOf(extended, at)
  emit(turn, "response.content_part.added", { ...scope, part: toPart(part) })
  return scope
}

function openMessage(turn: Turn): { at: number; draft: MessageDraft } {
  const { state } = turn
  const openItem = state.open === null ? undefined : state.items[state.open]
  if (state.open !== null && openItem?.type === "message") return { at: state.open, draft: openItem }
  closeOpen(turn)
  const draft: MessageDraft = { type: "message", id: `msg_${state.facts.newId()}`, status: "in_progress", parts: [] }
  const at = addItem(turn, draft)
  state.open = at
  return { at, draft }
}

function appendToPart(turn: Turn, text: string, entries: Json[]): void {
  const { at, draft } = openMessage(turn)
  const last = draft.parts.at(-1)
  if (!last) return
  const logprobs = (before: Logprobs) => (entries.length === 0 ? before : { entries, before })
  const extended =
    last.type === "refusal"
      ? { ...last, text: last.text + text }
      : { ...last, text: last.text + text, logprobs: logprobs(last.logprobs) }
  replaceItem(turn, at, { ...draft, parts: [...draft.parts.slice(0, -1), extended] })
}

/** Adds bytes and alternatives, which clients require and providers may omit. */
function toLogprob(entry: unknown): Json[] {
  if (!isToken(entry)) return []
  const others = listOf(entry["top_logprobs"])
  return [{ ...toToken(entry), top_logprobs: others.filter(isToken).map(toToken) }]
}

function isToken(entry: unknown): entry is Json & { token: string; logprob: number } {
  return isObject(entry) && typeof entry["token"] === "string" && typeof entry["logprob"] === "number"
}

function toToken({ token, logprob, bytes }: Json & { token: string; logprob: number }): Json {
  return { token, logprob, bytes: Array.isArray(bytes) ? bytes : [...encoder.encode(token)] }
}

/** Adds an image, which is never split. It is a separate item and does not end the message. */
export function onImage(turn: Turn, image: unknown): void {
  const url = isObject(image) && isObject(image["image_url"]) ? image["image_url"]["url"] : undefined
  if (typeof url !== "string") return
  const result = url.replace(/^data:[^,]*;base64,/, "")
  const id = `ig_${turn.state.facts.newId()}`
  const at = addItem(turn, { type: "image_generation_call", id, status: "in_progress", result })
  replaceItem(turn, at, { type: "image_generation_call", id, status: "completed", result })
  emit(turn, "response.output_item.done", { output_index: at, item: itemAt(turn.state, at) })
}
