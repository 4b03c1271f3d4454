import type { Attempt } from "../formats/attempt.ts"
import type { ResponseEncoder, ServingInfo } from "../formats/encoder.ts"
import { timing } from "../http/timing.ts"
import { CACHE_HEADER } from "../response-cache/request.ts"
import type { RequestMeta } from "./deps.ts"
import type { AcceptedResponse } from "./upstream/accepted-response.ts"

/**
 * Headers of an inference response. Headers of the provider are dropped: they can contain keys and limits of our
 * account.
 */
export function responseHeadersOf(generationId: string): Record<string, string> {
  return { "cache-control": "no-store", "x-generation-id": generationId }
}

export function streamHeaders(
  generationId: string,
  { contentType = "text/event-stream" }: Pick<ResponseEncoder, "contentType">,
): Record<string, string> {
  // nginx buffers a stream without this header.
  return { ...responseHeadersOf(generationId), "content-type": contentType, "x-accel-buffering": "no" }
}

/** The cache header of a response, if the response cache is used. */
export function cacheHeaders(attempts: readonly Attempt[]): Record<string, string> {
  const cache = attempts.at(-1)?.cache
  return cache ? { [CACHE_HEADER]: cache } : {}
}

/** `Server-Timing` with the latency of each attempt, if the client requested it. */
export function timingHeaders({ wantsTiming }: RequestMeta, attempts: readonly Attempt[]): Record<string, string> {
  if (!wantsTiming || attempts.length === 0) return {}
  const result = attempts.map(({ provider, latencyMs }, at) => timing(`provider-${at + 1}`, latencyMs, provider))
  return { "server-timing": result.join(", ") }
}

/** Fields of the serving target for the encoder. */
export function toServingInfo(
  { target, reader, upstreamBody }: AcceptedResponse,
  attempts: readonly Attempt[],
): ServingInfo {
  return { provider: target.provider.name, model: target.model.id, reader, attempts, upstreamBody }
}
