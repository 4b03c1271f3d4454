import type { Generation } from "../ledger/generation.ts"

/**
 * A call as a data point of Analytics Engine, for whoever runs the deployment. Nothing in it was said, and nobody is
 * named but the organization, which is what points are sampled by.
 */
export function toDataPoint(generation: Generation): AnalyticsEngineDataPoint {
  const { tokens, attempts } = generation
  return {
    indexes: [generation.organizationId],
    blobs: [
      generation.apiType,
      generation.model,
      generation.provider ?? "",
      generation.ending,
      generation.finishReason ?? "",
      generation.tokensFrom,
      generation.streamed ? "stream" : "whole",
      generation.isByok ? "byok" : "shared",
    ],
    doubles: [
      generation.status,
      generation.latencyMs ?? 0,
      generation.generationMs ?? 0,
      tokens.prompt,
      tokens.completion,
      tokens.reasoning,
      tokens.cached,
      generation.costNano,
      attempts.length,
    ],
  }
}
