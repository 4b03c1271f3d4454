import { toDocument, type Completion } from "../completion.ts"
import { overloaded, type Fault } from "../faults.ts"
import type { CompletionEncoder } from "./encoder.ts"

/** The chat format, which is the format of the completion itself. */
export function chatEncoder(completion: Completion): CompletionEncoder {
  const { fault } = completion
  return {
    chunk: (chunk) => [toFrame(JSON.stringify(chunk), fault)],
    failure: () => [toFrame(JSON.stringify(overloaded), fault)],
    end: () => (fault.done === false ? [] : [toFrame("[DONE]", fault)]),
    document: () => toDocument(completion),
    failed: () => Response.json(overloaded),
  }
}

function toFrame(data: string, { lines }: Fault): string {
  if (lines === "crlf") return `data: ${data}\r\n\r\n`
  if (lines === "comments") return `: ping\n\n: ping\ndata: ${data}\n: ping\n\n`
  return `data: ${data}\n\n`
}
