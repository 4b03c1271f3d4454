import { isObject, type Json, objectsOf, withoutNulls } from "../../support/text/json.ts"
import { type Conversation, toConversation, toMessagesBody } from "../messages/upstream/to-body.ts"
import type { ChatRequest } from "../schemas.ts"
import type { UpstreamFields } from "../upstream.ts"
import { type BlockContext, requireInline, toCachePoint, toContent } from "./blocks.ts"

/**
 * Builds a Converse request from the Messages translation: Converse has the same turns and blocks under other names.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
 */

/** Throws a GatewayError for a request that Converse cannot express. */
export function toConverseConversation(request: ChatRequest): Conversation {
  const conversation = toConversation(request)
  requireInline(conversation.turns)
  return conversation
}

/** Ignores region prefixes: `us.anthropic.claude-sonnet-4-5-20250929-v1:0`. */
const isClaude = (id: string) => id.includes("anthropic.claude")
const takesCachePoints = (id: string) => /anthropic\.claude|amazon\.nova/.test(id)

export function toConverseBody(request: ChatRequest, outgoing: UpstreamFields, conversation: Conversation): Json {
  const body = toMessagesBody(request, outgoing, conversation)
  const context = { takesCachePoints: takesCachePoints(outgoing.upstreamId) }
  const messages = objectsOf(body["messages"]).map(({ role, content }) => ({
    role,
    content: toContent(objectsOf(content), context),
  }))
  const system = toContent(objectsOf(body["system"]), context)
  const format = isObject(body["output_config"]) ? body["output_config"]["format"] : undefined
  const modelFields = toModelFields(request, outgoing.upstreamId, body)
  return withoutNulls({
    messages: messages.filter(({ content }) => content.length > 0),
    system: system.length > 0 ? system : undefined,
    inferenceConfig: withoutNulls({
      maxTokens: toMaxTokens(request, outgoing, body),
      temperature: body["temperature"],
      topP: body["top_p"],
      stopSequences: body["stop_sequences"],
    }),
    toolConfig: toToolConfig(body, context),
    additionalModelRequestFields: Object.keys(modelFields).length > 0 ? modelFields : undefined,
    outputConfig: isObject(format) ? toOutputConfig(format, request) : undefined,
    serviceTier: toServiceTier(request.service_tier),
  })
}

/** The Messages API requires a limit. Other models than Claude have their own limits, so none is added for them. */
function toMaxTokens(request: ChatRequest, { upstreamId, maxCompletionTokens }: UpstreamFields, body: Json): unknown {
  const isLimited = (request.max_completion_tokens ?? request.max_tokens ?? maxCompletionTokens) != null
  return isLimited || isClaude(upstreamId) ? body["max_tokens"] : undefined
}

/** Model-specific fields for which Converse has no field. */
function toModelFields(request: ChatRequest, upstreamId: string, body: Json): Json {
  if (isClaude(upstreamId)) {
    const { effort } = isObject(body["output_config"]) ? body["output_config"] : {}
    const { thinking, top_k } = body
    return withoutNulls({ thinking, top_k, output_config: effort === undefined ? undefined : { effort } })
  }
  const effort = request.reasoning_effort ?? request.reasoning?.effort
  return upstreamId.includes("openai.gpt-oss") ? withoutNulls({ reasoning_effort: effort }) : {}
}

/**
 * Converse has no tool choice `none`, and rejects tool use in turns without tool definitions. Tools are therefore
 * omitted only if the conversation does not use them, and those of the conversation are sent if the request has none.
 */
function toToolConfig(body: Json, context: BlockContext): Json | undefined {
  const { tools, tool_choice: choice } = body
  const offered = objectsOf(tools).filter((tool) => isObject(tool["input_schema"]))
  const specs = offered.length > 0 ? offered : usedTools(body["messages"])
  if (specs.length === 0) return undefined
  const type = isObject(choice) ? choice["type"] : undefined
  if (type === "none" && !usesTools(body["messages"])) return undefined
  return {
    tools: specs.flatMap((tool) => [toToolSpec(tool), ...toCachePoint(tool, context)]),
    ...(type === "auto" && { toolChoice: { auto: {} } }),
    ...(type === "any" && { toolChoice: { any: {} } }),
    ...(type === "tool" && isObject(choice) && { toolChoice: { tool: { name: choice["name"] } } }),
  }
}

function toToolSpec({ name, description, strict, input_schema: schema }: Json): Json {
  return { toolSpec: withoutNulls({ name, description, strict, inputSchema: { json: schema } }) }
}

function usedTools(messages: unknown): Json[] {
  const uses = objectsOf(messages)
    .flatMap(({ content }) => objectsOf(content))
    .filter(({ type }) => type === "tool_use")
  const names = new Set(uses.map(({ name }) => String(name)))
  return [...names].map((name) => ({ name, input_schema: { type: "object", properties: {} } }))
}

function usesTools(messages: unknown): boolean {
  return objectsOf(messages).some(({ content }) =>
    objectsOf(content).some(({ type }) => type === "tool_use" || type === "tool_result"),
  )
}

function toOutputConfig({ schema }: Json, { response_format: format }: ChatRequest): Json {
  const { name, description } = format?.type === "json_schema" ? format.json_schema : {}
  const jsonSchema = withoutNulls({ schema: JSON.stringify(schema), name, description })
  return { textFormat: { type: "json_schema", structure: { jsonSchema } } }
}

function toServiceTier(tier: ChatRequest["service_tier"]): Json | undefined {
  if (tier === "priority" || tier === "fast") return { type: "priority" }
  return tier === "flex" || tier === "default" ? { type: tier } : undefined
}
