import * as fc from "fast-check"
import { expect, test } from "vitest"
import { newMeter } from "../../src/formats/chat/meter.ts"
import { chatReader } from "../../src/formats/readers/chat.ts"
import { dataOf, FrameSplitter, framesOf, parseData, toFrame } from "../../src/formats/sse/frames.ts"
import { EventRelay } from "../../src/inference/relay/event-relay.ts"
import type { StreamRelay } from "../../src/inference/relay/stream-relay.ts"
import { concat } from "../../src/support/bytes.ts"
import { runs } from "../support/runs.ts"

/** Keys of the provider, of which parts arrive in separate events of a stream. */

/** Few letters, so that parts of a key are frequent in other text. */
const letters = (constraints: fc.StringConstraints) =>
  fc.string({ unit: fc.constantFrom("a", "b", "c", "/", '"'), ...constraints })
const key = letters({ minLength: 12, maxLength: 40 }).filter((text) => !text.startsWith("{"))

type Field = "content" | "reasoning"
type Piece = { field: Field; text: string }
const field = fc.constantFrom<Field>("content", "content", "content", "reasoning")

/** Texts with parts and the whole of the key, cut into the pieces of a stream. */
const stream = key.chain((apiKey) => {
  const part = fc.tuple(fc.nat(apiKey.length), fc.nat(apiKey.length)).map((ends) => {
    const [from = 0, to] = ends.toSorted((a, b) => a - b)
    return apiKey.slice(from, to)
  })
  const text = fc.oneof(letters({ maxLength: 6 }), part, fc.constant(apiKey))
  const pieces = fc
    .tuple(
      fc.array(text, { maxLength: 8 }),
      fc.array(fc.nat(), { maxLength: 30 }),
      fc.array(field, { minLength: 31, maxLength: 31 }),
    )
    .map(([texts, cuts, fields]) => {
      const joined = texts.join("")
      const at = [0, ...cuts.map((cut) => cut % (joined.length + 1)).toSorted((a, b) => a - b), joined.length]
      return at.slice(1).map((end, index): Piece => ({
        field: fields[index] ?? "content",
        text: joined.slice(at[index], end),
      }))
    })
  return fc.record({ apiKey: fc.constant(apiKey), pieces })
})

/** The texts that a client receives, and the frames. `learns`: recognizes frames by their bytes. */
function relay(
  apiKey: string,
  pieces: readonly Piece[],
  { learns, escapesSlashes = false }: { learns: boolean; escapesSlashes?: boolean },
) {
  const meter = { ...newMeter(), transcript: { content: "", reasoning: "" } }
  const events = new EventRelay({
    head: { ok: true, items: [], rest: new Uint8Array(0), body: null },
    encoder: {
      isStateless: learns,
      chunk: (event: Record<string, unknown>, frame: Uint8Array | undefined) => [frame ?? toFrame(event)],
      open: () => [],
    },
    servingInfo: { reader: chatReader },
    provider: { apiKey },
    defaultsOf: () => ({ id: "up-1", model: "maker/model", created: 1, calls: [] }),
    meter,
  } as unknown as StreamRelay)
  events.open([])
  const frames = pieces.map(({ field: name, text }) => {
    const choices = [{ index: 0, delta: { [name]: text }, finish_reason: null }]
    const json = JSON.stringify({ id: "up-1", object: "chat.completion.chunk", created: 1, model: "m", choices })
    return new TextEncoder().encode(`data: ${escapesSlashes ? json.replaceAll("/", "\\/") : json}\n\n`)
  })
  const splitter = new FrameSplitter()
  const sent = frames.map((frame) => {
    splitter.each(frame, events)
    return events.takeOutput()
  })
  events.end()
  const texts = { content: "", reasoning: "" }
  for (const frame of framesOf(concat(sent))) {
    const [choice] = (parseData(dataOf(frame) ?? "")?.["choices"] ?? []) as { delta: Partial<Record<Field, string>> }[]
    for (const name of ["content", "reasoning"] as const) texts[name] += choice?.delta[name] ?? ""
  }
  return { texts, logged: meter.transcript }
}

test("a key that a stream divides between events is not sent or logged, however it is divided", () => {
  fc.assert(
    fc.property(stream, fc.boolean(), fc.boolean(), ({ apiKey, pieces }, learns, escapesSlashes) => {
      const { texts, logged } = relay(apiKey, pieces, { learns, escapesSlashes })
      for (const text of [...Object.values(texts), ...Object.values(logged)]) expect(text).not.toContain(apiKey)
    }),
    { numRuns: runs(5) },
  )
})

test("a stream is the same whether its frames are recognized by their bytes or parsed", () => {
  fc.assert(
    fc.property(stream, fc.boolean(), ({ apiKey, pieces }, escapesSlashes) => {
      const parsed = relay(apiKey, pieces, { learns: false, escapesSlashes })
      expect(relay(apiKey, pieces, { learns: true, escapesSlashes })).toEqual(parsed)
    }),
    { numRuns: runs(5) },
  )
})

test("text that contains no more than the start of a key is sent unchanged", () => {
  const apiKey = "sk-proj-0123456789abcdefghijklmnopqrstuv"
  const start = fc.nat(16).map((length) => apiKey.slice(0, length))
  const pieces = fc.array(fc.record({ field, text: fc.oneof(start, fc.string({ maxLength: 5 })) }), { maxLength: 20 })
  fc.assert(
    fc.property(pieces, fc.boolean(), (all, learns) => {
      const joined = { content: "", reasoning: "" }
      for (const { field: name, text } of all) joined[name] += text
      const isInside = Object.values(joined).some((text) => text.includes(apiKey.slice(0, 17)))
      fc.pre(!isInside)
      expect(relay(apiKey, all, { learns }).texts).toEqual(joined)
    }),
    { numRuns: runs(3) },
  )
})

test("at most sixteen characters of a divided key are sent", () => {
  const apiKey = "sk-proj-0123456789abcdefghijklmnopqrstuv"
  fc.assert(
    fc.property(fc.array(fc.nat(apiKey.length), { minLength: 1, maxLength: 40 }), fc.boolean(), (cuts, learns) => {
      const at = [0, ...cuts.toSorted((a, b) => a - b), apiKey.length]
      const pieces = at.slice(1).map((end, index): Piece => ({ field: "content", text: apiKey.slice(at[index], end) }))
      const { content } = relay(apiKey, pieces, { learns }).texts
      expect(content).toBe(`${apiKey.slice(0, 16)}[redacted]`)
    }),
    { numRuns: runs(1) },
  )
})
