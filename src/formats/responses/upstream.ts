import type { Json } from "../../support/json.ts"
import { type UpstreamFields, OWN_FIELDS } from "../upstream.ts"
import { isGatewayBlob } from "./opaque-blob.ts"
import { withoutNulls } from "./content.ts"
import { isKnown } from "./input-schemas.ts"
import { isResponsesFormat, OWN_ID_PREFIX } from "./reasoning-details.ts"
import type { ResponsesRequest } from "./schemas.ts"

/** Fields of this format that the chat body spells differently. */
const PASSED = new Set(["reasoning", "service_tier"])
const NOT_PASSED = new Set([
  "input",
  "background",
  "max_output_tokens",
  "max_tool_calls",
  "safety_identifier",
  "reasoning_effort",
  "stream_options",
])

/** The body for a provider that speaks the Responses wire: the caller's, less what is ours. */
export function toResponsesBody(request: ResponsesRequest, outgoing: UpstreamFields): Json {
  const body: Json = { model: outgoing.upstreamId }
  for (const [key, value] of Object.entries(request)) {
    if ((!OWN_FIELDS.has(key) || PASSED.has(key)) && !NOT_PASSED.has(key) && value != null) body[key] = value
  }
  const { input, max_output_tokens: requested, reasoning, service_tier: tier } = request
  const { maxCompletionTokens: cap, pseudonym } = outgoing
  const limit = cap === undefined ? requested : Math.min(cap, requested ?? cap)
  const effort = reasoning?.effort ?? request.reasoning_effort
  return {
    ...body,
    input: typeof input === "string" ? input : input.flatMap(toItem),
    // The gateway promises clients that the provider stores nothing.
    store: false,
    ...withoutNulls({
      max_output_tokens: limit,
      reasoning: reasoning || effort != null ? withoutNulls({ ...reasoning, effort }) : undefined,
      service_tier: tier === "fast" ? "priority" : tier,
      safety_identifier: pseudonym,
    }),
  }
}

/** What the gateway's own tools did: the provider's own such items have names without a prefix. */
const OWN_ITEM = /^(?:service|openrouter):/

/**
 * Reasoning that another wire's answer was made into would be refused: its ids and its signatures are not this one's.
 */
function toItem(item: Exclude<ResponsesRequest["input"], string>[number]): Json[] {
  if (!isKnown(item)) return OWN_ITEM.test(item.type) ? [] : [item]
  if (item.type !== "reasoning") return [item]
  const { format, signature, content, ...rest } = item
  const { encrypted_content: encrypted, id } = item
  const isForeign = signature != null || isGatewayBlob(encrypted) || !isResponsesFormat(format)
  if (isForeign || encrypted == null || id?.startsWith(OWN_ID_PREFIX)) return []
  return [{ ...withoutNulls(rest), ...(content?.length && { content }) }]
}
