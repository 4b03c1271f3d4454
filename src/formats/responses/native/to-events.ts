import { type Json, objectsOf, textIn } from "../../../support/text/json.ts"
import { normalizeItem } from "./normalize.ts"
import { toEventFrame } from "../../sse/frames.ts"
import type { StreamHead } from "../../sse/stream-item.ts"

type Event = Json & { type: string }

/** Statuses of a complete response. Others have more to come, or were cancelled, which no client can request. */
export const ENDED: readonly string[] = ["completed", "incomplete", "failed"]

/** The status of a response that has ended. Some servers report the one before. */
export function endStatus(type: unknown, { status }: Json): string {
  const name = typeof type === "string" ? type.replace("response.", "") : ""
  if (ENDED.includes(name)) return name
  return typeof status === "string" && ENDED.includes(status) ? status : "completed"
}

/** Converts a complete response to the events of its stream; null if it has not ended. */
export function toEvents(response: Json): StreamHead | null {
  const { status = "completed", output } = response
  if (typeof status !== "string" || !ENDED.includes(status)) return null
  const items = objectsOf(output).map(normalizeItem).map(withId)
  const complete = { ...response, status, output: items }
  const begun = {
    ...complete,
    status: "in_progress",
    output: [],
    usage: null,
    completed_at: null,
    incomplete_details: null,
  }
  const events: Event[] = [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    ...items.flatMap(emitItem),
    { type: `response.${status}`, response: complete },
  ]
  const frames = events.map((event, number) => toEventFrame({ ...event, sequence_number: number }))
  return { ok: true, items: frames, rest: new Uint8Array(0), body: null }
}

/** Adds an id, since events refer to items by id. */
function withId(item: Json, index: number): Json {
  return typeof item["id"] === "string" && item["id"] !== "" ? item : { ...item, id: `item_${index}` }
}

/** The events of a complete item. */
export function emitItem(item: Json, index: number): Event[] {
  const { start } = splitItem(item)
  const status = "status" in item ? { status: "in_progress" } : {}
  return [
    { type: "response.output_item.added", output_index: index, item: { ...item, ...start, ...status } },
    ...grownEvents(item, index),
    { type: "response.output_item.done", output_index: index, item },
  ]
}

/** The events of a complete item between its start and its end. */
export function grownEvents(item: Json, index: number): Event[] {
  return splitItem(item).grown.map((event) => ({ ...event, item_id: item["id"], output_index: index }))
}

/** The fields that an item starts without, and the events that add them. Other items arrive complete. */
function splitItem(item: Json): { start: Json; grown: Event[] } {
  const { type, name, arguments: encoded, input } = item
  if (type === "message") return { start: { content: [] }, grown: emitParts(item["content"]) }
  if (type === "reasoning") {
    const content = Array.isArray(item["content"]) ? { content: [] } : {}
    const deltas = [...emitSummary(item["summary"]), ...emitParts(item["content"])]
    return { start: { ...content, summary: [] }, grown: deltas }
  }
  if (type === "function_call" && typeof encoded === "string") {
    const done = { type: "response.function_call_arguments.done", name, arguments: encoded }
    const delta = { type: "response.function_call_arguments.delta", delta: encoded }
    return { start: { arguments: "" }, grown: encoded === "" ? [done] : [delta, done] }
  }
  if (type === "custom_tool_call" && typeof input === "string") {
    const delta = { type: "response.custom_tool_call_input.delta", delta: input }
    return { start: { input: "" }, grown: [delta, { type: "response.custom_tool_call_input.done", input }] }
  }
  return { start: {}, grown: [] }
}

function emitSummary(summary: unknown): Event[] {
  return objectsOf(summary).flatMap((part, index) => {
    const text = textIn(part, "text")
    const events: Event[] = [
      { type: "response.reasoning_summary_part.added", part: { ...part, text: "" } },
      { type: "response.reasoning_summary_text.delta", delta: text },
      { type: "response.reasoning_summary_text.done", text },
      { type: "response.reasoning_summary_part.done", part },
    ]
    return events.map((event) => ({ ...event, summary_index: index }))
  })
}

function emitParts(content: unknown): Event[] {
  return objectsOf(content).flatMap((part, index) => {
    const { start, grown } = splitPart(part)
    const events: Event[] = [
      { type: "response.content_part.added", part: { ...part, ...start } },
      ...grown,
      { type: "response.content_part.done", part },
    ]
    return events.map((event) => ({ ...event, content_index: index }))
  })
}

function splitPart(part: Json): { start: Json; grown: Event[] } {
  const { type } = part
  const text = textIn(part, "text")
  if (type === "refusal") {
    const refusal = textIn(part, "refusal")
    const delta = { type: "response.refusal.delta", delta: refusal }
    return { start: { refusal: "" }, grown: [delta, { type: "response.refusal.done", refusal }] }
  }
  if (type === "reasoning_text") {
    const delta = { type: "response.reasoning_text.delta", delta: text }
    return { start: { text: "" }, grown: [delta, { type: "response.reasoning_text.done", text }] }
  }
  if (type !== "output_text") return { start: {}, grown: [] }
  const logprobs = objectsOf(part["logprobs"])
  const annotations = objectsOf(part["annotations"]).map((annotation, index) => ({
    type: "response.output_text.annotation.added",
    annotation_index: index,
    annotation,
  }))
  return {
    start: { text: "", annotations: [], ...("logprobs" in part && { logprobs: [] }) },
    grown: [
      { type: "response.output_text.delta", delta: text, logprobs },
      ...annotations,
      { type: "response.output_text.done", text, logprobs },
    ],
  }
}
