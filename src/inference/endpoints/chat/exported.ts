import { withoutCredentials } from "../../../formats/tools/tool-credentials.ts"
import type { ChatRequest } from "../../../formats/schemas.ts"
import type { RequestParameters } from "../../../ledger/generation.ts"
import type { ExportedRequest } from "../../../observability/context.ts"

const MAX_STOP_LENGTH = 256

/** The fields of a request, except its messages, that destinations receive. */
export function exportedRequestOf(request: ChatRequest): ExportedRequest {
  return { parameters: parametersOf(request), tools: (request.tools ?? []).map((tool) => withoutCredentials(tool)) }
}

function parametersOf(request: ChatRequest): RequestParameters {
  const { stop, response_format: format, reasoning } = request
  const stops = typeof stop === "string" ? [stop] : (stop ?? [])
  const parameters = {
    temperature: request.temperature,
    top_p: request.top_p,
    top_k: request.top_k,
    frequency_penalty: request.frequency_penalty,
    presence_penalty: request.presence_penalty,
    max_tokens: request.max_completion_tokens ?? request.max_tokens,
    seed: request.seed,
    choices: request.n,
    effort: request.reasoning_effort ?? reasoning?.effort,
    stop: stops.length > 0 ? stops.map((text) => text.slice(0, MAX_STOP_LENGTH)) : undefined,
    output: format ? (format.type === "text" ? "text" : "json") : undefined,
  }
  const set = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null)
  return Object.fromEntries(set)
}
