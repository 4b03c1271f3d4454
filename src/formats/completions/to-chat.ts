import { GatewayError } from "../../errors/errors.ts"
import type { ChatRequest } from "../schemas.ts"
import type { CompletionsRequest } from "./schemas.ts"

/** Fields that only a provider with this format can serve. */
const NATIVE_FIELDS = ["suffix", "echo"] as const

/** Why a provider without the completions format cannot serve the request; undefined if it can. */
export function unsupportedField(request: CompletionsRequest): GatewayError | undefined {
  const field = NATIVE_FIELDS.find((name) => Boolean(request[name]))
  const rule = "a provider with the completions format, and none of the remaining ones has it"
  if (Array.isArray(request.prompt)) {
    return new GatewayError("invalid_request", `prompt: several prompts need ${rule}. Send a request for each prompt.`)
  }
  return field === undefined ? undefined : new GatewayError("invalid_request", `${field}: needs ${rule}.`)
}

/** The prompt as the message of a user. Throws if the request has fields that the chat format cannot express. */
export function toChatRequest(request: CompletionsRequest): ChatRequest {
  const unsupported = unsupportedField(request)
  if (unsupported) throw unsupported
  return asChatRequest(request, promptsOf(request))
}

export function promptsOf({ prompt }: CompletionsRequest): readonly string[] {
  return Array.isArray(prompt) ? prompt : [prompt]
}

/** The fields of the request with these texts as its messages. */
export function asChatRequest(request: CompletionsRequest, texts: readonly string[]): ChatRequest {
  const { prompt: _, suffix: _suffix, echo: _echo, best_of: _bestOf, logprobs, ...shared } = request
  const { messages: _messages, tools: _tools, tool_choice: _choice, stop_server_tools_when: _stops, ...rest } = shared
  return {
    ...rest,
    messages: texts.map((content) => ({ role: "user", content })),
    ...(logprobs != null && { logprobs: true, top_logprobs: logprobs }),
  }
}
