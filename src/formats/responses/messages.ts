import type { Json } from "../../support/text/json.ts"
import { GatewayError } from "../../errors/errors.ts"
import { isRun } from "../tools/server-tool-detail.ts"
import { addFields, CALL_FIELDS } from "./call-fields.ts"
import { type ChatContent, joinContent, toContent, toText } from "./content.ts"
import {
  type CustomCallOutputItem,
  type FunctionCallItem,
  type FunctionCallOutputItem,
  type InputMessage,
  isKnown,
  type ReasoningItem,
  SERVER_TOOL_ITEM,
} from "./input-schemas.ts"
import { textOf, toDetails } from "./reasoning-details.ts"
import type { ReasoningDetail } from "../reasoning-detail.ts"
import type { ResponsesRequest } from "./schemas.ts"
import { chatNameOf, toArguments } from "./tool-names.ts"

type AssistantMessage = {
  role: "assistant"
  content: ChatContent | null
  refusal?: string
  reasoning?: string
  reasoning_details?: ReasoningDetail[]
  tool_calls?: Json[]
}

/**
 * State of the translation. Items from one model response become one assistant message again: reasoning, text and
 * calls.
 */
type Conversation = {
  messages: (Json | AssistantMessage)[]
  /** The last message, while an item may still belong to it. */
  assistant: AssistantMessage | undefined
  /** Reasoning whose message has not been reached yet. */
  details: ReasoningDetail[]
  /** The last call by id: ids are unique in a response, not in a conversation. */
  calls: Map<unknown, Json>
}

/** Converts `instructions` and `input` to chat messages. */
export function toMessages({ instructions, input }: Pick<ResponsesRequest, "instructions" | "input">): Json[] {
  const conversation: Conversation = { messages: [], assistant: undefined, details: [], calls: new Map() }
  if (instructions != null) conversation.messages.push({ role: "system", content: instructions })
  if (typeof input === "string") conversation.messages.push({ role: "user", content: input })
  else input.forEach((item, position) => take(conversation, item, position))
  endTurn(conversation)
  return conversation.messages
}

function take(conversation: Conversation, item: Exclude<ResponsesRequest["input"], string>[number], at: number): void {
  if (!isKnown(item)) {
    if (SERVER_TOOL_ITEM.test(item.type)) return
    throw unsupportedItem(item.type, at)
  }
  switch (item.type) {
    case "reasoning":
      return takeReasoning(conversation, item)
    case "function_call":
      return takeCall(conversation, item)
    case "function_call_output":
    case "custom_tool_call_output":
      return takeOutput(conversation, item)
    case "custom_tool_call":
      return takeCall(conversation, { ...item, type: "function_call", arguments: toArguments(item.input) })
    default:
      return takeMessage(conversation, item)
  }
}

function unsupportedItem(type: string, at: number): GatewayError {
  const errorText =
    type === "item_reference"
      ? "item_reference refers to a stored item, and this gateway stores none: send the item itself"
      : `${type} is not supported; use message, function_call, custom_tool_call, their outputs or reasoning`
  return new GatewayError("invalid_request", `input[${at}].type: ${errorText}.`)
}

function takeReasoning(conversation: Conversation, item: ReasoningItem): void {
  for (const detail of toDetails(item)) {
    const { type, tool_call_id: id, fields } = detail
    const call = conversation.calls.get(id)
    if (type === CALL_FIELDS) {
      if (call) addFields(call, fields)
      continue
    }
    // After a server tool run the model continues, unless the client must run calls of the same turn.
    if (isRun(detail) && !conversation.assistant?.tool_calls) conversation.assistant = undefined
    conversation.details.push(detail)
  }
}

function takeMessage(conversation: Conversation, item: InputMessage): void {
  if (item.role !== "assistant") {
    endTurn(conversation)
    conversation.messages.push({ role: item.role, content: toContent(item.content) })
    return
  }
  const { content, refusal: refused } = toText(item.content)
  // Tool results must follow the message with their calls, so text between the two is added to that message.
  const message = conversation.assistant?.tool_calls ? conversation.assistant : newAssistant(conversation)
  message.content = joinContent(message.content, content)
  if (refused !== null) message.refusal = (message.refusal ?? "") + refused
  attachDetails(conversation, message)
}

function takeCall(conversation: Conversation, item: FunctionCallItem): void {
  const message = conversation.assistant ?? newAssistant(conversation)
  const fn = { name: chatNameOf(item.name, item.namespace), arguments: item.arguments }
  const call = { id: item.call_id, type: "function", function: fn }
  message.tool_calls = [...(message.tool_calls ?? []), call]
  conversation.calls.set(item.call_id, call)
  attachDetails(conversation, message)
}

function takeOutput(conversation: Conversation, item: FunctionCallOutputItem | CustomCallOutputItem): void {
  endTurn(conversation)
  conversation.messages.push({ role: "tool", tool_call_id: item.call_id, content: toContent(item.output) })
}

function newAssistant(conversation: Conversation): AssistantMessage {
  const message: AssistantMessage = { role: "assistant", content: null }
  conversation.messages.push(message)
  conversation.assistant = message
  return message
}

function attachDetails(conversation: Conversation, message: AssistantMessage): void {
  if (conversation.details.length === 0) return
  const existing = message.reasoning_details ?? []
  const added = conversation.details.map((detail, at) => ({ index: existing.length + at, ...detail }))
  message.reasoning_details = [...existing, ...added]
  conversation.details = []
  const text = message.reasoning_details.map(textOf).join("")
  if (text !== "") message.reasoning = text
}

/** Reasoning after the last item of a response belongs to it; alone, it becomes a message without content. */
function endTurn(conversation: Conversation): void {
  if (conversation.details.length > 0) {
    const message = conversation.assistant ?? newAssistant(conversation)
    attachDetails(conversation, message)
    if (message.content === null && !message.tool_calls) message.content = ""
  }
  conversation.assistant = undefined
}
