import { isInteger, isObject, type Json, listOf, objectsOf, textIn } from "../../../support/text/json.ts"
import { toTokens } from "../../chat/meter.ts"

/**
 * Converts the events of a Responses stream to chat chunks: each step takes a state and an event, and returns the next
 * state with the chunks between the two. Upstream JSON is untrusted: every field is checked.
 */

/** Format of the reasoning, which its provider gets back with the next turn. */
const FORMAT = "openai-responses-v1"

/** An item of the output, by its index: the tool call or reasoning detail that it is, and what it has sent so far. */
type OpenItem = { position: number; hasText: boolean; summaries: number }

export type ResponsesReading = {
  readonly phase: "new" | "under way" | "over" | "failed"
  readonly id: string | null
  readonly model: string | null
  readonly created: number | null
  readonly items: ReadonlyMap<number, OpenItem>
  readonly calls: number
  readonly details: number
}

type Turn = { state: { -readonly [Key in keyof ResponsesReading]: ResponsesReading[Key] }; chunks: Json[] }

export function newResponsesReading(): ResponsesReading {
  return { phase: "new", id: null, model: null, created: null, items: new Map(), calls: 0, details: 0 }
}

/** Takes one event. Emits nothing after the end or the failure of the response. */
export function advance(state: ResponsesReading, event: Json): [state: ResponsesReading, chunks: Json[]] {
  if (state.phase === "over" || state.phase === "failed") return [state, []]
  const turn: Turn = { state: { ...state }, chunks: [] }
  take(turn, event)
  return [turn.state, turn.chunks]
}

function take(turn: Turn, event: Json): void {
  const index = isInteger(event["output_index"]) ? event["output_index"] : 0
  const delta = typeof event["delta"] === "string" ? event["delta"] : ""
  const item = isObject(event["item"]) ? event["item"] : {}
  const response = isObject(event["response"]) ? event["response"] : {}
  switch (event["type"]) {
    case "response.created":
    case "response.in_progress":
      return readNames(turn, response)
    case "response.output_item.added":
      return void open(turn, index, item)
    case "response.output_text.delta":
      return onText(turn, index, { content: delta }, listOf(event["logprobs"]))
    case "response.refusal.delta":
      return onText(turn, index, { refusal: delta }, [])
    case "response.reasoning_summary_part.added":
      return onSummaryPart(turn, index, item)
    case "response.reasoning_summary_text.delta":
    case "response.reasoning_text.delta":
      return onReasoning(turn, index, event)
    case "response.function_call_arguments.delta":
      return onArguments(turn, index, delta)
    case "response.output_item.done":
      return close(turn, index, item)
    case "response.completed":
    case "response.incomplete":
    case "response.failed":
    case "response.cancelled":
      readNames(turn, response)
      return end(turn, response)
    case "error":
      return fail(turn, isObject(event["error"]) ? event["error"] : event)
  }
}

function readNames({ state }: Turn, { id, model, created_at: created }: Json): void {
  state.phase = "under way"
  if (typeof id === "string") state.id ??= id
  if (typeof model === "string") state.model ??= model
  if (isInteger(created)) state.created ??= created
}

/** The item at an index. A call is announced with its name, since its arguments may come later. */
function open(turn: Turn, index: number, item: Json): OpenItem {
  const { state } = turn
  const known = state.items.get(index)
  if (known) return known
  const isCall = item["type"] === "function_call"
  const opened = { position: isCall ? state.calls : state.details, hasText: false, summaries: 0 }
  if (isCall) {
    state.calls += 1
    const fn = { name: textIn(item, "name"), arguments: "" }
    const id = textIn(item, "call_id") || textIn(item, "id")
    pushDelta(turn, { tool_calls: [{ index: opened.position, id, type: "function", function: fn }] })
  }
  if (item["type"] === "reasoning") state.details += 1
  return set(turn, index, opened)
}

function set({ state }: Turn, index: number, item: OpenItem): OpenItem {
  state.items = new Map(state.items).set(index, item)
  return item
}

function onText(turn: Turn, index: number, delta: Json, logprobs: readonly unknown[]): void {
  const item = open(turn, index, { type: "message" })
  if (!item.hasText) set(turn, index, { ...item, hasText: true })
  pushDelta(turn, delta, logprobs.length > 0 ? { logprobs: { content: logprobs, refusal: null } } : {})
}

/** Parts of a summary are paragraphs. */
function onSummaryPart(turn: Turn, index: number, item: Json): void {
  const opened = open(turn, index, { type: "reasoning", ...item })
  set(turn, index, { ...opened, summaries: opened.summaries + 1 })
  if (opened.summaries > 0) emitThought(turn, opened.position, { type: "reasoning.summary", text: "\n\n" })
}

