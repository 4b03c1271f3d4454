import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { concat } from "../../../src/support/bytes.ts"
import { reencodeStream, EventStreamDecoder } from "../../../src/formats/converse/event-stream.ts"
import { eventStreamFrame, frameWith } from "../../support/event-stream.ts"
import { runs } from "../../support/runs.ts"

const headers = fc.dictionary(
  fc.string({ minLength: 1, maxLength: 20 }).filter((name) => Buffer.byteLength(name) < 256 && name !== "__proto__"),
  fc.string({ maxLength: 40, unit: "binary" }),
  { maxKeys: 4, noNullPrototype: true },
)
const payload = fc.uint8Array({ maxLength: 80 })
const messages = fc.array(fc.record({ headers, payload }), { minLength: 1, maxLength: 4 })
type Message = { headers: Record<string, string>; payload: Uint8Array }

const encoded = (sent: readonly Message[]) => concat(sent.map((one) => eventStreamFrame(one.headers, one.payload)))
const decoded = (received: ReturnType<EventStreamDecoder["push"]>) =>
  received.map((one) => ({ headers: Object.fromEntries(one.headers), payload: [...one.payload] }))
const asSent = (sent: readonly Message[]) => sent.map((one) => ({ headers: one.headers, payload: [...one.payload] }))

describe("binary event streams", () => {
  test("decode to the same messages wherever the bytes are split", () => {
    fc.assert(
      fc.property(messages, (sent) => {
        const bytes = encoded(sent)
        for (let at = 0; at <= bytes.byteLength; at += 1) {
          const decoder = new EventStreamDecoder()
          const received = [...decoder.push(bytes.slice(0, at)), ...decoder.push(bytes.slice(at))]
          decoder.finish()
          expect(decoded(received)).toEqual(asSent(sent))
        }
      }),
      { numRuns: runs(1) },
    )
  })

  test("decode to the same messages byte by byte", () => {
    fc.assert(
      fc.property(messages, (sent) => {
        const decoder = new EventStreamDecoder()
        const received = [...encoded(sent)].flatMap((byte) => decoder.push(Uint8Array.of(byte)))
        expect(decoded(received)).toEqual(asSent(sent))
      }),
      { numRuns: runs(1) },
    )
  })

  test("reject a frame with one flipped bit by its checksum", () => {
    fc.assert(
      fc.property(messages, fc.nat(), fc.integer({ min: 0, max: 7 }), (sent, position, bit) => {
        const bytes = encoded(sent)
        const at = position % bytes.byteLength
        bytes[at] = (bytes[at] ?? 0) ^ (1 << bit)
        const decoder = new EventStreamDecoder()
        expect(() => {
          decoder.push(bytes)
          decoder.finish()
        }).toThrow(/checksum/)
      }),
      { numRuns: runs(4) },
    )
  })

  test("that end inside a frame are an error at every byte offset", () => {
    const bytes = eventStreamFrame({ ":event-type": "messageStart" }, Buffer.from("{}"))
    for (let at = 1; at < bytes.byteLength; at += 1) {
      const decoder = new EventStreamDecoder()
      expect(decoder.push(bytes.slice(0, at))).toEqual([])
      expect(() => decoder.finish()).toThrow(/ended inside a frame/)
    }
  })

  test("skip headers of types other than string", () => {
    const named = (name: string, type: number, value: readonly number[]) => [
      name.length,
      ...Buffer.from(name),
      type,
      ...value,
    ]
    const mixed = Uint8Array.from([
      ...named("t", 0, []),
      ...named("f", 1, []),
      ...named("b", 2, [1]),
      ...named("s", 3, [0, 1]),
      ...named("i", 4, [0, 0, 0, 1]),
      ...named("l", 5, [0, 0, 0, 0, 0, 0, 0, 1]),
      ...named("x", 6, [0, 2, 9, 9]),
      ...named("k", 7, [0, 1, 65]),
      ...named("d", 8, [0, 0, 0, 0, 0, 0, 0, 1]),
      ...named("u", 9, Array<number>(16).fill(1)),
    ])
    const [message] = new EventStreamDecoder().push(frameWith(mixed, new Uint8Array(0)))
    expect([...(message?.headers ?? [])]).toEqual([["k", "A"]])
  })

  test("with impossible lengths are rejected before memory is allocated", () => {
    const huge = Buffer.from(eventStreamFrame({}, new Uint8Array(0)))
    huge.writeUInt32BE(0xff_ff_ff_ff, 0)
    expect(() => new EventStreamDecoder().push(huge)).toThrow(/checksum/)
    const small = frameWith(new Uint8Array(0), new Uint8Array(17 * 1024 * 1024))
    expect(() => new EventStreamDecoder().push(small.slice(0, 12))).toThrow(/invalid/)
  })

  test("with a broken frame cancel the provider's response body", async () => {
    const frame = eventStreamFrame({ ":event-type": "x" }, Buffer.from("{}"))
    const broken = frame.with(frame.byteLength - 1, (frame.at(-1) ?? 0) ^ 1)
    let isCancelled = false
    const source = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(concat([frame, broken])),
      cancel: () => void (isCancelled = true),
    })
    const reader = reencodeStream(source, () => Uint8Array.of(1)).getReader()
    await expect(reader.read()).rejects.toThrow(/checksum/)
    expect(isCancelled).toBe(true)
  })
})
