import { expect, test } from "vitest"
import { chatReader } from "../../src/formats/readers/chat.ts"
import { framesOf } from "../../src/formats/sse/frames.ts"
import { PacedReader } from "../../src/formats/sse/paced-reader.ts"
import { readStreamHead } from "../../src/formats/sse/stream-head.ts"

const encoder = new TextEncoder()

test("a stream of comments without content is rejected and cancelled before it fills the memory", async () => {
  let sentBytes = 0
  let isCancelled = false
  const comments = encoder.encode(":\n\n".repeat(5_000))
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      sentBytes += comments.byteLength
      controller.enqueue(comments.slice())
    },
    cancel: () => void (isCancelled = true),
  })
  const input = { reader: chatReader, signal: new AbortController().signal, translate: undefined }
  const head = await readStreamHead(new PacedReader(body), input)
  expect(head).toEqual({ ok: false, error: null, reason: "a stream without content" })
  expect(isCancelled).toBe(true)
  expect(sentBytes).toBeLessThan(8 * 1024 * 1024)
})

test("a complete stream of comments has a limit of events, not only of bytes", () => {
  expect(() => framesOf(encoder.encode(":\n\n".repeat(300_000)))).toThrow("too many events")
})
