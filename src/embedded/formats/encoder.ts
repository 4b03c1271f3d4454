import type { Chunk } from "../completion.ts"

/** How a completion is told on one wire. One is made for each answer, and remembers what it has told. */
export interface CompletionEncoder {
  /** The frames of one chunk of the chat wire. */
  chunk: (chunk: Chunk) => string[]
  /** The frames of a vendor's failure after it has answered 200. */
  failure: () => string[]
  /** The last frames of an answer that is whole. */
  end: () => string[]
  /** The whole answer in one document. */
  document: () => Chunk
  /** The failure, told to those who wait for a document. */
  failed: () => Response
}

export function toEventFrame(event: Record<string, unknown>): string {
  return `event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`
}
