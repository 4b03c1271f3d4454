import { isArray, isObject, type Json, objectsOf, withoutNulls } from "../../support/text/json.ts"
import { shortHash } from "../../support/hash.ts"
import { rejectedSampling } from "../chat/sampling.ts"
import { completeParameters } from "../chat/normalize/tool-parameters.ts"
import type { ChatRequest } from "../schemas.ts"
import type { UpstreamFields } from "../upstream.ts"
import { isResponsesFormat, readDetails, textOf } from "./reasoning-details.ts"
import type { ReasoningDetail } from "../reasoning-detail.ts"

/** Builds a Responses request from a chat request, for models that support it only, or tools only with it. */

const MAX_CALL_ID_LENGTH = 64
/** Fields with the same name and values in both formats. */
const SHARED = ["temperature", "top_p", "top_logprobs", "parallel_tool_calls", "prompt_cache_key"]

/** Models without the chat format, as OpenAI and Azure name them. */
const WITHOUT_CHAT =
  /^(?:gpt-\d+(?:\.\d+)?(?:-[a-z]+)*-(?:codex|pro)|codex|computer-use|o\d(?:-[a-z]+)?-(?:pro|deep-research))\b/
/** Models that reject function tools in the chat format while they reason, from GPT-5.4 on. */
const REASONS_WITH_TOOLS = /^gpt-(?:5\.(?:[4-9]|\d\d)|[6-9]|\d\d)/

/** Whether the model needs the Responses format for the request, and the format can express it. */
export function needsResponses(request: ChatRequest, upstreamId: string): boolean {
  const effort = request.reasoning_effort ?? request.reasoning?.effort
  const usesTools = (request.tools ?? []).length > 0 && effort !== "none"
  const isNeeded = WITHOUT_CHAT.test(upstreamId) || (usesTools && REASONS_WITH_TOOLS.test(upstreamId))
  return isNeeded && (request.n ?? 1) === 1 && !request.modalities?.includes("audio") && isExpressible(request)
}

function isExpressible({ messages, tools }: ChatRequest): boolean {
  const parts = messages.flatMap(({ content }) => objectsOf(content))
  const areKnown = parts.every(({ type }) => ["text", "image_url", "file", "refusal"].includes(String(type)))
  return areKnown && (tools ?? []).every(({ type }) => type === "function")
}

export function toResponsesBodyOfChat(request: ChatRequest, outgoing: UpstreamFields): Json {
  const { tools, tool_choice: choice, reasoning, service_tier: tier, top_logprobs: topLogprobs } = request
  const { maxCompletionTokens: cap, pseudonym, upstreamId } = outgoing
  const rejected = rejectedSampling(request, upstreamId)
  const shared = SHARED.filter((name) => !rejected.has(name))
  const requested = request.max_completion_tokens ?? request.max_tokens
  const thinking = withoutNulls({
    effort: request.reasoning_effort ?? reasoning?.effort,
    summary: reasoning?.summary,
  })
  const text = withoutNulls({ format: toFormat(request.response_format), verbosity: (request as Json)["verbosity"] })
  return withoutNulls({
    model: upstreamId,
    ...Object.fromEntries(shared.map((name) => [name, (request as Json)[name]])),
    input: request.messages.flatMap((message) => toItems(message)),
    tools: tools && tools.length > 0 ? tools.map(toTool) : undefined,
    tool_choice: tools && tools.length > 0 ? toChoice(choice) : undefined,
    text: Object.keys(text).length > 0 ? text : undefined,
    reasoning: Object.keys(thinking).length > 0 ? thinking : undefined,
    max_output_tokens: cap === undefined ? requested : Math.min(cap, requested ?? cap),
    service_tier: tier === "fast" ? "priority" : tier,
    safety_identifier: pseudonym,
    // The gateway promises clients that the provider stores nothing, so the reasoning has to come back with the next turn.
    store: false,
    include: [
      "reasoning.encrypted_content",
      ...(topLogprobs == null || rejected.has("top_logprobs") ? [] : ["message.output_text.logprobs"]),
    ],
    stream: request.stream,
  })
}

