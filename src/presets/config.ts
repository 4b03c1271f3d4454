import * as z from "zod"
import { GatewayError } from "../errors/errors.ts"
import { MessagesRequest } from "../formats/messages/schemas.ts"
import { toChatRequest as fromMessages } from "../formats/messages/to-chat.ts"
import { ResponsesRequest } from "../formats/responses/schemas.ts"
import { toChatRequest as fromResponses } from "../formats/responses/to-chat.ts"
import { ChatRequest } from "../formats/schemas.ts"
import { cacheSeconds } from "../workspaces/schemas.ts"

/**
 * A preset stores its config in the field names of chat, whichever API format created it. Fields about the content of a
 * call, its user or its delivery cannot be preset.
 */
export const PRESET_FIELDS = [
  "model",
  "models",
  "max_tokens",
  "temperature",
  "top_p",
  "top_k",
  "top_a",
  "min_p",
  "frequency_penalty",
  "presence_penalty",
  "repetition_penalty",
  "seed",
  "stop",
  "reasoning",
  "response_format",
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "stop_server_tools_when",
  "plugins",
  "provider",
  "service_tier",
] as const

export type PresetConfig = Partial<Pick<ChatRequest, (typeof PRESET_FIELDS)[number]>> & {
  /** How long responses are cached. Not part of any request. */
  response_cache_seconds?: number
}
export type PresetContent = { config: PresetConfig; systemPrompt: string | null }

type Shape = Record<string, z.ZodType>
/** These fields of a request, all optional; other fields are ignored, whatever their value. */
function bodyOf<T extends Shape, K extends keyof T & string>(shape: T, names: readonly K[]) {
  const picked = Object.fromEntries(names.map((name) => [name, shape[name]])) as Pick<T, K>
  return z.object(picked).partial()
}

const settings = {
  response_cache_seconds: cacheSeconds.meta({
    description: "How long responses are cached; no request has this field. null: the workspace's setting.",
  }),
}

const SHARED = [
  "model",
  "models",
  "temperature",
  "top_p",
  "top_k",
  "top_a",
  "min_p",
  "frequency_penalty",
  "presence_penalty",
  "repetition_penalty",
  "seed",
  "stop_server_tools_when",
  "plugins",
  "provider",
  "service_tier",
  "tools",
  "tool_choice",
] as const

export const ChatPreset = bodyOf(ChatRequest.shape, [
  ...SHARED,
  "max_tokens",
  "max_completion_tokens",
  "stop",
  "reasoning",
  "reasoning_effort",
  "response_format",
  "parallel_tool_calls",
])
  .extend({
    ...settings,
    system_prompt: z
      .string({ error: "must be a string" })
      .nullish()
      .meta({ description: "Comes before the messages of each call. Chat requests themselves have no such field." }),
  })
  .meta({ id: "ChatPreset" })

export const ResponsesPreset = bodyOf(ResponsesRequest.shape, [
  ...SHARED,
  "instructions",
  "max_output_tokens",
  "reasoning",
  "reasoning_effort",
  "parallel_tool_calls",
  "text",
])
  .extend(settings)
  .meta({ id: "ResponsesPreset" })

export const MessagesPreset = bodyOf(MessagesRequest.shape, [
  ...SHARED,
  "system",
  "max_tokens",
  "stop_sequences",
  "thinking",
  "output_config",
])
  .extend(settings)
  .meta({ id: "MessagesPreset" })

export function chatContent({ system_prompt: prompt, ...body }: z.infer<typeof ChatPreset>): PresetContent {
  return { config: toConfig(body), systemPrompt: prompt || null }
}

export function responsesContent(body: z.infer<typeof ResponsesPreset>): PresetContent {
  const { instructions, response_cache_seconds: cached, ...message } = body
  const chat = fromResponses({ ...message, input: "", stream: false })
  return {
    config: toConfig({ ...chat, response_cache_seconds: cached }),
    systemPrompt: instructions || null,
  }
}

export function messagesContent(body: z.infer<typeof MessagesPreset>): PresetContent {
  const { system, max_tokens: maxTokens, response_cache_seconds: cached, ...message } = body
  const chat = fromMessages({ ...message, max_tokens: 1, messages: [{ role: "user", content: "" }], stream: false })
  const prompt = typeof system === "string" ? system : (system ?? []).map(({ text }) => text).join("\n\n")
  const config = toConfig({ ...chat, max_tokens: maxTokens, response_cache_seconds: cached })
  return { config, systemPrompt: prompt || null }
}

type Fields = Omit<PresetConfig, "model" | "response_cache_seconds"> &
  Partial<Pick<ChatRequest, "model" | "max_completion_tokens" | "reasoning_effort">> & {
    response_cache_seconds?: number | null | undefined
  }

/** Merges fields with two names into one, and drops fields without effect. */
function toConfig(message: Fields): PresetConfig {
  const { reasoning, reasoning_effort: effort } = message
  if (effort != null && reasoning?.effort != null && effort !== reasoning.effort) {
    throw new GatewayError("invalid_request", "reasoning_effort: differs from reasoning.effort; send one of them.")
  }
  if ([message.model, ...(message.models ?? [])].some((name) => name?.includes("@preset/"))) {
    throw new GatewayError("invalid_request", "model: must be a model; a preset cannot name another preset.")
  }
  const all: Fields = {
    ...message,
    max_tokens: message.max_completion_tokens ?? message.max_tokens,
    reasoning: effort == null ? reasoning : { ...reasoning, effort },
    // Clients always send it; "auto" is the default anyway.
    service_tier: message.service_tier === "auto" ? undefined : message.service_tier,
  }
  const fields = [...PRESET_FIELDS, "response_cache_seconds" as const]
    .filter((name) => all[name] != null)
    .map((name) => [name, all[name]] as const)
  return Object.fromEntries(fields)
}
