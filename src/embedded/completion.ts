import { estimatePromptTokens } from "../support/tokens.ts"
import { generateChoice, countTokens, type GeneratedChoice, type Part } from "./choice.ts"
import type { ChatRequest } from "./chat-request.ts"
import { findFault, type Fault } from "./faults.ts"

export interface Completion {
  id: string
  createdAt: number
  request: ChatRequest
  fault: Fault
  choices: readonly GeneratedChoice[]
}

export type Chunk = Record<string, unknown>

const FINGERPRINT = "sim-1"

export function newCompletion(request: ChatRequest, now: number): Completion {
  const id = crypto.randomUUID()
  const seed = id.replaceAll("-", "").slice(0, 20)
  const choices = Array.from({ length: request.choiceCount }, (_, choice) =>
    generateChoice(request, `${seed}_${choice}`),
  )
  return { id: `chatcmpl-${id}`, createdAt: now, request, fault: findFault(request.model) ?? {}, choices }
}

/** The complete response as one document. */
export function toDocument(completion: Completion): Chunk {
  const { id, createdAt, request, fault, choices } = completion
  const usage = toUsage(completion)
  return {
    id,
    ...(fault.keys === "missing" ? {} : { object: "chat.completion", created: Math.floor(createdAt / 1000) }),
    model: request.model,
    system_fingerprint: fault.keys === "null" ? null : FINGERPRINT,
    choices: choices.map(({ parts, finishReason }, index) => {
      return { index, message: toMessage(parts), finish_reason: finishReason }
    }),
    ...(usage && { usage }),
  }
}

/** One chunk for the role of each choice. */
export function* openingChunks(completion: Completion): Generator<Chunk> {
  for (const index of completion.choices.keys()) {
    yield toUnfinished(completion, index, { role: "assistant", content: "" })
  }
}

/** One chunk per piece, alternating between choices. */
export function* pieceChunks(completion: Completion): Generator<Chunk> {
  const longest = Math.max(...completion.choices.map(({ parts }) => parts.length))
  for (let at = 0; at < longest; at++) {
    for (const [index, { parts }] of completion.choices.entries()) {
      const part = parts[at]
      if (part) yield toUnfinished(completion, index, toDelta(part))
    }
  }
}

/** The finish reason of each choice and, if requested, the usage. */
export function* closingChunks(completion: Completion): Generator<Chunk> {
  const { request, fault, choices } = completion
  const nulls = fault.keys === "null" ? { usage: null, system_fingerprint: null } : {}
  for (const [index, { finishReason }] of choices.entries()) {
    yield { ...toChunk(completion, [{ index, delta: {}, finish_reason: finishReason }]), ...nulls }
  }
  const usage = toUsage(completion)
  if (!request.includeUsage || !usage) return
  const unfinished = fault.usage === "odd" ? [{ index: 0, delta: {}, finish_reason: null }] : []
  yield { ...toChunk(completion, unfinished), usage }
}

function toChunk({ id, createdAt, request }: Completion, choices: unknown[]): Chunk {
  return {
    id,
    object: "chat.completion.chunk",
    created: Math.floor(createdAt / 1000),
    model: request.model,
    system_fingerprint: FINGERPRINT,
    choices,
  }
}

function toUnfinished(completion: Completion, index: number, delta: unknown): Chunk {
  const { id, request, fault } = completion
  if (fault.keys === "missing") return { id, model: request.model, choices: [{ index, delta }] }
  const chunk = toChunk(completion, [{ index, delta, finish_reason: null }])
  return fault.keys === "null" ? { ...chunk, system_fingerprint: null, usage: null } : chunk
}

function toDelta(part: Part): unknown {
  switch (part.type) {
    case "content":
      return { content: part.text }
    case "refusal":
      return { refusal: part.text }
    case "reasoning":
      return { reasoning: part.text, reasoning_details: toReasoningDetails(part.text) }
    case "call": {
      const { call: index, id, name } = part
      return { tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }
    }
    case "arguments":
      return { tool_calls: [{ index: part.call, function: { arguments: part.text } }] }
  }
}

function toMessage(parts: readonly Part[]): unknown {
  const calls = parts.filter((part) => part.type === "call")
  const refusal = textOf(parts, "refusal")
  const reasoning = textOf(parts, "reasoning")
  return {
    role: "assistant",
    content: calls.length > 0 || refusal ? null : textOf(parts, "content"),
    ...(refusal && { refusal }),
    ...(reasoning && { reasoning, reasoning_details: toReasoningDetails(reasoning) }),
    ...(calls.length > 0 && {
      tool_calls: calls.map(({ call, id, name }) => {
        const pieces = parts.filter((part) => part.type === "arguments" && part.call === call)
        return { id, type: "function", function: { name, arguments: textOf(pieces, "arguments") } }
      }),
    }),
  }
}

function textOf(parts: readonly Part[], type: "content" | "reasoning" | "refusal" | "arguments"): string {
  return parts.map((part) => (part.type === type ? part.text : "")).join("")
}

function toReasoningDetails(text: string): unknown[] {
  return [{ type: "reasoning.text", text, index: 0, format: "unknown" }]
}

function toUsage({ request, fault, choices }: Completion): Record<string, unknown> | undefined {
  if (fault.usage === "none") return undefined
  if (fault.usage === "zero") return { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
  const parts = choices.flatMap((each) => each.parts)
  const prompt = estimatePromptTokens(request.messages)
  const completion = countTokens(parts)
  const reasoning = countTokens(parts, "reasoning")
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...(fault.usage === "cached" && { prompt_tokens_details: { cached_tokens: Math.floor(prompt / 2) } }),
    ...((fault.usage === "cached" || reasoning > 0) && { completion_tokens_details: { reasoning_tokens: reasoning } }),
    ...(fault.usage === "odd" && { billing_units: prompt + 3 * completion, queue_time: 0.012 }),
  }
}
