import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { kindOf, TextKind } from "../../src/files/kind.ts"
import { boundaryOf, readFilePart } from "../../src/files/upload/multipart.ts"
import { concat } from "../../src/support/bytes.ts"
import { runs } from "../support/runs.ts"

const encoder = new TextEncoder()
const BOUNDARY = "XyZ"

/** The bytes in chunks of these sizes, repeated. */
function inPieces(bytes: Uint8Array, sizes: readonly number[]): ReadableStream<Uint8Array> {
  let [at, turn] = [0, 0]
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.byteLength) return controller.close()
      const size = sizes[turn++ % sizes.length] ?? 1
      controller.enqueue(bytes.slice(at, at + size))
      at += size
    },
  })
}

async function collect(content: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [new Uint8Array()]
  for await (const chunk of content) chunks.push(chunk.slice())
  return Uint8Array.from(concat(chunks))
}

const file = (content: Uint8Array, name = "file", filename = "a.txt") =>
  concat([
    encoder.encode(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"; filename="${filename}"\r\n\r\n`),
    content,
    encoder.encode("\r\n"),
  ])
const field = encoder.encode(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nuser_data\r\n`)
const other = encoder.encode(`--${BOUNDARY}\r\nContent-Disposition: form-data; name="note"\r\n\r\n--words\r\n`)
const END = encoder.encode(`--${BOUNDARY}--\r\n`)

describe("a form", () => {
  test("yields its file byte for byte, however it is chunked", async () => {
    // With line ends and dashes, so that much of it looks like the beginning of a boundary.
    const near = fc.array(fc.constantFrom("\r", "\n", "-", "\r\n--", "\r\n--Xy", "x", "\0"), { maxLength: 60 })
    const content = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      near.map((parts) => encoder.encode(parts.join(""))),
    )
    const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(content, sizes, fc.constantFrom("none", "before", "after"), async (bytes, pieces, where) => {
        const fields = (at: string) => (where === at ? [other, field] : [])
        const body = concat([...fields("before"), file(bytes), ...fields("after"), END])
        const part = await readFilePart(inPieces(body, pieces), BOUNDARY)
        expect(part?.filename).toBe("a.txt")
        expect(await collect(part?.content ?? inPieces(new Uint8Array(), [1]))).toEqual(Uint8Array.from(bytes))
        const expected = where === "none" ? {} : { note: "--words", purpose: "user_data" }
        expect(Object.fromEntries((await part?.fields()) ?? [])).toEqual(expected)
      }),
      { numRuns: runs(2) },
    )
  })

  test.each([
    ["name=file; filename=plain.txt", "plain.txt"],
    ['filename="first.txt"; name="file"', "first.txt"],
    [`name="file"; filename*=UTF-8''na%C3%AFve%20a+b%26c.txt`, "naïve a+b&c.txt"],
    [`name="file"; filename="naive.txt"; filename*=utf-8'en'na%C3%AFve.txt`, "naïve.txt"],
    [`name="file"; filename*=UTF-8''%ff%zz`, "\ufffd%zz"],
  ])("has the file name of %s", async (disposition, filename) => {
    const text = `--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\nx\r\n--${BOUNDARY}--\r\n`
    const part = await readFilePart(inPieces(encoder.encode(text), [9]), BOUNDARY)
    expect(part?.filename).toBe(filename)
  })

  test("without a field of that name has no file", async () => {
    for (const body of [END, concat([field, END]), file(encoder.encode("x"), "other"), encoder.encode("nonsense")]) {
      expect(await readFilePart(inPieces(body, [7]), BOUNDARY)).toBeUndefined()
    }
  })

  test("that breaks off is an error", async () => {
    const complete = file(encoder.encode("abc"))
    const part = await readFilePart(inPieces(complete.slice(0, -2), [5]), BOUNDARY)
    await expect(collect(part?.content ?? inPieces(complete, [1]))).rejects.toThrow("is incomplete")
  })

  test("has its boundary in its content type", () => {
    expect(boundaryOf("multipart/form-data; boundary=abc")).toBe("abc")
    expect(boundaryOf('Multipart/Form-Data; charset=utf-8; boundary="a b"')).toBe("a b")
    expect(boundaryOf("application/json")).toBeUndefined()
  })
})

describe("the type of a file", () => {
  const zip = (name: string) => `PK\x03\x04${"\0".repeat(26)}[Content_Types].xml...PK\x03\x04${"\0".repeat(26)}${name}`
  const bytes = (text: string) => Uint8Array.from(text, (char) => char.charCodeAt(0))

  test.each([
    ["%PDF-1.7 ", "application/pdf"],
    ["\x89PNG\r\n\x1a\n", "image/png"],
    ["\xff\xd8\xff\xe0", "image/jpeg"],
    ["GIF89a", "image/gif"],
    ["RIFF\0\0\0\0WEBP", "image/webp"],
    ["RIFF\0\0\0\0WAVE", "audio/wav"],
    ["ID3\x04", "audio/mpeg"],
    ["\xff\xfb\x90", "audio/mpeg"],
    ["fLaC", "audio/flac"],
    ["OggS", "audio/ogg"],
    [zip("word/document.xml"), "application/vnd.openxmlformats-officedocument.wordprocessingml.document"],
    [zip("xl/workbook.xml"), "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"],
    [zip("ppt/presentation.xml"), "application/vnd.openxmlformats-officedocument.presentationml.presentation"],
    [zip("evil.exe"), undefined],
    ["MZ\0\0", undefined],
    ["hello", "text"],
  ])("%j is detected by its first bytes", (text, kind) => {
    expect(kindOf(bytes(text))).toBe(kind)
  })

  test.each([
    ['{"a":1}', "x", "application/json"],
    ['{"a":1}\n{"a":2}\n', "x", "application/x-ndjson"],
    ["a,b\n1,2", "x.CSV", "text/csv"],
    ["# Title", "x.md", "text/markdown"],
    ["words", "x.exe", "text/plain"],
  ])("of the text %j named %s is %s", (text, name, kind) => {
    const reading = new TextKind()
    expect(reading.take(encoder.encode(text), true)).toBe(true)
    expect(reading.kind(name)).toBe(kind)
  })

  test("of invalid UTF-8 is none, even if a character is split between two chunks", () => {
    const [good, bad] = [new TextKind(), new TextKind()]
    const euro = encoder.encode("€")
    expect([good.take(euro.slice(0, 1), false), good.take(euro.slice(1), true)]).toEqual([true, true])
    expect([bad.take(euro.slice(0, 1), false), bad.take(encoder.encode("x"), true)]).toEqual([true, false])
  })
})
