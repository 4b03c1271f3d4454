import type { Endpoint } from "./catalogue.ts"

/** What guardrails see of a provider that serves no model: a name in place of the model, and no other attributes. */
export function plainEndpoint(slug: string, model: string, collectsData: boolean): Endpoint {
  return {
    model,
    provider: slug,
    upstreamId: slug,
    pricing: null,
    contextLength: 0,
    maxCompletionTokens: null,
    supportedParameters: [],
    quantization: null,
    zeroRetention: false,
    collectsData,
  }
}
