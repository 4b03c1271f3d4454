import * as fc from "fast-check"
import { expect, test } from "vitest"
import { newMeter, type ResponseMeter } from "../../src/formats/chat/meter.ts"
import type { ResponseEncoder } from "../../src/formats/encoder.ts"
import { chatReader } from "../../src/formats/readers/chat.ts"
import { dataOf, FrameSplitter, framesOf, parseData, toFrame } from "../../src/formats/sse/frames.ts"
import { toAppliedGuardrails } from "../../src/guardrails/applied.ts"
import type { Screening } from "../../src/guardrails/screening.ts"
import { screeningOf } from "../../src/guardrails/create-screening.ts"
import { EventRelay } from "../../src/inference/relay/event-relay.ts"
import type { StreamRelay } from "../../src/inference/relay/stream-relay.ts"
import { concat } from "../../src/support/bytes.ts"
import type { Json } from "../../src/support/text/json.ts"
import { runs } from "../support/runs.ts"
import { PLAIN_CALL } from "../support/screening.ts"

/** A relay that recognizes frames by their bytes sends and meters the same as one that parses each frame. */

const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: "grapheme", maxLength: 8 }),
  fc.constantFrom("", '"', "\\", "\n", "\u0000", "\u2028", "𝄞", 'a","b":"', "data: x\n\n", "�", "\ud800"),
)
const delta = fc.oneof(
  { weight: 6, arbitrary: text.map((content) => ({ content })) },
  { weight: 2, arbitrary: text.map((reasoning) => ({ reasoning })) },
  {
    weight: 2,
    arbitrary: text.map((reasoning_content) => ({ content: null, reasoning_content, role: "assistant" })),
  },
  {
    weight: 1,
    arbitrary: text.map((one) => ({ reasoning: one, reasoning_details: [{ type: "reasoning.text", text: one }] })),
  },
  {
    weight: 1,
    arbitrary: text.map((args) => ({ tool_calls: [{ index: 0, id: "c", function: { name: "f", arguments: args } }] })),
  },
  { weight: 1, arbitrary: fc.constant({ role: "assistant", content: "" }) },
)
const more = fc.constantFrom<Json>({}, {}, { usage: null }, { obfuscation: "ab" }, { obfuscation: "" }, { id: "other" })
const chunk = fc
  .record({ delta, more, index: fc.constantFrom(0, 0, 0, 1) })
  .map(({ delta: one, more: rest, index }) => ({
    id: "up-1",
    object: "chat.completion.chunk",
    created: 1,
    choices: [{ index, delta: one, finish_reason: null }],
    ...rest,
  }))

