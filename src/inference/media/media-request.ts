import { endUserOf } from "../draft.ts"
import { GATEWAY_FIELDS, type UpstreamFields, type UpstreamRequest } from "../../formats/upstream.ts"
import type { Provider } from "../../providers/provider.ts"
import type { BillableUnits } from "../accounting/cost-bound.ts"
import { isObject, type Json, withoutNullFields } from "../../support/text/json.ts"
import type { ResponseEncoder } from "../../formats/encoder.ts"
import { UNITS_PER_TOKEN } from "../../support/tokens.ts"
import type { CallContext, InferenceRequest } from "../inference-request.ts"
import { providerStorageIn } from "../upstream/provider-storage.ts"
import type { Output } from "../../routing/plan.ts"
import type { ProviderPreferences } from "../../formats/provider-preferences.ts"
import { withoutGatewayFields } from "../../formats/chat/normalize/normalize.ts"
import { costFields, type Charge, withoutCosts } from "../../formats/usage.ts"
import { plainCall } from "../../money/price-list.ts"

type Shared = {
  model: string
  provider?: ProviderPreferences | null | undefined
  session_id?: string | null | undefined
  user?: string | null | undefined
  safety_identifier?: string | null | undefined
  trace?: Record<string, unknown> | null | undefined
} & Json

/**
 * Fields that only the gateway reads, and fields of other APIs that would make a call cost more than its hold covers:
 * other models, another payer or tier, and the number of results, of which only `n` of images is checked.
 */
const NOT_FORWARDED: ReadonlySet<string> = new Set([
  ...GATEWAY_FIELDS,
  "stream",
  "n",
  "num_images",
  "num_images_per_prompt",
  "number_of_images",
  "num_videos",
  "number_of_videos",
  "num_outputs",
  "num_samples",
  "sample_count",
  "sampleCount",
  "batch_size",
])

/** Tokens that a tokenizer adds to a text. */
export const SPECIAL_TOKENS = 16

export type MediaRequest = {
  apiType: InferenceRequest["apiType"]
  output: Output
  /** Maximum number of prompt tokens. */
  promptBound: number
  /** Prompt tokens to charge if a provider reports no count. */
  promptEstimate: number
  /** Maximum number of tokens per generated item, if the model has no limit. */
  completionBound?: number
  pieces?: BillableUnits
  /** The prompt for destinations. */
  messages: readonly unknown[] | undefined
  buildUpstreamRequest: (outgoing: UpstreamFields, provider: Provider) => UpstreamRequest
  /** Adds fields that clients require and providers omit. */
  complete?: (response: Json, charge: Charge) => Json
}

/** A request whose response is one document, normalized for the pipeline. */
export function plainRequest(request: Shared, kind: MediaRequest): InferenceRequest {
  return {
    apiType: kind.apiType,
    output: kind.output,
    routing: request,
    sessionId: request.session_id ?? null,
    conversation: null,
    signatures: [],
    user: endUserOf(request),
    trace: request.trace ?? null,
    ...(kind.messages && { messages: kind.messages }),
    providerStorage: () => providerStorageIn(request),
    bounds: {
      promptBound: kind.promptBound,
      pieces: kind.pieces ?? { images: 0 },
      priced: plainCall(),
      promptLimit: "none",
      promptEstimate: kind.promptEstimate,
      completionBound: ({ endpoint }) => endpoint.maxCompletionTokens ?? kind.completionBound ?? 0,
      choices: kind.pieces?.pictures ?? 1,
      isIndivisible: true,
      isAssumed: () => false,
    },
    upstream: {
      streamed: false,
      buildUpstreamRequest: (provider, outgoing) =>
        withoutRejected(kind.buildUpstreamRequest(outgoing, provider), provider),
    },
    encoderFor: (call) => plainEncoder(call, kind.complete ?? ((response) => response)),
  }
}

/** The request without the fields that the provider rejects. */
export function withoutRejected(request: UpstreamRequest, { quirks: { rejects = [] } }: Provider): UpstreamRequest {
  const { body, form } = request
  if (!rejects.some((name) => name in body)) return request
  for (const name of rejects) form?.delete(name)
  return { ...request, body: Object.fromEntries(Object.entries(body).filter(([name]) => !rejects.includes(name))) }
}

/** The request to send upstream: the client's fields without those that providers must not read. */
export function forwardedFields(request: Json, { upstreamId, pseudonym }: UpstreamFields): Json {
  return {
    ...Object.fromEntries(Object.entries(request).filter(([key, value]) => !NOT_FORWARDED.has(key) && value != null)),
    model: upstreamId,
    ...(pseudonym !== undefined && { user: pseudonym }),
  }
}

export function tokensIn(text: string): number {
  return Math.ceil(text.length / UNITS_PER_TOKEN)
}

const noText = () => []

/** Encoder functions of an endpoint that never streams. */
export const UNSTREAMED: Omit<ResponseEncoder, "document"> = {
  isStateless: false,
  open: noText,
  chunk: noText,
  heartbeat: noText,
  failure: noText,
  end: noText,
}

/** The provider's response with its cost and provider. */
function plainEncoder(call: CallContext, complete: NonNullable<MediaRequest["complete"]>): ResponseEncoder {
  return {
    ...UNSTREAMED,
    document(result, reported, charge) {
      // Strict clients accept an absent field where some providers send null.
      const response = withoutNullFields(withoutGatewayFields(complete(result, charge))) as Json
      const usage = isObject(response["usage"]) ? response["usage"] : {}
      return {
        ...response,
        model: reported.model,
        usage: { ...withoutCosts(usage), ...costFields(charge) },
        provider: reported.provider,
        ...(call.meta.wantsMetadata && call.metadata(reported.attempts)),
      }
    },
  }
}
