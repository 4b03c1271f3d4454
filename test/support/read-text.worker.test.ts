import * as fc from "fast-check"
import { expect, test } from "vitest"
import { readText } from "../../src/support/text/read-text.ts"
import { runs } from "./runs.ts"

const LIMIT = 300_000

/** A body of unknown length, as from a provider that sends chunks. */
function chunked(text: string, cuts: readonly number[]): Response {
  const bytes = new TextEncoder().encode(text)
  const { readable, writable } = new IdentityTransformStream()
  const write = async () => {
    const writer = writable.getWriter()
    const places = [...new Set([0, ...cuts.map((cut) => cut % (bytes.byteLength + 1)), bytes.byteLength])]
    const ordered = places.toSorted((a, b) => a - b)
    for (const [index, start] of ordered.slice(0, -1).entries()) {
      await writer.write(bytes.slice(start, ordered[index + 1]))
    }
    await writer.close()
  }
  // A reader at its limit cancels the body.
  void write().catch(() => undefined)
  return new Response(readable)
}

const sizes = fc.oneof(
  fc.nat(400),
  ...[16 * 1024, 16 * 1024 * 9, LIMIT].flatMap((edge) => [-1, 0, 1].map((off) => fc.constant(edge + off))),
  fc.nat(LIMIT + 100_000),
)

test("a body of unknown length is read completely in any chunks, up to the limit", async () => {
  const bodies = fc.record({ size: sizes, cuts: fc.array(fc.nat(500_000), { maxLength: 30 }) })
  await fc.assert(
    fc.asyncProperty(bodies, async ({ size, cuts }) => {
      const text = "é".repeat(size >> 1) + (size % 2 === 1 ? "x" : "")
      const read = await readText(chunked(text, cuts), LIMIT)
      expect(read === undefined ? "too large" : read === text).toBe(size > LIMIT ? "too large" : true)
    }),
    { numRuns: runs(40) },
  )
})

test("a body that breaks off is an error, not a shorter text", async () => {
  const { readable, writable } = new IdentityTransformStream()
  const writer = writable.getWriter()
  const read = readText(new Response(readable), LIMIT)
  await writer.write(new Uint8Array(20_000))
  await Promise.all([expect(read).rejects.toThrow("lost"), writer.abort(new Error("lost"))])
})

test("a compressed body is counted, whatever length it declares", async () => {
  const { readable, writable } = new CompressionStream("gzip")
  const writer = writable.getWriter()
  const write = async () => {
    await writer.write(new Uint8Array(LIMIT * 2))
    await writer.close()
  }
  void write().catch(() => undefined)
  const plain = readable.pipeThrough(new DecompressionStream("gzip"))
  // As the runtime returns a response that it decompresses.
  const headers = { "content-encoding": "gzip", "content-length": "600" }
  expect(await readText(new Response(plain, { headers, encodeBody: "manual" }), LIMIT)).toBeUndefined()
})
