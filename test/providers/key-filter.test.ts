import * as fc from "fast-check"
import { expect, test } from "vitest"
import { keyFilterOf } from "../../src/providers/key-filter.ts"

const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** Few letters, so that parts of a key are frequent in other text. */
const text = (constraints: fc.StringConstraints) =>
  fc.string({ unit: fc.constantFrom("a", "b", "c", "é"), ...constraints })
const key = text({ minLength: 12, maxLength: 24 })

/** The bytes, cut at these positions. */
function cut(bytes: Uint8Array, positions: readonly number[]): Uint8Array[] {
  const cuts = [0, ...positions.map((at) => at % (bytes.byteLength + 1)), bytes.byteLength].toSorted((a, b) => a - b)
  return cuts.slice(1).map((end, at) => bytes.slice(cuts[at], end))
}

function filtered(apiKey: string, chunks: readonly Uint8Array[]): string {
  const filter = keyFilterOf({ apiKey })?.chunks()
  if (!filter) throw new Error("The key is too short.")
  const out = [...chunks.map((chunk) => filter.push(chunk).slice()), filter.end()]
  return decoder.decode(Uint8Array.from(out.flatMap((bytes) => [...bytes])))
}

test("a key in a stream is replaced wherever its chunks end, and nothing else changes", () => {
  const cuts = fc.array(fc.nat(), { maxLength: 12 })
  fc.assert(
    fc.property(key, fc.array(text({ maxLength: 30 }), { maxLength: 5 }), cuts, (apiKey, texts, positions) => {
      const input = texts.join(apiKey)
      const expected = input.replaceAll(apiKey, "[redacted]")
      expect(filtered(apiKey, cut(encoder.encode(input), positions))).toBe(expected)
      expect(keyFilterOf({ apiKey })?.text(input)).toBe(expected)
    }),
  )
})

const ENCODINGS: Readonly<Record<string, (key: string) => string>> = {
  base64: (text) => Buffer.from(text).toString("base64"),
  "base64 for URLs": (text) => Buffer.from(text).toString("base64url"),
  hex: (text) => Buffer.from(text).toString("hex"),
  "hex in capitals": (text) => Buffer.from(text).toString("hex").toUpperCase(),
  "a URL": encodeURIComponent,
  JSON: (text) => JSON.stringify(text),
  "JSON of PHP": (text) => JSON.stringify(text).replaceAll("/", "\\/"),
}

test.each(Object.entries(ENCODINGS))(
  "a key in %s is replaced, whatever precedes it and wherever chunks end",
  (_, encode) => {
    const realistic = fc.string({
      unit: fc.constantFrom("a", "Z", "0", "9", "-", "_", ".", "/", "+", "=", '"', "\\", "~"),
      minLength: 12,
      maxLength: 60,
    })
    const prefix = fc.stringMatching(/^[A-Za-z: ]{0,20}$/)
    const cuts = fc.array(fc.nat(), { maxLength: 12 })
    fc.assert(
      fc.property(realistic, prefix, cuts, (apiKey, before, positions) => {
        fc.pre(!apiKey.startsWith("{"))
        const encoded = encode(before + apiKey)
        const input = `data: {"content":"You sent ${encoded}!"}\n\n`
        for (const output of [
          filtered(apiKey, cut(encoder.encode(input), positions)),
          keyFilterOf({ apiKey })?.text(input),
        ]) {
          expect(output).toContain("[redacted]")
          // In base64, up to two digits at each end also depend on the bytes around the key.
          expect(output?.length).toBeLessThanOrEqual(input.length - encode(apiKey).length + "[redacted]".length + 8)
          expect(output).toMatch(/^data: \{"content":"You sent .*!"\}\n\n$/s)
        }
      }),
    )
  },
)

test("only bytes that may begin a key wait for the next chunk", () => {
  const filter = keyFilterOf({ apiKey: "secret-key-0123456789" })?.chunks()
  const push = (part: string) => decoder.decode(filter?.push(encoder.encode(part)))
  expect(push("data: 1\n\n")).toBe("data: 1\n\n")
  expect(push("data: secret")).toBe("data: ")
  expect(push("s\n\n")).toBe("secrets\n\n")
  expect(push("the end is sec")).toBe("the end is ")
  expect(decoder.decode(filter?.end())).toBe("sec")
})

test.each([undefined, "", "local", "  ollama  ", '{"private_key":"0123456789"}'])(
  "the key %j, which is absent, short or never sent, is not searched",
  (apiKey) => expect(keyFilterOf(apiKey === undefined ? {} : { apiKey })).toBeUndefined(),
)