const style = fc.record({
  model: fc.constantFrom("vendor-model", "maker/model"),
  write: fc.constantFrom<(json: string) => string>(
    (json) => `data: ${json}\n\n`,
    (json) => `data:${json}\n\n`,
    (json) => `data: ${json}\r\n\r\n`,
    (json) => `event: message\ndata: ${json}\n\n`,
    // Python's serializer: a space after colons, and only ASCII.
    (json) => `data: ${json.replaceAll('":', '": ').replace(/[^\u0020-\u007e]/g, toEscape)}\n\n`,
  ),
})
const toEscape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`

function encoderOf(isStateless: boolean): ResponseEncoder {
  const none = () => []
  return {
    isStateless,
    chunk: (event, frame) => [frame ?? toFrame(event)],
    open: none,
    heartbeat: none,
    failure: none,
    end: none,
    document: (result) => result,
  }
}

type Relayed = {
  sent: (Json | undefined)[]
  meter: ResponseMeter
  transcript: ResponseMeter["transcript"] | undefined
  isBlocked: boolean
  /** What the guardrails found. */
  stages: readonly unknown[] | undefined
}

let recognized = 0

/** `screens`: with guardrails; then the text after them is kept. */
function relay(pieces: readonly Uint8Array[], learns: boolean, keepsText: boolean, screens?: Screening): Relayed {
  const transcript = () => (keepsText ? { content: "", reasoning: "" } : null)
  const meter: ResponseMeter = { ...newMeter(), transcript: screens ? null : transcript() }
  const filtered: ResponseMeter | undefined =
    screens && keepsText ? { ...newMeter(), transcript: transcript() } : undefined
  const relayed = {
    head: { ok: true, items: [], rest: new Uint8Array(0), body: null },
    encoder: encoderOf(learns),
    servingInfo: { reader: chatReader },
    provider: {},
    defaultsOf: () => ({ id: meter.id ?? "gen-1", model: "maker/model", created: 1, calls: [] }),
    meter,
    filter: screens?.responseFilter(),
    filtered,
  } as unknown as StreamRelay
  const events = new EventRelay(relayed)
  meter.id = "up-1"
  events.open([])
  const splitter = new FrameSplitter()
  const sent = pieces.map((piece) => {
    const take = (bytes: Uint8Array, at: number) => {
      const end = events.take(bytes, at)
      if (end > at) recognized += 1
      return end
    }
    splitter.each(piece, { take, onFrame: events.onFrame })
    return events.takeOutput()
  })
  events.end()
  // The same text may be escaped in another way.
  const frames = framesOf(concat([...sent, events.takeOutput()]))
  const isBlocked = events.stopReason === "blocked"
  return {
    sent: frames.map((frame) => parseData(dataOf(frame) ?? "")),
    meter,
    transcript: filtered?.transcript,
    isBlocked,
    stages: screens?.stages(),
  }
}

test("frames recognized by their bytes are sent and metered like parsed ones", () => {
  const stream = fc.record({
    chunks: fc.array(chunk, { minLength: 2, maxLength: 30, size: "max" }),
    style,
    cuts: fc.array(fc.nat(5_000), { maxLength: 10 }),
    isText: fc.boolean(),
  })
  fc.assert(
    fc.property(stream, ({ chunks, style: { model, write }, cuts, isText }) => {
      const frames = chunks.map((one) => write(JSON.stringify({ model, ...one })))
      const bytes = new TextEncoder().encode(frames.join(""))
      const at = [0, ...cuts.map((cut) => cut % bytes.byteLength).toSorted((a, b) => a - b), bytes.byteLength]
      const pieces = at.slice(1).map((end, index) => bytes.slice(at[index], end))
      expect(relay(pieces, true, isText)).toEqual(relay([bytes], false, isText))
    }),
    { numRuns: runs(4) },
  )
})

const RULES = JSON.stringify({
  content_filters: [
    { action: "redact", pattern: "CANARY-\\d{4}", label: "project" },
    { action: "block", pattern: "STOP-\\d{3}" },
    { action: "flag", pattern: "note" },
  ],
  content_filter_builtins: ["email", "secrets", "phone", "person-name"].map((slug) => ({ slug, action: "redact" })),
})

function screening(): Screening {
  const row = { id: "g", name: "Rail", isDefault: false, limitNano: null, resetInterval: null, rules: RULES }
  const applied = { ...row, includeByokInBudgets: false, byKey: true, byMember: false, keyHash: "k", userId: null }
  const created = screeningOf(toAppliedGuardrails([applied]), { ...PLAIN_CALL, wantsMetadata: true })
  if (!created) throw new Error("no content rules")
  return created
}

const matching = fc.constantFrom(
  "Mr. ",
  "John",
  " Smith",
  " de la ",
  "ann.exam",
  "ple@exam",
  "ple.com",
  " ann@example.com",
  "CANARY",
  "-47",
  "11",
  " CANARY-4711 ",
  "note",
  " word",
  "token=ghp_",
  "a1B2".repeat(9),
  "+49 30 ",
  "901820 ",
  "STOP",
  "-1",
  "23",
  "\u200b",
  "𝄞",
  " ",
  "\n",
  "é",
)
const filteredDelta = fc.oneof(
  { weight: 8, arbitrary: matching.map((content) => ({ content })) },
  { weight: 3, arbitrary: matching.map((content) => ({ role: "assistant", content })) },
  { weight: 3, arbitrary: matching.map((reasoning) => ({ content: "", reasoning })) },
  { weight: 3, arbitrary: matching.map((reasoning) => ({ content: null, reasoning_content: reasoning })) },
  { weight: 1, arbitrary: matching.map((refusal) => ({ refusal })) },
  { weight: 2, arbitrary: delta },
)
const filteredMore = fc.oneof(
  { weight: 4, arbitrary: more },
  { weight: 1, arbitrary: fc.constantFrom<Json>({ created: 2 }, { note: "CANARY-4711" }, { extra: [1, null] }) },
)

test("frames recognized by their bytes pass the guardrails like parsed ones", () => {
  const stream = fc.record({
    runs: fc.array(
      fc.record({
        // A provider keeps to one kind of delta for some time.
        deltas: fc.oneof(
          fc.array(
            matching.map((content): Json => ({ content })),
            { maxLength: 8 },
          ),
          fc.array(
            matching.map((content): Json => ({ role: "assistant", content })),
            { maxLength: 8 },
          ),
          fc.array(
            matching.map((reasoning): Json => ({ reasoning_content: reasoning })),
            { maxLength: 8 },
          ),
          fc.array(
            filteredDelta.map((one): Json => one),
            { maxLength: 3 },
          ),
        ),
        rest: filteredMore,
        index: fc.constantFrom(0, 0, 0, 0, 1),
      }),
      { minLength: 1, maxLength: 6 },
    ),
    style,
    isText: fc.boolean(),
    finishes: fc.boolean(),
  })
  let [frameCount, redacted] = [0, 0]
  recognized = 0
  fc.assert(
    fc.property(stream, ({ runs: parts, style: { model, write }, isText, finishes }) => {
      const names = { id: "up-1", object: "chat.completion.chunk", created: 1, model }
      const chunks = parts.flatMap(({ deltas, rest, index }) =>
        deltas.map((one) => ({ ...names, choices: [{ index, delta: one, finish_reason: null }], ...rest })),
      )
      const last = { ...names, choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }
      const frames = [...chunks, ...(finishes ? [last] : [])].map((one) => write(JSON.stringify(one)))
      const bytes = new TextEncoder().encode(frames.join(""))
      const parsed = relay([bytes], false, isText, screening())
      expect(relay([bytes], true, isText, screening())).toEqual(parsed)
      frameCount += chunks.length
      redacted += JSON.stringify(parsed.sent).includes("[") ? 1 : 0
    }),
    { numRuns: runs(10) },
  )
  expect(recognized).toBeGreaterThan(frameCount / 3)
  expect(redacted).toBeGreaterThan(0)
})

test("a frame with invalid JSON inside its text is not recognized", () => {
  const frame = (content: string) =>
    `data: {"id":"up-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"${content}"},"finish_reason":null}]}\n\n`
  const bytes = (...frames: string[]) => [new TextEncoder().encode(frames.join(""))]
  const good = [frame("one"), frame("two")]
  for (const odd of ["a\\x", "a\\u12", "tab\there"]) {
    const { sent, meter } = relay(bytes(...good, frame(odd), frame("late")), true, false)
    expect(sent).toHaveLength(2)
    expect(meter.units).toBe(6)
  }
})