function onReasoning(turn: Turn, index: number, { type, delta, item_id: id }: Json): void {
  const opened = open(turn, index, { type: "reasoning" })
  if (!opened.hasText) set(turn, index, { ...opened, hasText: true })
  const kind = type === "response.reasoning_text.delta" ? "reasoning.text" : "reasoning.summary"
  emitThought(turn, opened.position, { type: kind, text: typeof delta === "string" ? delta : "", id })
}

type Thought = { type: "reasoning.text" | "reasoning.summary"; text: string; id?: unknown }

function emitThought(turn: Turn, index: number, { type, text, id }: Thought): void {
  const message = type === "reasoning.text" ? { text } : { summary: text }
  const named = typeof id === "string" ? { id } : {}
  pushDelta(turn, { reasoning: text, reasoning_details: [{ type, ...message, format: FORMAT, ...named, index }] })
}

function onArguments(turn: Turn, index: number, piece: string): void {
  const item = open(turn, index, { type: "function_call" })
  if (!item.hasText) set(turn, index, { ...item, hasText: true })
  pushDelta(turn, { tool_calls: [{ index: item.position, function: { arguments: piece } }] })
}

/** The end of an item. Some servers send its content only here. */
function close(turn: Turn, index: number, item: Json): void {
  const opened = open(turn, index, item)
  const { type, id, arguments: encoded, encrypted_content: data } = item
  if (type === "function_call" && !opened.hasText && typeof encoded === "string" && encoded !== "")
    return onArguments(turn, index, encoded)
  if (type === "message" && !opened.hasText) {
    for (const part of objectsOf(item["content"])) {
      if (typeof part["text"] === "string") onText(turn, index, { content: part["text"] }, listOf(part["logprobs"]))
      if (typeof part["refusal"] === "string") onText(turn, index, { refusal: part["refusal"] }, [])
    }
  }
  if (type !== "reasoning") return
  if (!opened.hasText) {
    for (const text of objectsOf(item["summary"]).map((part) => textIn(part, "text"))) {
      emitThought(turn, opened.position, { type: "reasoning.summary", text, id })
    }
  }
  if (typeof data !== "string" || data === "") return
  const named = typeof id === "string" ? { id } : {}
  // Clients merge details with the same index.
  const detail = { type: "reasoning.encrypted", data, format: FORMAT, ...named, index: turn.state.details }
  turn.state.details += 1
  pushDelta(turn, { reasoning_details: [detail] })
}

function end(turn: Turn, response: Json): void {
  const { state } = turn
  const { status, error, incomplete_details: details, usage, service_tier: tier } = response
  if (isObject(error) || status === "failed" || status === "cancelled") return fail(turn, error)
  const reason = isObject(details) ? details["reason"] : undefined
  const isCut = status === "incomplete"
  const finish = isCut ? (reason === "content_filter" ? reason : "length") : state.calls > 0 ? "tool_calls" : "stop"
  pushChunk(turn, { choices: [{ index: 0, delta: {}, finish_reason: finish }] })
  const counted = toChatUsage(usage)
  const tiered = typeof tier === "string" ? { service_tier: tier } : {}
  if (counted) pushChunk(turn, { choices: [], usage: counted, ...tiered })
  state.phase = "over"
}

function fail(turn: Turn, error: unknown): void {
  const { message, code, type } = isObject(error) ? error : {}
  const text = typeof message === "string" ? message : "The provider's response failed."
  pushChunk(turn, { choices: [], error: { message: text, code: code ?? type ?? null } })
  turn.state.phase = "failed"
}

/** The usage in the names of the chat format; null if the value is not a usage. */
export function toChatUsage(usage: unknown): Json | null {
  const tokens = toTokens(usage)
  if (!tokens) return null
  const { prompt, completion, cached, cacheWrite, reasoning } = tokens
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: cached, ...(cacheWrite > 0 && { cache_write_tokens: cacheWrite }) },
    completion_tokens_details: { reasoning_tokens: reasoning },
  }
}

function pushDelta(turn: Turn, delta: Json, further: Json = {}): void {
  pushChunk(turn, { choices: [{ index: 0, delta, finish_reason: null, ...further }] })
}

function pushChunk({ state, chunks }: Turn, fields: Json): void {
  const { id, model, created } = state
  chunks.push({
    ...(id !== null && { id }),
    object: "chat.completion.chunk",
    ...(created !== null && { created }),
    ...(model !== null && { model }),
    ...fields,
  })
}
