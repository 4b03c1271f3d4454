import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { type Redactor, redactorFor } from "../../src/outbound/redactor.ts"
import { runs } from "../support/runs.ts"

const HELD = "vault-token-0123456789abcdef"
const VALUE = 'p&ss/wörd "with" <every> kind+of=sign?'
const bytesOf = (text: string) => new TextEncoder().encode(text)
const base64 = (text: string) => btoa(String.fromCharCode(...bytesOf(text)))
const hidden = redactorFor({ released: [], secrets: [{ value: VALUE, placeholder: HELD }] })
const read = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

async function streamed(by: Redactor, chunks: readonly Uint8Array[]): Promise<string> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk)
      controller.close()
    },
  })
  return new Response(body.pipeThrough(by.stream())).text()
}

/** Length of the encoded value without the text around it. */
function encodedLength(output: string): number {
  const isBase64 = /^[A-Za-z0-9+/_=-]+$/.test(output) && !/^[0-9a-f]+$/.test(output)
  if (isBase64) return Math.floor((bytesOf(VALUE).byteLength * 4) / 3)
  return (
    output.length - (output.startsWith("{") ? 12 : output.startsWith("VALUE=") ? 6 : output.startsWith('"') ? 2 : 0)
  )
}

describe("hiding a value", () => {
  test.each([
    ["unencoded", VALUE],
    ["in JSON", JSON.stringify({ VALUE })],
    ["in JSON of plain ASCII", JSON.stringify(VALUE).replace("ö", "\\u00f6")],
    ["in JSON with escaped slashes", JSON.stringify(VALUE).replaceAll("/", "\\/")],
    ["in a URL", encodeURIComponent(VALUE)],
    ["in a form", new URLSearchParams({ VALUE }).toString()],
    ["in HTML", VALUE.replace("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")],
    [
      "in HTML, escaped by Mustache",
      VALUE.replace("&", "&amp;")
        .replaceAll("<", "&lt;")
        .replaceAll(">", "&gt;")
        .replaceAll('"', "&quot;")
        .replaceAll("/", "&#x2F;")
        .replaceAll("=", "&#x3D;"),
    ],
    ["in capitals", VALUE.replaceAll(/[a-z]/g, (letter) => letter.toUpperCase())],
    ["as Latin-1 that was read as UTF-8", String.fromCharCode(...bytesOf(VALUE))],
    ["in hex", Array.from(bytesOf(VALUE), (byte) => byte.toString(16).padStart(2, "0")).join("")],
    ...["", "a", "ab", "abc"].flatMap((before): [string, string][] => [
      [`in base64 behind ${before.length} bytes`, base64(`${before}${VALUE}`)],
      [`in base64 behind ${before.length} bytes and before more`, base64(`${before}${VALUE} and more`)],
      [
        `in base64 for URLs behind ${before.length} bytes`,
        base64(`${before}${VALUE}~~~`).replaceAll("+", "-").replaceAll("/", "_"),
      ],
    ]),
  ])("hides it %s", (_, output) => {
    const reported = read(hidden.bytes(bytesOf(output)))
    expect(reported).toContain(HELD)
    // Next to it may be base64 characters that contain bits of a neighbor.
    expect(reported.length).toBeLessThanOrEqual(output.length - encodedLength(output) + HELD.length + 6)
  })

  test("hides it for any chunking of the bytes", async () => {
    const text = `before ${VALUE} between ${base64(VALUE)} after ${VALUE.slice(0, -1)} end ${VALUE.slice(0, 5)}`
    const full = read(hidden.bytes(bytesOf(text)))
    expect(full).not.toContain(VALUE)
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 60 }), async (sizes) => {
        const bytes = bytesOf(text)
        const chunks: Uint8Array[] = []
        let at = 0
        for (const size of sizes) {
          chunks.push(bytes.slice(at, at + size))
          at += size
        }
        expect(await streamed(hidden, [...chunks, bytes.slice(at)])).toBe(full)
      }),
      { numRuns: runs(2) },
    )
  })

  test("prefers a longer value to its prefix", async () => {
    const both = redactorFor({
      released: [],
      secrets: [
        { value: "the-same-beginning", placeholder: "short" },
        { value: "the-same-beginning-and-more", placeholder: "long" },
      ],
    })
    const chunks = ["the-same-", "beginning", "-and-more the-same-beginning-and"].map(bytesOf)
    expect(await streamed(both, chunks)).toBe("long short-and")
  })
})

test("a value in UTF-16 is hidden", () => {
  const reported = Buffer.from(hidden.bytes(new Uint8Array(Buffer.from(`a ${VALUE} b`, "utf16le"))))
  expect(reported.toString("utf16le")).toBe(`a ${HELD} b`)
})

test("overlapping values are hidden together for any chunking", async () => {
  // An agent may store secrets: one that ends with a value's beginning must not cover that beginning alone.
  const secrets = [
    { value: "12345678the", placeholder: "own" },
    { value: "the-secret-value", placeholder: "theirs" },
  ]
  const by = redactorFor({ released: [], secrets })
  const text = "c=12345678the-secret-value;"
  for (let at = 0; at <= text.length; at++) {
    expect(await streamed(by, [bytesOf(text.slice(0, at)), bytesOf(text.slice(at))])).toBe("c=own;")
  }
})

test("a value with surrounding spaces is hidden without them, as in a header", () => {
  const by = redactorFor({ released: [], secrets: [{ value: " the secret value  ", placeholder: HELD }] })
  expect(by.text("x: the secret value;")).toBe(`x: ${HELD};`)
})

test("bytes that cannot begin a value are forwarded immediately", async () => {
  const { readable, writable } = hidden.stream()
  const [reader, writer] = [readable.getReader(), writable.getWriter()]
  for (const [chunk, out] of [
    ["data: one\n\n", "data: one\n\n"],
    [`data: ${VALUE.slice(0, 4)}`, "data: "],
    ["!\n\n", `${VALUE.slice(0, 4)}!\n\n`],
  ] as const) {
    void writer.write(bytesOf(chunk))
    expect(read((await reader.read()).value ?? new Uint8Array())).toBe(out)
  }
})

test("bytes without a value are unchanged", () => {
  const bytes = Uint8Array.from({ length: 65_536 }, (_, at) => (at * 7) & 0xff)
  expect(hidden.bytes(bytes)).toBe(bytes)
})

test("a short value is hidden only if this request sent it", () => {
  const secrets = [{ value: "2026", placeholder: HELD }]
  expect(redactorFor({ released: [], secrets }).text("in 2026")).toBe("in 2026")
  const released = [["Bearer 2026", `Bearer ${HELD}`]] as const
  expect(redactorFor({ released, secrets }).text("key 2026, Bearer 2026")).toBe(`key ${HELD}, Bearer ${HELD}`)
})