function toItems(message: ChatRequest["messages"][number]): Json[] {
  switch (message.role) {
    case "tool":
      return [
        { type: "function_call_output", call_id: toCallId(message.tool_call_id), output: toParts(message.content) },
      ]
    case "assistant": {
      const { content, refusal, tool_calls: calls } = message
      const parts = [
        ...toOutputParts(content),
        ...(refusal == null || refusal === "" ? [] : [{ type: "refusal", refusal }]),
      ]
      return [
        ...toReasoning(readDetails(message)),
        ...(parts.length > 0 ? [{ type: "message", role: "assistant", content: parts }] : []),
        ...(calls ?? []).map(({ id, function: { name, arguments: encoded } }) => {
          return { type: "function_call", call_id: toCallId(id), name, arguments: encoded }
        }),
      ]
    }
    default:
      return [{ type: "message", role: message.role, content: toParts(message.content) }]
  }
}

function toCallId(id: string): string {
  return id.length > MAX_CALL_ID_LENGTH ? `call_${shortHash(id)}${shortHash(`${id} `)}` : id
}

function toOutputParts(content: unknown): Json[] {
  if (typeof content === "string") return content === "" ? [] : [{ type: "output_text", text: content }]
  return objectsOf(content).map(({ type, text, refusal }) =>
    type === "refusal" ? { type, refusal } : { type: "output_text", text },
  )
}

function toParts(content: unknown): unknown {
  return isArray(content) ? objectsOf(content).map(toPart) : content
}

function toPart(part: Json): Json {
  const inside = (key: string) => (isObject(part[key]) ? part[key] : {})
  switch (part["type"]) {
    case "image_url": {
      const { url, detail } = inside("image_url")
      return { type: "input_image", image_url: url, detail: detail ?? "auto" }
    }
    case "file": {
      const { file_data: data, file_id: id, filename } = inside("file")
      const isUrl = typeof data === "string" && /^https?:\/\//i.test(data)
      if (isUrl) return { type: "input_file", file_url: data }
      return withoutNulls({ type: "input_file", file_data: data, file_id: id, filename: data && (filename ?? "file") })
    }
    default:
      return { type: "input_text", text: part["text"] ?? part["refusal"] }
  }
}

/** Reasoning of the format with its encrypted content, which the provider needs; it cannot verify any other. */
function toReasoning(details: readonly ReasoningDetail[]): Json[] {
  const sealed = details.filter(({ type, format, data }) => {
    return type === "reasoning.encrypted" && typeof data === "string" && isResponses(format)
  })
  return sealed.map(({ id, data }) => {
    const parts = details.filter((detail) => detail.type === "reasoning.summary" && detail["id"] === id)
    const summary = parts.map((detail) => ({ type: "summary_text", text: textOf(detail) }))
    return withoutNulls({ type: "reasoning", id, summary, encrypted_content: data })
  })
}

function isResponses(format: unknown): boolean {
  return typeof format === "string" && isResponsesFormat(format)
}

/** The format has strict schemas by default, the chat format does not. */
function toTool({ function: fn }: Json): Json {
  const { name, description, parameters, strict } = isObject(fn) ? fn : {}
  const schema = completeParameters(isObject(parameters) ? parameters : {})
  return withoutNulls({ type: "function", name, description, parameters: schema, strict: strict ?? false })
}

function toChoice(choice: ChatRequest["tool_choice"]): unknown {
  if (!isObject(choice)) return choice
  const { type, function: fn, allowed_tools: allowed }: Json = choice
  if (isObject(fn)) return { type, name: fn["name"] }
  if (!isObject(allowed)) return choice
  const tools = objectsOf(allowed["tools"]).map(toChoice as (tool: Json) => unknown)
  return { type, mode: allowed["mode"], tools }
}

function toFormat(format: ChatRequest["response_format"]): Json | undefined {
  if (format == null || format.type === "text") return undefined
  if (format.type !== "json_schema") return { type: format.type }
  const { name, description, schema, strict } = format.json_schema
  return withoutNulls({ type: format.type, name, description, schema: schema ?? {}, strict: strict ?? false })
}
