import { isArray, isObject, type Json, parseStored } from "../../support/text/json.ts"
import { type CallContent, toDefinition } from "../call-content.ts"

/** Messages and tools in the shapes of the OpenTelemetry conventions for generative AI, and of chat. Pure. */

export function toInputMessages({ input }: CallContent): object[] {
  return input.map(toMessage)
}

function toMessage(message: unknown): object {
  const { role, content, tool_calls: toolCalls, tool_call_id: id, refusal }: Json = isObject(message) ? message : {}
  if (role === "tool") return { role, parts: [{ type: "tool_call_response", id, response: toResponse(content) }] }
  const parts = isArray(content) ? content.map(toPart) : []
  const text = typeof content === "string" && content !== "" ? [{ type: "text", content }] : parts
  const refused = typeof refusal === "string" ? [{ type: "refusal", content: refusal }] : []
  const calls = isArray(toolCalls) ? toolCalls.map(toCallPart) : []
  return { role: typeof role === "string" ? role : "user", parts: [...text, ...refused, ...calls] }
}

/** Joins text parts to one text. */
function toResponse(content: unknown): unknown {
  if (!isArray(content)) return content
  const texts = content.map((part) => (isObject(part) ? part["text"] : undefined))
  return texts.every((text) => typeof text === "string") ? texts.join("") : content
}

function toPart(part: unknown): object {
  const { type, text }: Json = isObject(part) ? part : {}
  return typeof text === "string"
    ? { type: "text", content: text }
    : { type: typeof type === "string" ? type : "unknown", content: part }
}

function toCallPart(call: unknown): object {
  const { id, function: fn }: Json = isObject(call) ? call : {}
  const { name, arguments: input }: Json = isObject(fn) ? fn : {}
  return { type: "tool_call", id, name, arguments: toArguments(input) }
}

/** An object if the text is JSON. */
function toArguments(input: unknown): unknown {
  if (typeof input !== "string") return input
  try {
    return parseStored(input)
  } catch {
    return input
  }
}

export function toOutputMessage({ output }: CallContent, finishReason: string | null): object {
  const { content, reasoning, refusal, toolCalls = [] } = output
  return {
    role: "assistant",
    parts: [
      ...(reasoning === "" ? [] : [{ type: "reasoning", content: reasoning }]),
      ...(content === "" ? [] : [{ type: "text", content }]),
      ...(refusal === undefined ? [] : [{ type: "refusal", content: refusal }]),
      ...toolCalls.map(({ id, name, arguments: input }) => ({
        type: "tool_call",
        id,
        name,
        arguments: toArguments(input),
      })),
    ],
    finish_reason: toFinishReason(finishReason),
  }
}

/** The convention has `tool_call` in the singular. */
function toFinishReason(finishReason: string | null): string {
  return finishReason === "tool_calls" ? "tool_call" : (finishReason ?? "error")
}

export function toDefinitions({ tools = [] }: CallContent): object[] {
  return tools.map(toDefinition)
}

/** The response as a chat message, for destinations that read those. */
export function toChatMessage({ output }: CallContent): Json {
  const { content, refusal, toolCalls = [] } = output
  return {
    role: "assistant",
    content,
    ...(refusal !== undefined && { refusal }),
    ...(toolCalls.length > 0 && {
      tool_calls: toolCalls.map(({ id, name, arguments: input }) => ({
        id,
        type: "function",
        function: { name, arguments: input },
      })),
    }),
  }
}

export function toToolCalls({ output: { toolCalls = [] } }: CallContent): object[] {
  return toolCalls.map(({ id, name, arguments: input }) => ({ id, name, arguments: input }))
}

/** The text if the response is only text; otherwise the message as JSON. */
export function toResponseText(content: CallContent): string {
  const { refusal, toolCalls = [] } = content.output
  return refusal === undefined && toolCalls.length === 0
    ? content.output.content
    : JSON.stringify(toChatMessage(content))
}
