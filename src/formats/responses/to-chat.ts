import { type Json, objectsOf, withoutNulls } from "../../support/text/json.ts"
import type { ChatRequest } from "../schemas.ts"
import { toMessages } from "./messages.ts"
import type { ResponsesRequest } from "./schemas.ts"
import { chatNameOf, toFunction } from "./tool-names.ts"

/** Fields that are translated separately, or that only the gateway reads. The chat format does not have them. */
const GATEWAY_FIELDS = [
  "input",
  "instructions",
  "max_output_tokens",
  "max_tool_calls",
  "text",
  "tools",
  "tool_choice",
  "truncation",
  "include",
  "store",
  "background",
  "previous_response_id",
  "prompt",
  "messages",
  "response_format",
  "n",
  "stream_options",
  "safety_identifier",
  "client_metadata",
  "context_management",
  "conversation",
]

/** Translates the request to the chat format. Throws for items of `input` that it cannot express. */
export function toChatRequest(request: ResponsesRequest): ChatRequest {
  const { text, tools, tool_choice: toolChoice, top_logprobs: topLogprobs, reasoning } = request
  const format = toResponseFormat(text?.format)
  const shared: Json = { ...request }
  for (const name of GATEWAY_FIELDS) delete shared[name]
  const chat: Json = {
    ...shared,
    messages: toMessages(request),
    ...withoutNulls({
      // Some model servers ignore the newer name.
      max_tokens: request.max_output_tokens,
      response_format: format,
      verbosity: text?.verbosity,
      tools: tools?.flatMap((one) => toTools(one)),
      tool_choice: toToolChoice(toolChoice),
      // `safety_identifier` identifies the same end user.
      user: request.user ?? request.safety_identifier,
      reasoning: reasoning == null ? undefined : withoutNulls(reasoning),
      logprobs: topLogprobs == null && !request.include?.includes("message.output_text.logprobs") ? undefined : true,
    }),
  }
  return chat as ChatRequest
}

type Format = NonNullable<NonNullable<ResponsesRequest["text"]>["format"]>

/** `text` is the default and is omitted: it would exclude endpoints that do not support formats. */
function toResponseFormat(format: Format | null | undefined): Json | undefined {
  if (format == null || format.type === "text") return undefined
  if (format.type === "json_object") return { type: "json_object" }
  const { type, ...schema } = format
  return { type, json_schema: withoutNulls(schema) }
}

type Tool = NonNullable<ResponsesRequest["tools"]>[number]
type FunctionTool = Extract<Tool, { name: string }>

export function isFunctionTool(tool: Tool): tool is FunctionTool {
  return tool.type === "function"
}

/** Tool execution modes of the Responses format, which the chat format does not have. */
const TOOL_MODES = ["async", "defer_loading"]

/** Expands a namespace to its tools. Server tools stay unchanged: the pipeline runs or rejects them. */
function toTools(tool: Tool, namespace?: string): Json[] {
  if (tool.type === "custom") return [toFunction(tool, namespace)]
  if (tool.type === "namespace" && Array.isArray(tool["tools"])) {
    const { name }: Json = tool
    return (tool["tools"] as Tool[]).flatMap((member) => toTools(member, String(name)))
  }
  return [isFunctionTool(tool) ? toTool(tool, namespace) : tool]
}

function toTool(tool: FunctionTool, namespace?: string): Json {
  const { type, name, description, parameters, strict, ...rest } = tool
  const further = Object.entries(rest).filter(([key]) => !TOOL_MODES.includes(key))
  return {
    ...withoutNulls(Object.fromEntries(further)),
    type,
    function: withoutNulls({ name: chatNameOf(name, namespace), description, parameters, strict }),
  }
}

function toToolChoice(choice: ResponsesRequest["tool_choice"]): unknown {
  if (choice == null || typeof choice === "string") return choice
  if (choice.type === "function" || choice.type === "custom")
    return { type: "function", function: { name: choice["name"] } }
  if (choice.type !== "allowed_tools") return choice
  const allowed = objectsOf(choice["tools"]).map((tool) =>
    tool["type"] === "function" ? { type: "function", function: { name: tool["name"] } } : tool,
  )
  return { type: "allowed_tools", allowed_tools: { mode: choice["mode"], tools: allowed } }
}
