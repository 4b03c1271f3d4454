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

const toUpperEscape = (char: string) => `\\u00${char.charCodeAt(0).toString(16).toUpperCase()}`

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
    ["in JSON of Go", JSON.stringify(VALUE).replaceAll(/[<>&]/g, (char) => `\\u00${char.charCodeAt(0).toString(16)}`)],
    [
      "in JSON of .NET",
      JSON.stringify(VALUE)
        .replaceAll(/[<>&+'ö]/g, toUpperEscape)
        .replaceAll('\\"', "\\u0022"),
    ],
    ["in JavaScript with hex escapes", VALUE.replaceAll(/[/"<>]/g, (char) => `\\x${char.charCodeAt(0).toString(16)}`)],
    ["in a URL", encodeURIComponent(VALUE)],
    ["in a URL that keeps reserved characters", encodeURI(VALUE)],
    ["in a path of Python", encodeURIComponent(VALUE).replaceAll("%2F", "/")],
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

/** Each service escapes other characters of a text, so a test draws a spelling for each. */
const spelling = fc.nat(9).map((drawn) => (char: string) => {
  const code = char.codePointAt(0) ?? 0
  const units = char.split("").map((unit) => unit.charCodeAt(0).toString(16).padStart(4, "0"))
  const percent = Array.from(bytesOf(char), (byte) => `%${byte.toString(16).padStart(2, "0")}`).join("")
  const other = { '"': '\\"', "/": "\\/", "&": "&amp;", "<": "&lt;", " ": "+", "\n": "\\n" }[char] ?? char
  const upper = (text: string) => text.replaceAll(/(?<=[%u;x\da-fA-F])[a-f]/g, (digit) => digit.toUpperCase())
  const json = units.map((unit) => `\\u${unit}`).join("")
  return [
    char,
    char,
    other,
    percent,
    upper(percent),
    json,
    upper(json),
    `&#${code};`,
    `&#x${code.toString(16)};`,
    char,
  ][drawn]
})
const secretChar = fc.constantFrom(...Array.from("abcXYZ019+/=_-\"&<> %\\'ö€😀\n"))

test("a value is hidden whichever of its characters a host escapes, and in base64 in each of these", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(secretChar, { minLength: 8, maxLength: 40 }),
      fc.infiniteStream(spelling),
      fc.integer({ min: 0, max: 2 }),
      fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 20 }),
      async (chars, spellings, before, sizes) => {
        const value = chars.join("")
        fc.pre(value.trim() === value && value.length >= 8)
        const by = redactorFor({ released: [], secrets: [{ value, placeholder: HELD }] })
        const spelled = (text: string) => Array.from(text, (char) => spellings.next().value?.(char) ?? char).join("")
        // Neighbors are not characters of the value or of an escape, so that the length is exact.
        const body = bytesOf(`{~${spelled(value)}~|~${spelled(base64(`${"~".repeat(before)}${value}`))}~}`)
        const chunks: Uint8Array[] = []
        let at = 0
        for (const size of sizes) chunks.push(body.slice(at, (at += size)))
        const [text = "", encoded = ""] = (await streamed(by, [...chunks, body.slice(at)])).split("|")
        expect(text).toBe(`{~${HELD}~`)
        expect(encoded).toContain(HELD)
        // At most three digits before and two after it contain bits of a neighbor, each in up to six bytes.
        expect(encoded.length).toBeLessThan(HELD.length + 6 * 6 + 5)
      },
    ),
  )
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

test("a short value that is sent as a password is hidden", () => {
  const secrets = [{ value: "hunter2", placeholder: HELD }]
  const released = [[`Basic ${btoa("ada:hunter2")}`, `Basic ${btoa(`ada:${HELD}`)}`]] as const
  const text = JSON.stringify({ user: "ada", password: "hunter2" })
  expect(redactorFor({ released, secrets }).text(text)).toBe(JSON.stringify({ user: "ada", password: HELD }))
  expect(redactorFor({ released: [], secrets }).text(text)).toBe(text)
})

test("a short value is hidden only if this request sent it", () => {
  const secrets = [{ value: "2026", placeholder: HELD }]
  expect(redactorFor({ released: [], secrets }).text("in 2026")).toBe("in 2026")
  const released = [["Bearer 2026", `Bearer ${HELD}`]] as const
  expect(redactorFor({ released, secrets }).text("key 2026, Bearer 2026")).toBe(`key ${HELD}, Bearer ${HELD}`)
})
