import { type UpstreamRequest, type UpstreamFields, GATEWAY_FIELDS } from "../formats/upstream.ts"
import { isArray } from "../support/text/json.ts"
import { isReasoningModel, rejectedSampling } from "../formats/chat/sampling.ts"
import { completeTools } from "../formats/chat/normalize/tool-parameters.ts"
import type { ChatRequest } from "../formats/schemas.ts"
import { withoutExtensions } from "./extensions.ts"
import { toUpstreamMessages } from "./upstream-messages.ts"
import type { Provider } from "./provider.ts"

/** Output limits and numbers of choices of other APIs: with them, a call could generate more than its hold covers. */
const UNHELD_FIELDS: ReadonlySet<string> = new Set([
  "max_output_tokens",
  "max_new_tokens",
  "n_predict",
  "num_predict",
  "best_of",
  "num_return_sequences",
  "candidate_count",
])

/** Fields of the request that determine what a call can cost, and how its response is read. */
const HELD_FIELDS: ReadonlySet<string> = new Set([
  ...UNHELD_FIELDS,
  "model",
  "messages",
  "input",
  "prompt",
  "stream",
  "stream_options",
  "max_tokens",
  "max_completion_tokens",
  "n",
  "service_tier",
])

/** Whether a call is held and charged by the field, so that no configuration may add it. */
export function isHeldField(name: string): boolean {
  return HELD_FIELDS.has(name)
}

/** The request with the provider's default fields. A form has none. */
export function withDefaultFields<T extends Pick<UpstreamRequest, "body" | "form">>(request: T, { body }: Provider): T {
  return body && !request.form ? { ...request, body: { ...body, ...request.body } } : request
}

const FOR_TOOLS: ReadonlySet<string> = new Set(["tools", "tool_choice", "parallel_tool_calls"])

/** The body for a provider of the chat format: without fields of the gateway, adapted to the provider's quirks. */
export function toUpstreamBody(
  request: ChatRequest,
  provider: Provider,
  outgoing: UpstreamFields,
): Record<string, unknown> {
  const { quirks } = provider
  const body: Record<string, unknown> = { model: outgoing.upstreamId }
  const hasTools = !isArray(request.tools) || request.tools.length > 0
  const rejected = quirks.samplesWithoutReasoning && rejectedSampling(request, outgoing.upstreamId)
  for (const [key, value] of Object.entries(request)) {
    if (GATEWAY_FIELDS.has(key) || UNHELD_FIELDS.has(key) || rejected?.has(key)) continue
    // Providers reject an empty list of tools, and what is only for tools.
    if (!hasTools && FOR_TOOLS.has(key)) continue
    if (value !== null && value !== undefined) body[key] = value
  }
  if (request.stream && !quirks.noStreamOptions) {
    body["stream_options"] = { ...request.stream_options, include_usage: true }
  }
  body["messages"] = toUpstreamMessages(request.messages, provider, outgoing.upstreamId)
  if (request.tools && hasTools) body["tools"] = completeTools(request.tools)
  if (quirks.seedField && body["seed"] !== undefined) {
    body[quirks.seedField] = body["seed"]
    delete body["seed"]
  }
  setOutputLimit(body, request, provider, outgoing.maxCompletionTokens)
  setReasoning(body, request, provider)
  if (request.service_tier != null)
    body["service_tier"] = request.service_tier === "fast" ? "priority" : request.service_tier
  if (outgoing.pseudonym !== undefined) body["user"] = outgoing.pseudonym
  for (const name of quirks.rejects ?? []) delete body[name]
  return quirks.isStrict ? withoutExtensions(body, quirks) : body
}

function setOutputLimit(
  body: Record<string, unknown>,
  { max_tokens: old, max_completion_tokens: maxCompletionTokens }: ChatRequest,
  { quirks }: Provider,
  cap: number | undefined,
): void {
  const requestedMax = maxCompletionTokens ?? old
  const limit = cap === undefined ? requestedMax : Math.min(cap, requestedMax ?? cap)
  if (limit == null) return
  const isNew = maxCompletionTokens != null || isReasoningModel(String(body["model"]))
  body[quirks.maxTokensField ?? (isNew ? "max_completion_tokens" : "max_tokens")] = limit
}

function setReasoning(body: Record<string, unknown>, request: ChatRequest, { quirks }: Provider): void {
  const effort = request.reasoning_effort ?? request.reasoning?.effort
  const { effort: _, ...further } = request.reasoning ?? {}
  const hasFurther = Object.values(further).some((value) => value !== null && value !== undefined)
  if (quirks.hasThinkingSwitch && (effort === "none" || further["enabled"] === false)) {
    body["thinking"] ??= { type: "disabled" }
    return
  }
  // Model servers read only `reasoning_effort`; servers that read both accept the same effort in both.
  if (hasFurther && !quirks.isStrict) body["reasoning"] = { ...further, ...(effort != null && { effort }) }
  if (effort != null) body["reasoning_effort"] = effort
}

/** The headers with the provider's key, if it has one. Clouds use other headers (cloud/access.ts). */
export function credentialHeader({ apiKey, keyHeader, cloud, headers }: Provider): Record<string, string> {
  if (apiKey === undefined || cloud) return { ...headers }
  return { ...headers, [keyHeader]: keyHeader === "authorization" ? `Bearer ${apiKey}` : apiKey }
}

/** The request to a provider. No header of the client is forwarded. */
export function upstreamInit(
  request: Pick<UpstreamRequest, "headers" | "body" | "form">,
  isStreamed: boolean,
  provider: Provider,
  signal: AbortSignal,
): Omit<RequestInit, "headers"> & { headers: Record<string, string>; body: string | FormData } {
  const headers = {
    accept: isStreamed ? "text/event-stream" : "application/json",
    "accept-encoding": "identity",
    "user-agent": "edge-model-gateway",
    // A form sets its own content type, with the boundary of its parts.
    ...(!request.form && { "content-type": "application/json" }),
    ...request.headers,
    ...credentialHeader(provider),
  }
  const body = request.form ?? JSON.stringify(request.body)
  // Do not follow redirects: they would send the key to another host.
  return { method: "POST", headers, body, redirect: "manual", signal }
}
