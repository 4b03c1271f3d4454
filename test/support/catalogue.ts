import type { Endpoint, Model } from "../../src/models/catalogue.ts"
import type { Provider } from "../../src/providers/provider.ts"

/** Parts of a catalogue for tests that need no Worker, with ordinary values for fields that a test does not set. */

export function newProvider(slug: string, more: Partial<Provider> = {}): Provider {
  const ordinary = { baseUrl: "http://x", format: "openai" as const, keyHeader: "authorization", quirks: {} }
  return { slug, name: slug, ...ordinary, ...more }
}

export function newEndpoint(model: string, provider: string, more: Partial<Endpoint> = {}): Endpoint {
  return {
    model,
    provider,
    upstreamId: "m",
    pricing: { prompt: "0.000001", completion: "0.000002" },
    contextLength: 1_000,
    maxCompletionTokens: null,
    supportedParameters: [],
    quantization: null,
    zeroRetention: false,
    collectsData: false,
    ...more,
  }
}

export function newModel(id: string, endpoints: readonly Endpoint[], more: Partial<Model> = {}): Model {
  return {
    id,
    name: id,
    description: "",
    created: 0,
    contextLength: 1_000,
    inputModalities: ["text"],
    outputModalities: ["text"],
    tokenizer: "Other",
    knowledgeCutoff: null,
    endpoints: [...endpoints],
    ...more,
  }
}
