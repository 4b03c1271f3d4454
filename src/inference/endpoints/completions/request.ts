import type { CompletionsRequest } from "../../../formats/completions/schemas.ts"
import { asChatRequest, unsupportedField, promptsOf } from "../../../formats/completions/to-chat.ts"
import { completionsTranslation } from "../../../formats/completions/upstream.ts"
import { chatReader } from "../../../formats/readers/chat.ts"
import type { UpstreamFields, UpstreamRequest } from "../../../formats/upstream.ts"
import type { Provider } from "../../../providers/provider.ts"
import { toUpstreamBody } from "../../../providers/upstream-request.ts"
import type { InferenceRequest } from "../../inference-request.ts"
import { maxTokensIn } from "../../../support/tokens.ts"
import { chatRequest } from "../chat/request.ts"
import { completionsEncoder } from "./encoder.ts"

/**
 * Normalizes a text completion. A provider with this format receives the prompt as it is, others receive it as the
 * message of a user.
 */
export function completionsRequest(request: CompletionsRequest, bodyBytes: number): InferenceRequest {
  const { suffix, n } = request
  const prompts = promptsOf(request)
  const texts = suffix ? prompts.flatMap((prompt) => [prompt, suffix]) : prompts
  const logged = chatRequest(asChatRequest(request, texts), bodyBytes)
  const { upstream, bounds } = logged
  const unsupported = unsupportedField(request)
  return {
    ...logged,
    bounds: {
      ...bounds,
      // The body has the suffix once, the provider reads it with each prompt.
      promptBound: bounds.promptBound + (prompts.length - 1) * maxTokensIn(suffix ?? ""),
      choices: prompts.length * (n ?? 1),
      // Each prompt can be as long as the context.
      ...(prompts.length > 1 && { promptLimit: "none" }),
    },
    upstream: {
      streamed: request.stream,
      buildUpstreamRequest(provider, outgoing) {
        const path = pathAt(provider, request)
        if (path === undefined) return upstream.buildUpstreamRequest(provider, outgoing)
        return toUpstream(request, path, provider, outgoing)
      },
      unsupportedReason: (provider) =>
        pathAt(provider, request) === undefined ? (unsupported ?? upstream.unsupportedReason?.(provider)) : undefined,
    },
    encoderFor: (call) => completionsEncoder(request, call),
  }
}

/** Path of the completions API that takes the request; undefined at a provider without one. */
function pathAt({ completions }: Provider, { suffix }: CompletionsRequest): string | undefined {
  if (completions === "text") return "/completions"
  return completions === "fim" && suffix ? "/fim/completions" : undefined
}

function toUpstream(
  request: CompletionsRequest,
  path: string,
  provider: Provider,
  outgoing: UpstreamFields,
): UpstreamRequest {
  const { prompt, suffix, echo, logprobs } = request
  const chat = asChatRequest(request, [])
  const { messages: _, top_logprobs: _top, logprobs: _logprobs, ...shared } = toUpstreamBody(chat, provider, outgoing)
  const { max_completion_tokens: limit, ...rest } = shared
  const body = {
    ...rest,
    // The format has only this limit.
    ...(limit !== undefined && { max_tokens: limit }),
    prompt,
    ...(suffix != null && { suffix }),
    ...(echo != null && { echo }),
    ...(logprobs != null && { logprobs }),
  }
  return { reader: chatReader, path, body, translate: completionsTranslation }
}
