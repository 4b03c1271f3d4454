import type { Json } from "../../support/text/json.ts"
import { GatewayError } from "../../errors/errors.ts"
import { toChatName } from "../tools/tool-aliases.ts"
import { addFields, CALL_FIELDS } from "../responses/call-fields.ts"
import type { ReasoningDetail } from "../reasoning-detail.ts"
import {
  type ContentBlock,
  isKnown,
  type KnownBlock,
  type ResponseBlock,
  type ResultBlock,
  type ToolResultBlock,
} from "./block-schemas.ts"
import { isPlainText, simplest, toContent, toParts, toTextPart } from "./content.ts"
import type { MessagesRequest } from "./schemas.ts"
import { isGatewayBlob } from "../responses/opaque-blob.ts"
import { resultTypeOf, toReasoning, toSealed, toServerDetail, toThoughts } from "./thinking.ts"

/** Converts `system` and `messages` to chat messages. */
export function toMessages({ system, messages }: Pick<MessagesRequest, "system" | "messages">): Json[] {
  const converted = messages.flatMap((message, at) => {
    const { role, content } = message
    if (role === "system") return [{ role, content: toContent(content) }]
    if (typeof content === "string") return [{ role, content }]
    return role === "user" ? toUserMessages(content, at) : [toAssistantMessage(content, at)]
  })
  const hasNoSystem = system == null || system.length === 0
  return hasNoSystem ? converted : [{ role: "system", content: toContent(system) }, ...converted]
}

type Turn = MessagesRequest["messages"][number]

/**
 * The turns for a provider of the Messages format, which verifies only reasoning that it signed: other reasoning is
 * removed. Empty turns are dropped, since such a provider rejects them.
 */
export function toUpstreamTurns(messages: readonly Turn[]): Turn[] {
  const turns: Turn[] = []
  let isGap = false
  for (const message of messages) {
    const { role, content } = message
    const nativeContent = Array.isArray(content)
      ? (content as ContentBlock[]).filter((block) => !isForeign(block))
      : content
    const last = turns.at(-1)
    if (nativeContent.length > 0 && isGap && last?.role === role) {
      turns[turns.length - 1] = {
        ...last,
        content: [...toBlockList(last.content), ...toBlockList(nativeContent)],
      } as Turn
    } else if (nativeContent.length > 0) turns.push({ ...message, content: nativeContent } as Turn)
    isGap = nativeContent.length === 0
  }
  if (turns.length > 0) return turns
  throw new GatewayError("invalid_request", "messages: must not be empty.")
}

function isForeign(block: Json): boolean {
  return isGatewayBlob(block["signature"]) || isGatewayBlob(block["data"])
}

function toBlockList(content: string | readonly ContentBlock[]): readonly ContentBlock[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content
}

/** Tool results become separate messages directly after the assistant message with the calls; other blocks follow. */
function toUserMessages(content: readonly ContentBlock[], at: number): Json[] {
  const results: Json[] = []
  const parts: Json[] = []
  content.forEach((block, position) => {
    if (isKnown(block) && block.type === "tool_result") results.push(toToolMessage(block))
    else if (isKnown(block) && isResponseBlock(block)) parts.push(...toParts(block))
    else throw unsupportedBlock(block, "user", at, position)
  })
  if (parts.length === 0 && results.length > 0) return results
  return [...results, { role: "user", content: simplest(parts) }]
}

function isResponseBlock(block: KnownBlock): block is ResponseBlock {
  return ["text", "image", "document", "search_result"].includes(block.type)
}

/** The chat format sends all tools from the start, so a reference to one is text. */
function toResultParts(block: ResultBlock): Json[] {
  return block.type === "tool_reference"
    ? [toTextPart(`The tool ${toChatName(block.tool_name)} is available.`)]
    : toParts(block)
}

const FAILED = "The tool failed:"

/** The chat format has no flag for a failed tool, so the text reports the failure. */
function toToolMessage({ tool_use_id: id, content, is_error: failed, cache_control: mark }: ToolResultBlock): Json {
  const parts = typeof content === "string" ? [toTextPart(content)] : (content ?? []).flatMap(toResultParts)
  const reported = failed ? [toTextPart(FAILED), ...parts] : parts
  const marked = mark
    ? reported.map((part, at) => (at === reported.length - 1 ? { cache_control: mark, ...part } : part))
    : reported
  const isPlain = marked.every(isPlainText)
  return {
    role: "tool",
    tool_call_id: id,
    content: isPlain ? marked.map(({ text }) => text).join("\n") : marked,
  }
}

function toAssistantMessage(content: readonly ContentBlock[], at: number): Json {
  const details: ReasoningDetail[] = []
  const parts: Json[] = []
  const calls: Json[] = []
  content.forEach((block, position) => {
    if (!isKnown(block)) {
      if (!block.type.endsWith("_tool_result")) throw unsupportedBlock(block, "assistant", at, position)
      return
    }
    switch (block.type) {
      case "thinking":
        return details.push(...toThoughts(block.thinking, block.signature))
      case "redacted_thinking":
        return details.push(...toSealed(block.data))
      case "server_tool_use": {
        const { id, name, input } = block
        return details.push(toServerDetail({ id, name, input, result: resultOf(content, id, name) }))
      }
      case "tool_use": {
        const fn = { name: toChatName(block.name), arguments: JSON.stringify(block.input) }
        return calls.push({ id: block.id, type: "function", function: fn })
      }
      case "text":
        return parts.push(toTextPart(block.text, block.cache_control))
      default:
        throw unsupportedBlock(block, "assistant", at, position)
    }
  })
  for (const { type, tool_call_id: id, fields } of details) {
    const call = type === CALL_FIELDS ? calls.find((one) => one["id"] === id) : undefined
    if (call) addFields(call, fields)
  }
  const joined = parts.every(isPlainText) ? parts.map(({ text }) => text).join("") : parts
  return {
    role: "assistant",
    content: parts.length > 0 ? joined : calls.length > 0 ? null : "",
    ...toReasoning(details.filter(({ type }) => type !== CALL_FIELDS)),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

function resultOf(content: readonly ContentBlock[], id: string, name: string): unknown {
  const isResult = (block: Json) => block["type"] === resultTypeOf(name) && block["tool_use_id"] === id
  const result: Json | undefined = content.find(isResult)
  return result === undefined ? null : result["content"]
}

const TAKEN = {
  user: "text, image, document, search_result and tool_result",
  assistant: "text, thinking, redacted_thinking, tool_use and server_tool_use with its result",
}

function unsupportedBlock(
  { type }: { type: string },
  role: keyof typeof TAKEN,
  at: number,
  position: number,
): GatewayError {
  const message = `${type} is not supported here; a message of the ${role} may have ${TAKEN[role]}`
  return new GatewayError("invalid_request", `messages[${at}].content[${position}].type: ${message}.`)
}
