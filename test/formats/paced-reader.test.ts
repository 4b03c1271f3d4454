import { ReadableStream as ByteStream, type ReadableByteStreamController } from "node:stream/web"
import * as fc from "fast-check"
import { afterEach, beforeEach, expect, inject, test, vi } from "vitest"
import { PacedReader } from "../../src/formats/sse/paced-reader.ts"

/** Number of streams that a burst was drained into. */
let drains = 0

/** Stands in for the native class of the runtime. */
class IdentityStream extends TransformStream {
  constructor() {
    super()
    drains += 1
  }
}

beforeEach(() => {
  drains = 0
  vi.stubGlobal("IdentityTransformStream", IdentityStream)
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] })
})
afterEach(() => {
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

/** A response body whose chunks the test sends. */
function newBody() {
  let controller: ReadableByteStreamController | undefined
  const stream = new ByteStream({
    type: "bytes",
    start: (given) => {
      controller = given
    },
  })
  return {
    reader: new PacedReader(stream as unknown as ReadableStream<Uint8Array>),
    send: (text: string) => controller?.enqueue(new TextEncoder().encode(text)),
    end: () => controller?.close(),
  }
}

type Body = ReturnType<typeof newBody>

async function readText({ reader }: Body): Promise<string | null> {
  const pending = reader.read()
  // In a burst a read waits for the next interval.
  if (vi.getTimerCount() > 0) await vi.advanceTimersByTimeAsync(8)
  const { done, value } = await pending
  return done ? null : new TextDecoder().decode(value)
}

/** Sends chunk after chunk and reads until one read returns several chunks. */
async function burst(body: Body): Promise<void> {
  for (let at = 0; at < 40; at += 1) body.send("x")
  let most = 0
  for (let left = 40; left > 0;) {
    const length = (await readText(body))?.length ?? 0
    most = Math.max(most, length)
    left -= length
  }
  expect(most).toBeGreaterThan(20)
}

test("a burst is read with few reads, without losing a byte", async () => {
  const body = newBody()
  await burst(body)
  body.send("end")
  body.end()
  expect(await readText(body)).toBe("end")
  expect(await readText(body)).toBeNull()
})

test("a drained burst is moved to another stream at a size limit", async () => {
  const body = newBody()
  await burst(body)
  expect(drains).toBe(1)
  const piece = "0123456789abcdef".repeat(1_024)
  let received = ""
  for (let at = 0; at < 256; at += 1) {
    body.send(piece)
    received += await readText(body)
  }
  body.end()
  for (let text = await readText(body); text !== null; text = await readText(body)) received += text
  expect(received).toBe(piece.repeat(256))
  expect(drains).toBeGreaterThanOrEqual(4)
  expect(drains).toBeLessThanOrEqual(6)
})

test("a body that cannot be drained is read chunk by chunk, without losing a byte", async () => {
  class Unusable extends IdentityStream {
    constructor() {
      super()
      void this.writable.abort()
    }
  }
  vi.stubGlobal("IdentityTransformStream", Unusable)
  const body = newBody()
  let sent = ""
  let received = ""
  for (let at = 0; at < 100; at += 1) {
    body.send(`${at},`)
    sent += `${at},`
  }
  body.end()
  for (let text = await readText(body); text !== null; text = await readText(body)) received += text
  expect(received).toBe(sent)
  expect(drains).toBe(1)
})

test("a stream that slows down after a burst is read chunk by chunk again, without timers", async () => {
  const body = newBody()
  await burst(body)
  for (let at = 0; at < 20; at += 1) {
    const pending = body.reader.read()
    await vi.advanceTimersByTimeAsync(20)
    body.send(`${at} `)
    expect(new TextDecoder().decode((await pending).value)).toBe(`${at} `)
  }
  const pending = body.reader.read()
  expect(vi.getTimerCount()).toBe(0)
  body.send("at once")
  expect(new TextDecoder().decode((await pending).value)).toBe("at once")
})

test("a few chunks at a time are not treated as a burst", async () => {
  const body = newBody()
  for (let turn = 0; turn < 10; turn += 1) {
    vi.setSystemTime(Date.now() + 100)
    for (const chunk of ["a", "b", "c"]) {
      body.send(chunk)
      expect(await readText(body)).toBe(chunk)
      expect(vi.getTimerCount()).toBe(0)
    }
  }
})

test("all bytes arrive in order, whatever the pauses between chunks and of the client", async () => {
  const step = fc.oneof(fc.constant(0), fc.constant(0), fc.integer({ min: 1, max: 40 }))
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 80 }), fc.array(fc.boolean()), async (pauses, waits) => {
      const body = newBody()
      let sent = ""
      let received = ""
      const reading = (async () => {
        for (let at = 0; ; at += 1) {
          if (waits[at]) body.reader.pause()
          const { done, value } = await body.reader.read()
          if (done) return
          received += new TextDecoder().decode(value)
        }
      })()
      for (const [at, pause] of pauses.entries()) {
        if (pause > 0) await vi.advanceTimersByTimeAsync(pause)
        body.send(`${at},`)
        sent += `${at},`
      }
      body.end()
      await vi.advanceTimersByTimeAsync(100)
      await reading
      expect(received).toBe(sent)
    }),
    inject("properties"),
  )
})
