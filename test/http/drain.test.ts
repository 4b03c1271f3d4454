import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { drain } from "../../src/http/request/drain.ts"

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A request whose body has a chunk each `pauseMs`, and the bytes that were read of it. */
function upload({ chunks, bytes = 10, pauseMs = 0 }: { chunks: number; bytes?: number; pauseMs?: number }) {
  const read = { bytes: 0 }
  let left = chunks
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs))
        if (left-- === 0) return controller.close()
        read.bytes += bytes
        controller.enqueue(new Uint8Array(bytes))
      },
    },
    { highWaterMark: 0 },
  )
  // Node requires it, and workerd's type of the options lacks it.
  const options = { method: "POST", body, duplex: "half" }
  return { read, request: new Request("http://gateway/files", options) }
}

/** Time until the response is sent. */
async function timeOf(request: Request): Promise<number> {
  const start = Date.now()
  const drained = drain(request).then(() => Date.now() - start)
  await vi.advanceTimersByTimeAsync(120_000)
  return drained
}

test("a slow upload is read to its end before its rejection is sent", async () => {
  const { request, read } = upload({ chunks: 15, pauseMs: 1_500 })
  expect(await timeOf(request)).toBe(16 * 1_500)
  expect(read.bytes).toBe(150)
})

test("a client that stops sending gets its rejection after two seconds", async () => {
  expect(await timeOf(upload({ chunks: 1, pauseMs: 60_000 }).request)).toBe(2_000)
})

test("a client that sends a byte a second gets its rejection after 30 seconds", async () => {
  expect(await timeOf(upload({ chunks: 1_000, bytes: 1, pauseMs: 1_000 }).request)).toBe(30_000)
})

test("not more than 128 MiB of an upload are read", async () => {
  const mebibyte = 1024 * 1024
  const { request, read } = upload({ chunks: 1_000, bytes: 8 * mebibyte })
  await timeOf(request)
  expect(read.bytes).toBe(136 * mebibyte)
})

test("a request without a body is not delayed", async () => {
  expect(await timeOf(new Request("http://gateway/files"))).toBe(0)
})
