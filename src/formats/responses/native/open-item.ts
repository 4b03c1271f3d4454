import { isArray, type Json, textIn } from "../../../support/text/json.ts"

/** An item of the output that has started, with what its events have added so far. */

/** A part of the content or of the summary. `text` has its deltas; `isTextDone`: its text has ended. */
export type OpenPart = { type: PartType; index: number; text: string[]; isTextDone: boolean; isDone: boolean }
export type PartType = "output_text" | "refusal" | "reasoning_text" | "summary_text"
export type OpenItem = {
  item: Json
  index: number
  parts: OpenPart[]
  arguments: string[]
  hasArguments: boolean
}

/** Names of the events of a part. */
export const PART_EVENTS: Readonly<Record<PartType, { text: string; part: string; index: string; field: string }>> = {
  output_text: { text: "output_text", part: "content_part", index: "content_index", field: "text" },
  refusal: { text: "refusal", part: "content_part", index: "content_index", field: "refusal" },
  reasoning_text: { text: "reasoning_text", part: "content_part", index: "content_index", field: "text" },
  summary_text: {
    text: "reasoning_summary_text",
    part: "reasoning_summary_part",
    index: "summary_index",
    field: "text",
  },
}

/** The start of the types of the events of each part. */
const EVENT_PREFIXES = Object.entries(PART_EVENTS).map(
  ([type, { text }]) => [type as PartType, `response.${text}.`] as const,
)

/** The part that an event is about; undefined for another event. */
export function partTypeOf(event: Json): PartType | undefined {
  const type = textIn(event, "type")
  return EVENT_PREFIXES.find(([, prefix]) => type.startsWith(prefix))?.[0]
}

/** An empty part of a type. */
export function newPart(type: PartType): Json {
  if (type === "refusal") return { type, refusal: "" }
  return { type, text: "", ...(type === "output_text" && { annotations: [] }) }
}

/** The part with its text. */
export function completePart({ type, text }: OpenPart): Json {
  return { ...newPart(type), [PART_EVENTS[type].field]: text.join("") }
}

/** An item that an event implies, for a server that does not announce it. */
export function impliedItem(event: Json, id: string): Json | undefined {
  const type = textIn(event, "type")
  if (/^response\.(?:output_text|refusal|content_part)\./.test(type)) {
    return { type: "message", id, role: "assistant", status: "in_progress", content: [] }
  }
  if (type.startsWith("response.reasoning_")) return { type: "reasoning", id, summary: [] }
  const { name } = event
  if (!type.startsWith("response.function_call_arguments.") || typeof name !== "string") return undefined
  return { type: "function_call", id, call_id: id, name, arguments: "", status: "in_progress" }
}

/** The item with what its events have added, for a server that does not end it. */
export function completeItem({ item, parts, arguments: pieces, hasArguments }: OpenItem): Json {
  const status = "status" in item ? { status: "completed" } : {}
  if (item["type"] === "function_call") {
    return { ...item, ...status, arguments: hasArguments ? pieces.join("") : textIn(item, "arguments") || "{}" }
  }
  if (item["type"] === "custom_tool_call") return { ...item, ...status, input: pieces.join("") }
  const ordered = parts.toSorted((one, other) => one.index - other.index)
  const summary = ordered.filter(({ type }) => type === "summary_text").map(completePart)
  const content = ordered.filter(({ type }) => type !== "summary_text").map(completePart)
  return {
    ...item,
    ...status,
    ...(content.length > 0 && { content }),
    ...((summary.length > 0 || isArray(item["summary"])) && { summary }),
  }
}
