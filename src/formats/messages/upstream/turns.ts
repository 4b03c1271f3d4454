import { isTooDeep } from "../../../support/text/depth.ts"
import { isObject, type Json, parseJson } from "../../../support/text/json.ts"
import { readDetails, textOf } from "../../responses/reasoning-details.ts"
import type { ReasoningDetail } from "../../reasoning-detail.ts"
import type { ChatRequest } from "../../schemas.ts"
import { isNative, resultTypeOf, toServerCall } from "../thinking.ts"
import { type Block, type ContentContext, invalidField, toBlocks, toTextBlock, toTextBlocks } from "./content.ts"

/** Converts chat messages to `system` and alternating user and assistant turns. */

type Message = ChatRequest["messages"][number]
export type Turn = { role: "user" | "assistant"; content: Block[] }

/**
 * Instructions from all positions go to `system` in their order: not every model accepts them between turns. Without
 * other messages they become a user turn, since at least one turn is required. Turns without blocks are dropped.
 */
export function toTurns(request: ChatRequest): { system: Block[]; turns: Turn[] } {
  const reported = request.prompt_cache_options?.ttl
  const ttl = reported === "5m" || reported === "1h" ? reported : undefined
  const serverTools = (request.tools ?? []).map((tool: Json) => tool["name"])
  const system: Block[] = []
  const turns: Turn[] = []
  request.messages.forEach((message, at) => {
    const context = { path: `messages[${at}]`, ttl }
    if (message.role === "system" || message.role === "developer")
      system.push(...toTextBlocks(message.content, context))
    else if (message.role === "assistant") join(turns, "assistant", toAssistantBlocks(message, context, serverTools))
    else
      join(turns, "user", message.role === "tool" ? [toResult(message, context)] : toBlocks(message.content, context))
  })
  trimLast(turns)
  if (turns.length > 0) return { system, turns }
  if (system.length === 0) throw invalidField("messages", "must not be empty")
  return { system: [], turns: [{ role: "user", content: system }] }
}

/** Appends to the last turn if it has the same role. Tool results come before the other blocks of a user turn. */
function join(turns: Turn[], role: Turn["role"], blocks: Block[]): void {
  if (blocks.length === 0) return
  const last = turns.at(-1)
  if (last?.role !== role) {
    turns.push({ role, content: blocks })
    return
  }
  const content = [...last.content, ...blocks]
  const isResult = (block: Block) => block.type === "tool_result"
  last.content = [...content.filter(isResult), ...content.filter((block) => !isResult(block))]
}

/** The API rejects a prefilled response that ends in white space. */
function trimLast(turns: Turn[]): void {
  const last = turns.at(-1)
  const block = last?.content.at(-1)
  if (last?.role === "assistant" && block?.type === "text") block["text"] = String(block["text"]).trimEnd()
}

/** Replaces characters that the Messages API rejects in ids. Equal ids stay equal. */
function toCallId(id: string): string {
  return id.replaceAll(/[^\w-]/g, "_") || "_"
}

const NO_BLOCK: Block = { type: "text" }

function toResult({ tool_call_id: id, content }: Extract<Message, { role: "tool" }>, context: ContentContext): Block {
  const blocks = toBlocks(content, context)
  const last = blocks.at(-1)
  // A cache breakpoint at the end of the result becomes one on its block.
  const { cache_control: cacheControl, ...unmarked } = last ?? NO_BLOCK
  const marked = cacheControl === undefined ? blocks : [...blocks.slice(0, -1), unmarked]
  return {
    type: "tool_result",
    tool_use_id: toCallId(id),
    ...(marked.length > 0 && { content: typeof content === "string" ? content : marked }),
    ...(cacheControl !== undefined && { cache_control: cacheControl }),
  }
}

function toAssistantBlocks(
  message: Extract<Message, { role: "assistant" }>,
  context: ContentContext,
  serverTools: unknown[],
): Block[] {
  const calls = message.tool_calls ?? []
  return [
    ...joinFragments(readDetails(message)).flatMap((detail) => toThought(detail, serverTools)),
    ...toTextBlocks(message.content, context),
    ...toTextBlock(message.refusal ?? ""),
    ...calls.map(({ id, function: { name, arguments: encoded } }, at) => {
      const path = `${context.path}.tool_calls[${at}].function.arguments`
      return { type: "tool_use", id: toCallId(id), name, input: toInput(encoded, path) }
    }),
  ]
}

function toInput(encoded: string, path: string): Json {
  if (encoded.trim() === "") return {}
  const input = parseJson(encoded)
  if (input === undefined) throw invalidField(path, "must be JSON: this provider parses it")
  if (!isObject(input)) throw invalidField(path, "must be a JSON object")
  if (isTooDeep(input)) throw invalidField(path, "must not be nested that deeply")
  return input
}

/**
 * Clients may echo a stream in pieces: text details, then one detail with the signature of all of it.
 */
function joinFragments(details: readonly ReasoningDetail[]): ReasoningDetail[] {
  const joined: ReasoningDetail[] = []
  for (const detail of details) {
    const last = joined.at(-1)
    if (last && continues(last, detail))
      joined[joined.length - 1] = { ...last, ...detail, text: textOf(last) + textOf(detail) }
    else joined.push(detail)
  }
  return joined
}

function continues(last: ReasoningDetail, detail: ReasoningDetail): boolean {
  if (last.type !== "reasoning.text" || detail.type !== "reasoning.text" || last["signature"]) return false
  return last["index"] === undefined || detail["index"] === undefined || last["index"] === detail["index"]
}

/**
 * Reasoning that Claude signed or encrypted; that of other providers is dropped, since only they can verify it. A call
 * of a server tool is sent back if the request still has the tool.
 */
function toThought(detail: ReasoningDetail, serverTools: unknown[]): Block[] {
  const call = toServerCall(detail)
  if (call) {
    const { id, name, input, result } = call
    if (!serverTools.includes(name) || result === null) return []
    return [
      { type: "server_tool_use", id, name, input },
      { type: resultTypeOf(name), tool_use_id: id, content: result },
    ]
  }
  if (!isNative(detail)) return []
  const { type, text, signature, data } = detail
  if (type === "reasoning.encrypted") return typeof data === "string" && data !== "" ? [toRedacted(data)] : []
  if (type !== "reasoning.text" || typeof signature !== "string" || signature === "") return []
  return [{ type: "thinking", thinking: typeof text === "string" ? text : "", signature }]
}

function toRedacted(data: string): Block {
  return { type: "redacted_thinking", data }
}

/**
 * Whether the API accepts a thinking budget: after a tool call, the assistant turn with the call must start with its
 * thinking. Turns of other models and turns without thinking do not.
 */
export function canThink(turns: readonly Turn[]): boolean {
  const isResults = turns.at(-1)?.content.some(({ type }) => type === "tool_result")
  const calling = isResults ? turns.at(-2) : undefined
  return calling === undefined || /^(redacted_)?thinking$/.test(calling.content[0]?.type ?? "")
}
