import { createParser } from "eventsource-parser"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { concat } from "../../src/support/bytes.ts"
import { dataOf, FrameSplitter } from "../../src/formats/sse/frames.ts"
import { runs } from "../support/runs.ts"

const encoder = new TextEncoder()
const decoder = new TextDecoder()

function cut(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const chunks: Uint8Array[] = []
  let at = 0
  for (let turn = 0; at < bytes.byteLength; turn++) {
    const size = sizes[turn % sizes.length] ?? 1
    chunks.push(bytes.subarray(at, at + size))
    at += size
  }
  return chunks
}

/** Events of the same text as parsed by eventsource-parser. */
function parsed(text: string): string[] {
  const events: string[] = []
  createParser({ onEvent: (event) => events.push(event.data) }).feed(text)
  return events
}

const newline = fc.constantFrom("\n", "\r\n", "\r")
const word = fc
  .array(fc.constantFrom("a", "b", "{", "}", '"', ":", " ", "é", "日", "🌍"), { maxLength: 8 })
  .map((parts) => parts.join(""))
const line = fc.oneof(
  word.map((text) => `data: ${text}`),
  word.map((text) => `data:${text}`),
  word.map((text) => `: ${text}`),
  fc.constantFrom("data", "event: message", "id: 1", "retry: 10"),
)
const frame = fc.tuple(fc.array(line, { maxLength: 3 }), newline).map(([lines, end]) => [...lines, ""].join(end) + end)
const stream = fc.array(frame, { maxLength: 8 }).map((frames) => frames.join(""))
const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 })

describe("frames", () => {
  test("give the same events and keep every byte however a stream is split", () => {
    fc.assert(
      fc.property(stream, sizes, (text, chunkSizes) => {
        const splitter = new FrameSplitter()
        const frames = cut(encoder.encode(text), chunkSizes).flatMap((chunk) => splitter.push(chunk))
        expect(decoder.decode(concat([...frames, splitter.rest]))).toBe(text)
        const last = splitter.finish()
        const data = [...frames, ...(last ? [last] : [])].map(dataOf).filter((one) => one !== undefined)
        // eventsource-parser does not report events with empty data.
        expect(data.filter((one) => one !== "")).toEqual(parsed(`${text}\n\n`).filter((one) => one !== ""))
      }),
      { numRuns: runs(4) },
    )
  })

  test("reject an event without an end before it fills the memory", () => {
    const splitter = new FrameSplitter()
    const chunk = encoder.encode("data: ".padEnd(4 * 1024 * 1024, "x"))
    expect(() => {
      for (let i = 0; i < 8; i++) splitter.push(chunk)
    }).toThrow("never ends")
  })
})
