import type { Json } from "../../support/text/json.ts"
import { type UpstreamFields, GATEWAY_FIELDS } from "../upstream.ts"
import { isClientTool } from "../tools/client-tools.ts"
import { isGatewayBlob } from "./opaque-blob.ts"
import { isKnown } from "./input-schemas.ts"
import { isResponsesFormat, GATEWAY_ID_PREFIX } from "./reasoning-details.ts"
import type { ResponsesRequest } from "./schemas.ts"
import { withoutNulls } from "../../support/text/json.ts"

/** Fields of this format that have another name in the chat format. */
const PASSED = new Set(["reasoning", "service_tier"])
const NOT_PASSED = new Set([
  "input",
  "background",
  "max_output_tokens",
  "max_tool_calls",
  "reasoning_effort",
  "stream_options",
])

/** The body for a provider of the Responses format: the client's fields without those that only the gateway reads. */
export function toResponsesBody(request: ResponsesRequest, outgoing: UpstreamFields): Json {
  const body: Json = { model: outgoing.upstreamId }
  for (const [key, value] of Object.entries(request)) {
    if ((!GATEWAY_FIELDS.has(key) || PASSED.has(key)) && !NOT_PASSED.has(key) && value != null) body[key] = value
  }
  const { input, max_output_tokens: maxOutputTokens, reasoning, service_tier: tier } = request
  const { maxCompletionTokens: cap, pseudonym } = outgoing
  const limit = cap === undefined ? maxOutputTokens : Math.min(cap, maxOutputTokens ?? cap)
  const effort = reasoning?.effort ?? request.reasoning_effort
  // Limits the provider's tools. Client tools end a response, so it has no effect on them.
  const runsTools = request.tools?.some(({ type }) => !isClientTool(type)) === true
  return {
    ...body,
    input: typeof input === "string" ? input : input.flatMap(toItem),
    // The gateway promises clients that the provider stores nothing.
    store: false,
    ...withoutNulls({
      max_output_tokens: limit,
      max_tool_calls: runsTools ? request.max_tool_calls : undefined,
      reasoning: reasoning || effort != null ? withoutNulls({ ...reasoning, effort }) : undefined,
      service_tier: tier === "fast" ? "priority" : tier,
      safety_identifier: pseudonym,
    }),
  }
}

/** Items of the gateway's server tools. Types of the provider's tool items have no prefix. */
const GATEWAY_ITEM = /^(?:service|openrouter):/

/**
 * Drops reasoning translated from other formats: the provider would reject its ids and signatures.
 */
function toItem(item: Exclude<ResponsesRequest["input"], string>[number]): Json[] {
  if (!isKnown(item)) return GATEWAY_ITEM.test(item.type) ? [] : [item]
  if (item.type !== "reasoning") return [item]
  const { format, signature, content, ...rest } = item
  const { encrypted_content: encrypted, id } = item
  const isForeign = signature != null || isGatewayBlob(encrypted) || !isResponsesFormat(format)
  if (isForeign || encrypted == null || id?.startsWith(GATEWAY_ID_PREFIX)) return []
  return [{ ...withoutNulls(rest), ...(content?.length && { content }) }]
}
