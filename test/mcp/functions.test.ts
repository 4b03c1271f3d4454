import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { textOfResult } from "../../src/mcp-servers/functions.ts"

describe("the result of a tool, as a model reads it", () => {
  const image = { type: "image", mimeType: "image/png", data: btoa("12345") }

  test.each([
    [
      "texts, one per line",
      {
        content: [
          { type: "text", text: "a" },
          { type: "text", text: "b" },
        ],
      },
      "a\nb",
    ],
    [
      "the text next to an image",
      { content: [{ type: "text", text: "a" }, image] },
      "a\n[image/png, 5 bytes, not shown]",
    ],
    [
      "type and size of audio",
      { content: [{ ...image, type: "audio", mimeType: "audio/wav" }] },
      "[audio/wav, 5 bytes, not shown]",
    ],
    [
      "address, type and size of a file",
      {
        content: [
          { type: "resource", resource: { uri: "file:///a.pdf", mimeType: "application/pdf", blob: btoa("1234") } },
        ],
      },
      "[file:///a.pdf, application/pdf, 4 bytes, not shown]",
    ],
    [
      "the size of data without a type",
      { content: [{ type: "image", data: btoa("123") }] },
      "[binary data, 3 bytes, not shown]",
    ],
    [
      "a link as JSON",
      { content: [{ type: "resource_link", uri: "file:///a", name: "a" }] },
      '{"type":"resource_link","uri":"file:///a","name":"a"}',
    ],
    [
      "a text file as JSON",
      { content: [{ type: "resource", resource: { uri: "file:///a", text: "b" } }] },
      '{"type":"resource","resource":{"uri":"file:///a","text":"b"}}',
    ],
    ["structured content without other content", { content: [], structuredContent: { a: 1 } }, '{"a":1}'],
    ["nothing", {}, ""],
  ])("has %s", (_, result, text) => expect(textOfResult(result)).toBe(text))

  test("does not grow with an image", () => {
    const bytes = fc.uint8Array({ minLength: 100, maxLength: 2_000 })
    fc.assert(
      fc.property(bytes, fc.constantFrom("data", "blob"), (value, name) => {
        const part = { mimeType: "image/png", [name]: Buffer.from(value).toString("base64") }
        const content = name === "data" ? [{ type: "image", ...part }] : [{ type: "resource", resource: part }]
        expect(textOfResult({ content })).toBe(`[image/png, ${value.length} bytes, not shown]`)
      }),
    )
  })
})
