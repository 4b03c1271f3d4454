import type { Generation } from "../../ledger/generation.ts"

/**
 * A call as a data point of Analytics Engine, for the operator. It has no content and no identifier except the
 * organization, by which points are sampled.
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
