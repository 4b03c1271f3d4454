import type { Json } from "../../../support/text/json.ts"
import { toEncryptedContent } from "../reasoning-details.ts"
import { inputIn, type NamedTool } from "../tool-names.ts"
import { withoutNulls } from "../../../support/text/json.ts"

/** Unfinished output items. The position of an item in `items` is its `output_index`. */

export type ItemStatus = "in_progress" | "completed" | "incomplete"
type Block = { index: unknown; text: string }

export type ReasoningDraft = {
  type: "reasoning"
  id: string
  status: ItemStatus
  summary: readonly Block[]
  content: readonly Block[]
  encrypted: string | null
  signature: string | null
  format: string | null
}

export type PartDraft =
  | { type: "output_text"; text: string; logprobs: Logprobs; annotations: readonly Json[] }
  | { type: "refusal"; text: string }
export type MessageDraft = { type: "message"; id: string; status: ItemStatus; parts: readonly PartDraft[] }

export type CallDraft = {
  type: "function_call"
  id: string
  status: ItemStatus
  /** Index and id at the provider; the client receives `callId`, which is unique in the response. */
  index: number | null
  upstreamId: string | null
  callId: string
  name: string
  arguments: string
  /** Position in `items`; null until the name is known. */
  position: number | null
}

export type ImageDraft = { type: "image_generation_call"; id: string; status: ItemStatus; result: string }

/** A run of a server tool of the gateway. */
export type ServerToolDraft = { type: "server_tool"; id: string; toolType: string; status: string; fields: Json }

export type Draft =
  | ReasoningDraft
  | MessageDraft
  | ImageDraft
  | ServerToolDraft
  | { type: "function_call"; call: number }

/** Newest first, so that appending to a long list copies nothing. */
export type Logprobs = { entries: Json[]; before: Logprobs } | null

type Items = {
  items: readonly Draft[]
  calls: readonly CallDraft[]
  /** Tools that are not plain functions for the client. */
  names: ReadonlyMap<string, NamedTool>
}

/** The item at a position, in the Responses format. */
export function itemAt({ items, calls, names }: Items, at: number): Json {
  const draft = items[at]
  if (!draft) throw new Error(`There is no output item ${at}.`)
  if (draft.type === "message") {
    const { type, id, status, parts } = draft
    return { type, id, status, role: "assistant", content: parts.map(toPart) }
  }
  if (draft.type === "reasoning") return toReasoningItem(draft)
  if (draft.type === "image_generation_call") {
    const { type, id, status, result } = draft
    return { type, id, status, result: status === "in_progress" ? null : result }
  }
  if (draft.type === "server_tool") {
    const { id, toolType, status, fields } = draft
    return { ...fields, type: toolType, id, status }
  }
  const call = calls[draft.call]
  if (!call) throw new Error(`There is no call ${draft.call}.`)
  const { type, id, status, callId, name } = call
  const toolName = names.get(name)
  const reported = {
    id,
    status,
    call_id: callId,
    name: toolName?.name ?? name,
    ...(toolName?.namespace && { namespace: toolName.namespace }),
  }
  if (toolName?.kind !== "custom") return { type, ...reported, arguments: call.arguments }
  // The text is known only when the arguments are complete.
  return { type: "custom_tool_call", ...reported, input: status === "in_progress" ? "" : inputIn(call.arguments) }
}

function toReasoningItem(draft: ReasoningDraft): Json {
  const { type, id, status, summary, content, encrypted, signature, format } = draft
  const item = {
    type,
    id,
    status,
    summary: summary.map(({ text }) => ({ type: "summary_text" as const, text })),
    ...(content.length > 0 && { content: content.map(({ text }) => ({ type: "reasoning_text" as const, text })) }),
  }
  const opaque = toEncryptedContent({ ...item, encrypted_content: encrypted, signature, format })
  return { ...item, ...withoutNulls({ encrypted_content: opaque, signature, format }) }
}

export function toPart(part: PartDraft): Json {
  if (part.type === "refusal") return { type: "refusal", refusal: part.text }
  return { type: "output_text", text: part.text, annotations: part.annotations, logprobs: toList(part.logprobs) }
}

export function toList(logprobs: Logprobs): Json[] {
  const lists: Json[][] = []
  for (let node = logprobs; node; node = node.before) lists.push(node.entries)
  return lists.toReversed().flat()
}
