import type { Chunk } from "../completion.ts"

/** Encodes a completion in one API format. Stateful: one per response. */
export interface CompletionEncoder {
  /** Frames of one chat chunk. */
  chunk: (chunk: Chunk) => string[]
  /** Frames of a provider's failure after status 200. */
  failure: () => string[]
  /** The last frames of a complete response. */
  end: () => string[]
  /** The complete response as one document. */
  document: () => Chunk
  /** The error response to a request without streaming. */
  failed: () => Response
}

export function toEventFrame(event: Record<string, unknown>): string {
  return `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`
}
