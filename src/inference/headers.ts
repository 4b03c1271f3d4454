import type { Attempt } from "../formats/attempt.ts"
import { timing } from "../http/timing.ts"
import type { RequestMeta } from "./deps.ts"

/** Headers of an inference answer. A provider's own headers do not pass: they can hold its keys and our limits. */
export function answerHeaders(generationId: string): Record<string, string> {
  return { "cache-control": "no-store", "x-generation-id": generationId }
}

export function streamHeaders(generationId: string): Record<string, string> {
  // nginx holds a stream back unless it is told not to.
  return { ...answerHeaders(generationId), "content-type": "text/event-stream", "x-accel-buffering": "no" }
}

/** How long each provider was waited for, for whoever asked to be told. */
export function timingHeaders({ wantsTiming }: RequestMeta, attempts: readonly Attempt[]): Record<string, string> {
  if (!wantsTiming || attempts.length === 0) return {}
  const result = attempts.map(({ provider, latencyMs }, at) => timing(`provider-${at + 1}`, latencyMs, provider))
  return { "server-timing": result.join(", ") }
}
