import * as fc from "fast-check"
import { expect, test } from "vitest"
import { withReadableBody } from "../../src/providers/responses/readable-body.ts"
import { runs } from "../support/runs.ts"

type Format = "deflate" | "deflate-raw" | "gzip"

async function compress(text: string, format: Format): Promise<Uint8Array> {
  const { readable, writable } = new CompressionStream(format)
  const writer = writable.getWriter()
  const written = writer.write(new TextEncoder().encode(text)).then(() => writer.close())
  const [bytes] = await Promise.all([new Response(readable).arrayBuffer(), written])
  return new Uint8Array(bytes)
}

function sent(parts: readonly Uint8Array[], encoding = "deflate", onCancel = () => {}): Response {
  const queue = [...parts]
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      const part = queue.shift()
      if (part) controller.enqueue(part)
      else controller.close()
    },
    cancel: onCancel,
  })
  const headers = { "content-encoding": encoding, "content-length": "3", "x-request-id": "up-1" }
  return new Response(body, { status: 201, headers, encodeBody: "manual" })
}

test("a deflated body is read, with and without its zlib header, in any chunks", async () => {
  const formats = fc.constantFrom<Format>("deflate", "deflate-raw")
  await fc.assert(
    fc.asyncProperty(fc.string({ maxLength: 2_000, unit: "binary" }), formats, fc.nat(), async (text, format, cut) => {
      const bytes = await compress(text, format)
      const at = cut % (bytes.byteLength + 1)
      const parts = [bytes.slice(0, at), bytes.slice(at)].filter((part) => part.byteLength > 0)
      const response = await withReadableBody(sent(parts, cut % 2 === 0 ? "deflate" : " Deflate"))
      expect([response.status, response.headers.get("x-request-id")]).toEqual([201, "up-1"])
      expect(response.headers.has("content-encoding")).toBe(false)
      expect(response.headers.has("content-length")).toBe(false)
      expect(await response.text()).toBe(new TextDecoder().decode(new TextEncoder().encode(text)))
    }),
    { numRuns: runs(30) },
  )
})

test("a body with another spelling of gzip is read", async () => {
  for (const encoding of ["x-gzip", " X-Gzip ", "GZIP", "identity, gzip", "utf-8, Gzip"]) {
    const response = await withReadableBody(sent([await compress("Hello", "gzip")], encoding))
    expect(response.headers.has("content-encoding")).toBe(false)
    expect(await response.text()).toBe("Hello")
  }
})

test("a deflated body that ends early or is damaged is an error, not a shorter text", async () => {
  const bytes = await compress("a long enough text ".repeat(50), "deflate")
  for (const broken of [bytes.slice(0, 20), bytes.map((byte, at) => (at === 12 ? byte ^ 0xff : byte))]) {
    const response = await withReadableBody(sent([broken]))
    await expect(response.text()).rejects.toThrow()
  }
})

test("a reader that stops closes the connection to the provider", async () => {
  let isClosed = false
  const noise = Array.from({ length: 40 }, () =>
    crypto.getRandomValues(new Uint8Array(60_000)).reduce((t, b) => t + String.fromCharCode(b), ""),
  )
  const bytes = await compress(noise.join(""), "deflate")
  const parts = Array.from({ length: 200 }, (_, at) =>
    bytes.slice((at * bytes.length) / 200, ((at + 1) * bytes.length) / 200),
  )
  const response = await withReadableBody(sent(parts, "deflate", () => (isClosed = true)))
  const reader = response.body?.getReader()
  await reader?.read()
  await reader?.cancel()
  await expect.poll(() => isClosed).toBe(true)
})

test.each(["identity", "gzip", "br", "zstd", "BR", "gzip, br", "utf-8"])(
  "a body with the encoding %s is left to the runtime",
  async (encoding) => {
    const response = sent([new Uint8Array([1, 2])], encoding)
    expect(await withReadableBody(response)).toBe(response)
  },
)
