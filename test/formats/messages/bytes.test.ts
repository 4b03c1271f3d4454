import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { chatTranslator } from "../../../src/formats/messages/upstream/to-chat-stream.ts"
import { dataOf, DONE_FRAME, FrameSplitter, parseData, toFrame } from "../../../src/formats/sse/frames.ts"
import { concat } from "../../../src/support/bytes.ts"
import { bytesOf, end, FACTS, type Json, PING, RECORDED, start, text } from "./recorded.ts"
import { runs } from "../../support/runs.ts"

/** Output of the stream, chunk by chunk. */
function pass(pieces: readonly Uint8Array[], onUsage?: (usage: Json) => void): Uint8Array[] {
  const translate = chatTranslator({ ...FACTS, ...(onUsage && { onUsage }) })
  const splitter = new FrameSplitter()
  const toBytes = (frame: Uint8Array) =>
    translate(frame).map((item) => (item instanceof Uint8Array ? item : toFrame(item)))
  const translated = pieces.map((piece) => concat(splitter.push(piece).flatMap(toBytes)))
  const last = splitter.finish()
  const isComplete = last && parseData(dataOf(last) ?? "")
  return [...translated, ...(isComplete ? toBytes(last) : [])].filter((piece) => piece.byteLength > 0)
}

const textOf = (pieces: readonly Uint8Array[]) => new TextDecoder().decode(concat(pieces))
const encode = (characters: string) => new TextEncoder().encode(characters)
/** Frames without the heartbeats, of which there is one for each ping. */
const framesOf = (pieces: readonly Uint8Array[]) =>
  new FrameSplitter().push(concat(pieces)).filter((frame) => dataOf(frame) !== undefined)

function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const at = [0, ...places.map((place) => place % (bytes.byteLength + 1)).sort((a, b) => a - b), bytes.byteLength]
  return at.slice(1).map((to, index) => bytes.slice(at[index], to))
}

describe("a stream split anywhere is translated alike", () => {
  test.each(Object.entries(RECORDED))("%s", (_, { events, chunks }) => {
    const isComplete = events.at(-1)?.["type"] === "message_stop"
    const expected = textOf([...chunks.map(toFrame), ...(isComplete ? [DONE_FRAME] : [])])
    const bytes = bytesOf(events)
    const crlf = encode(new TextDecoder().decode(bytes).replaceAll("\n", "\r\n"))
    fc.assert(
      fc.property(fc.constantFrom(bytes, crlf), fc.array(fc.nat(), { maxLength: 12 }), (stream, places) => {
        expect(textOf(framesOf(pass(cut(stream, places))))).toBe(expected)
      }),
      { numRuns: runs(0.4) },
    )
  })

  test("a stream is translated byte by byte", () => {
    const { events, chunks } = RECORDED["a tool whose JSON comes in pieces"] ?? { events: [], chunks: [] }
    const bytes = bytesOf(events)
    const received = pass(Array.from(bytes, (byte) => Uint8Array.of(byte)))
    expect(textOf(received)).toBe(textOf([...chunks.map(toFrame), DONE_FRAME]))
  })

  test("a chunk in gives at most one chunk out", () => {
    const events = [start(), text(0, "a"), text(0, "b"), ...end("end_turn")]
    expect(pass([bytesOf(events)])).toHaveLength(1)
    expect(pass(events.map((event) => bytesOf([event])))).toHaveLength(5)
  })
})

test("a ping becomes a comment, so that the client sees a heartbeat", () => {
  const received = pass([bytesOf([PING]), encode(": there\n\n"), bytesOf([start()])])
  expect(received.slice(0, 2).map((piece) => textOf([piece]))).toEqual([": ping\n\n", ": ping\n\n"])
})

test.each([["data: {half\n\n"], ["data: 7\n\n"], ["data: [DONE]\n\n"]])(
  "frames that are not events pass through unchanged: %j",
  (odd) => {
    expect(textOf(framesOf(pass([encode(odd)])))).toBe(odd)
  },
)

test("a stream without message_stop has no [DONE]", () => {
  const events = [start(), text(0, "Half")]
  expect(textOf(pass([bytesOf(events)]))).not.toContain("[DONE]")
  const halfAnEvent = encode('event: content_block_delta\ndata: {"type":"cont')
  const received = pass([bytesOf(events), halfAnEvent])
  expect(textOf(received)).toBe(textOf(pass([bytesOf(events)])))
})

test("the last event may lack its blank line", () => {
  const bytes = bytesOf([start(), ...end("end_turn")])
  expect(textOf(pass([bytes.slice(0, -2)]))).toBe(textOf(pass([bytes])))
})

test("everything after message_stop or an error is dropped", () => {
  const complete = [start(), ...end("end_turn")]
  const late = bytesOf([text(0, "late"), PING])
  expect(pass([bytesOf(complete), late])).toEqual(pass([bytesOf(complete)]))
  const failed = [start(), { type: "error", error: { type: "api_error", message: "m" } }]
  expect(pass([bytesOf(failed), late])).toEqual(pass([bytesOf(failed)]))
})

test("a stream that breaks off has reported the usage of its prompt", () => {
  const usages: Json[] = []
  pass([bytesOf([start(), text(0, "Half")])], (usage) => usages.push(usage))
  expect(usages).toMatchObject([{ prompt_tokens: 25 }])
})
