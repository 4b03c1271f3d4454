/** Headers of an inference answer. A provider's own headers do not pass: they can hold its keys and our limits. */
export function answerHeaders(generationId: string): Record<string, string> {
  return { "cache-control": "no-store", "x-generation-id": generationId }
}

export function streamHeaders(generationId: string): Record<string, string> {
  // nginx holds a stream back unless it is told not to.
  return { ...answerHeaders(generationId), "content-type": "text/event-stream", "x-accel-buffering": "no" }
}
