import type { Endpoint } from "./catalogue.ts"

/** Endpoint that guardrails check for a provider without models: it has a name in place of a model, and no attributes. */
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
