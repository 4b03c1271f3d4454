import { GatewayError } from "../../errors/errors.ts"
import type { Json } from "../../support/text/json.ts"
import type { ChatRequest } from "../schemas.ts"
import { toChatName } from "../tools/tool-aliases.ts"
import { toMessages } from "./messages.ts"
import type { MessagesRequest } from "./schemas.ts"
import { withoutNulls } from "../../support/text/json.ts"

/**
 * Fields that are translated separately, or that only Anthropic's service reads. The chat format does not have them.
 */
const GATEWAY_FIELDS = [
  "max_tokens",
  "metadata",
  "output_config",
  "stop_sequences",
  "system",
  "thinking",
  "tool_choice",
  "tools",
  "betas",
  "billing_policy",
  "container",
  "context_management",
  "diagnostics",
  "fallback_credit_token",
  "fallbacks",
  "inference_geo",
  "mcp_servers",
  "n",
  "output_format",
  "safeguards",
  "speed",
  "stream_options",
  "thread",
  "user_profile_id",
  "workspace_id",
]

/** Translates the request to the chat format. Throws for content blocks that it cannot express. */
export function toChatRequest(request: MessagesRequest): ChatRequest {
  const { output_config: config, metadata, tool_choice: choice, service_tier: tier } = request
  if (request["compaction"] != null) {
    throw new GatewayError(
      "invalid_request",
      "compaction: needs a provider of this format, and none of the remaining ones is.",
    )
  }
  const shared: Json = { ...request }
  for (const name of GATEWAY_FIELDS) delete shared[name]
  const isOneAtATime = choice?.["disable_parallel_tool_use"] === true
  const chat: Json = {
    ...shared,
    messages: toMessages(request),
    // Some model servers ignore the newer name.
    max_tokens: request.max_tokens,
    ...withoutNulls({
      stop: request.stop_sequences,
      tools: request.tools?.map(toTool),
      tool_choice: toToolChoice(choice),
      parallel_tool_calls: isOneAtATime ? false : undefined,
      reasoning: toReasoning(request),
      response_format: toResponseFormat(config?.format),
      // `metadata.user_id` identifies the same end user.
      user: request.user ?? metadata?.user_id,
      service_tier: tier === "standard_only" ? "default" : tier,
    }),
  }
  return chat as ChatRequest
}

type Tool = NonNullable<MessagesRequest["tools"]>[number]
type CustomTool = Extract<Tool, { input_schema: unknown }>

export function isCustomTool(tool: Tool): tool is CustomTool {
  return tool.type == null || tool.type === "custom"
}

/** A tool defined by its type stays unchanged: the pipeline runs or rejects it. */
function toTool(tool: Tool): Json {
  if (!isCustomTool(tool)) return tool
  const { name, description, input_schema: parameters, strict, cache_control: mark } = tool
  const fn = withoutNulls({ name: toChatName(name), description, parameters, strict })
  return { type: "function", function: fn, ...withoutNulls({ cache_control: mark }) }
}

function toToolChoice(choice: MessagesRequest["tool_choice"]): unknown {
  if (choice == null) return undefined
  if (choice.type === "any") return "required"
  return choice.type === "tool" ? { type: "function", function: { name: toChatName(choice.name) } } : choice.type
}

/** Disabled thinking becomes `effort: "none"`; thinking only between tools becomes the lowest effort. */
function toReasoning({ thinking, output_config: config }: MessagesRequest): Json | undefined {
  const effort = config?.effort ?? undefined
  switch (thinking?.type) {
    case undefined:
      return effort === undefined ? undefined : { effort }
    case "disabled":
      return { effort: "none" }
    case "between_tools":
      return { effort: "minimal" }
    case "adaptive":
      return withoutNulls({ enabled: true, effort })
    case "enabled":
      return withoutNulls({ max_tokens: thinking.budget_tokens, effort })
  }
}

type Format = NonNullable<MessagesRequest["output_config"]>["format"]

/** The chat format requires a name. */
const FORMAT_NAME = "answer"

function toResponseFormat(format: Format): Json | undefined {
  if (format == null) return undefined
  return { type: "json_schema", json_schema: { name: FORMAT_NAME, schema: format.schema, strict: true } }
}
