import { GatewayError } from "../../errors/errors.ts"
import type { ChatRequest } from "../schemas.ts"
import type { CompletionsRequest } from "./schemas.ts"

/** Fields that only a provider with this format can serve. */
const NATIVE_FIELDS = ["suffix", "echo"] as const

/** Why a provider without the completions format cannot serve the request; undefined if it can. */
export function chatRefusal(request: CompletionsRequest): GatewayError | undefined {
  const field = NATIVE_FIELDS.find((name) => Boolean(request[name]))
  if (field === undefined) return undefined
  const rule = "needs a provider with the completions format, and none of the remaining ones has it"
  return new GatewayError("invalid_request", `${field}: ${rule}.`)
}

/** The prompt as the message of a user. Throws if the request has fields that the chat format cannot express. */
export function toChatRequest(request: CompletionsRequest): ChatRequest {
  const refusal = chatRefusal(request)
  if (refusal) throw refusal
  return asChatRequest(request, request.prompt)
}

/** The fields of the request with `content` as its message. */
export function asChatRequest(request: CompletionsRequest, content: string): ChatRequest {
  const { prompt: _, suffix: _suffix, echo: _echo, best_of: _bestOf, logprobs, ...shared } = request
  const { messages: _messages, tools: _tools, tool_choice: _choice, stop_server_tools_when: _stops, ...rest } = shared
  return {
    ...rest,
    messages: [{ role: "user", content }],
    ...(logprobs != null && { logprobs: true, top_logprobs: logprobs }),
  }
}
