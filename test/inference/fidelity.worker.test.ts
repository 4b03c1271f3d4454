import * as fc from "fast-check"
import { afterEach, beforeEach, expect, test } from "vitest"
import { mockProvider, sse } from "../support/mock-provider.ts"
import { runs } from "../support/runs.ts"
import { newWorkspace, openHolds, type Workspace } from "../support/world.ts"

/**
 * A chat stream that strict clients accept, under the gateway's name of the model, reaches the client byte for byte,
 * however the network cut it, unknown fields included. The gateway changes only the cost in the usage and the `[DONE]`.
 */
const STREAMS = runs(8)
const AT_ONCE = 50

const encoder = new TextEncoder()
const HEAD = { id: "up-1", object: "chat.completion.chunk", created: 1, model: "played/m90" }

const json = fc.jsonValue({ maxDepth: 2 })
const unknownFields = fc.dictionary(fc.stringMatching(/^x_[a-z]{1,8}$/), json, { maxKeys: 2 })
const graphemes = fc.string({ unit: "grapheme", maxLength: 20 })

const chunkOf = (choices: unknown[], more: object) => ({ ...HEAD, choices, ...more })
const contentChunks = fc
  .record({ graphemes, more: unknownFields, inDelta: unknownFields })
  .map(({ graphemes: content, more, inDelta }) =>
    chunkOf([{ index: 0, delta: { content, ...inDelta }, finish_reason: null }], more),
  )
const reasoned = graphemes.map((reasoning) => chunkOf([{ index: 0, delta: { reasoning }, finish_reason: null }], {}))
const toolCall = (call: object) =>
  chunkOf([{ index: 0, delta: { tool_calls: [{ index: 0, ...call }] }, finish_reason: null }], {})
const called = fc
  .tuple(fc.stringMatching(/^[a-z]{1,8}$/), fc.array(graphemes, { minLength: 1, maxLength: 3 }))
  .map(([name, [first, ...more]]) => [
    toolCall({ id: "c", type: "function", function: { name, arguments: first } }),
    // A call without arguments would get some.
    ...[...more, "}"].map((args) => toolCall({ function: { arguments: args } })),
  ])
const usage = fc.nat(99).map((prompt_tokens) =>
  chunkOf([], {
    usage: { prompt_tokens, completion_tokens: 3, total_tokens: prompt_tokens + 3, x_vendor: { a: null } },
  }),
)
const chunks = fc
  .tuple(fc.array(fc.oneof(contentChunks, reasoned), { minLength: 1, maxLength: 6 }), fc.option(called), usage)
  .map(([texts, calls, counted]) => [
    chunkOf([{ index: 0, delta: { role: "assistant", content: "" }, finish_reason: null }], {}),
    chunkOf([{ index: 0, delta: { content: "!" }, finish_reason: null }], {}),
    ...texts,
    ...(calls ?? []),
    chunkOf([{ index: 0, delta: {}, finish_reason: calls ? "tool_calls" : "stop" }], { x_end: true }),
    counted,
  ])

/** The ways in which servers write an event, and what they send between events. */
const style = fc.record({
  space: fc.boolean(),
  isPretty: fc.boolean(),
  further: fc.constantFrom<string[]>([], ["event: message"], ["id: 7"], ["retry: 100"], [": inside"], ["x-unknown: y"]),
  between: fc.constantFrom<string[]>([], [], [], [": a comment"], [":"], [": é 漢 🎈"]),
})
const ending = fc.constantFrom("\n", "\r\n", "\r")

const stream = fc
  .record({
    chunks,
    styles: fc.array(style, { minLength: 1, maxLength: 4 }),
    ending,
    cuts: fc.array(fc.nat(10_000), { maxLength: 12 }),
  })
  .map(({ chunks: given, styles, ending: end, cuts }) => {
    const events = given.map((chunk, index) => {
      const { space, isPretty, further, between } = styles[index % styles.length] as (typeof styles)[number]
      const lines = JSON.stringify(chunk, null, isPretty ? 1 : 0).split("\n")
      const data = lines.map((line) => `data:${space ? " " : ""}${line}`)
      const comment = between.length > 0 ? between.join(end) + end + end : ""
      return { comment, frame: [...further, ...data].join(end) + end + end }
    })
    const frames = events.map(({ comment, frame }) => comment + frame)
    const beforeUsage = frames.slice(0, -1).join("") + (events.at(-1)?.comment ?? "")
    const sent = encoder.encode(`${frames.join("")}data: [DONE]${end}${end}`)
    const places = [...new Set(cuts.map((cut) => cut % sent.byteLength))].toSorted((a, b) => a - b)
    const pieces = [0, ...places].map((position, index) => sent.slice(position, places[index] ?? sent.byteLength))
    return { beforeUsage, usage: given.at(-1), pieces: pieces.filter(({ byteLength }) => byteLength > 0) }
  })

let provider: ReturnType<typeof mockProvider>
let served: Uint8Array[][]
beforeEach(() => {
  served = []
  provider = mockProvider(({ body }) => sse(served[body["x_stream"] as number] ?? []))
})
afterEach(() => provider.stop())

async function pass(workspace: Workspace, index: number, headers: Record<string, string>): Promise<Uint8Array> {
  const body = { model: "played/m90", messages: [{ role: "user", content: "Hi" }], stream: true, x_stream: index }
  const response = await workspace.as.post("/chat/completions", body, headers)
  expect(response.status).toBe(200)
  return new Uint8Array(await response.arrayBuffer())
}

/** The text before the last events of a stream, and these events. */
function splitLast(bytes: Uint8Array, events: number): { before: string; last: string[] } {
  // A slow machine may receive heartbeats of the gateway.
  let before = new TextDecoder("utf-8", { ignoreBOM: true, fatal: false })
    .decode(bytes)
    .replaceAll(": keepalive\n\n", "")
  const last: string[] = []
  for (let event = 0; event < events; event++) {
    const start = Math.max(before.lastIndexOf("data:"), 0)
    last.unshift(before.slice(start + "data:".length).trim())
    before = before.slice(0, start)
  }
  return { before, last }
}

test.each([
  ["followed by routing metadata", { "x-service-metadata": "enabled" }, 3],
  ["alone", {}, 2],
])("random streams reach the client byte for byte, %s", async (_, headers, added) => {
  const workspace = await newWorkspace(10_000)
  const streams = fc.sample(stream, STREAMS)
  for (let at = 0; at < streams.length; at += AT_ONCE) {
    const batch = streams.slice(at, at + AT_ONCE)
    served = batch.map(({ pieces }) => pieces)
    const received = await Promise.all(batch.map((_one, index) => pass(workspace, index, headers)))
    for (const [index, bytes] of received.entries()) {
      const { before, last } = splitLast(bytes, added)
      expect(before).toBe(batch[index]?.beforeUsage)
      expect(JSON.parse(last[0] ?? "")).toMatchObject({ usage: { cost: expect.any(Number), is_byok: false } })
      const { usage } = JSON.parse(JSON.stringify(batch[index]?.usage)) as { usage: object }
      expect((JSON.parse(last[0] ?? "") as { usage: object }).usage).toMatchObject(usage)
    }
    provider.upstreamCalls.length = 0
  }
  expect(await openHolds(workspace)).toEqual([])
})
